"""A sketch of a power series: low degrees exact, the others in one shared sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from .._registry import storable
from ..ops.convolution import largest_prime_factor
from ..ops.norms import unit_rows
from ..ops.products import dense
from .count_sketch import CountSketch
from .poly_sketch import PolyChain

#: The largest prime factor of a length that transforms are fast for.
LARGEST_FACTOR = 11


@storable
class SeriesSketch:
    r"""Columns whose inner products are :math:`\sum_j c_j \langle x, y \rangle^j` on average.

    The constant and, where they fit into half of the columns, the linear terms are columns of
    their own, without error. All higher degrees share the rest:
    :math:`\sum_{j \ge 2} \sqrt{c_j}\, \xi_j \circ T_j(x)` with sketches T of the tensor
    powers and independent random signs :math:`\xi_j`, which make mixed terms vanish on average.

    Parameters
    ----------
    stream : Stream
        Where the sketches come from.
    n_features, size : int
        Columns of the input and of the result.
    coefficients : array of shape (degree + 1,)
        c₀, c₁, ..., none negative.
    node : {"tensor", "srht", "srht-complex"}, default="tensor"
        The sketch of two factors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import SeriesSketch
    >>> sketch = SeriesSketch(Stream(0), 3, 64, np.asarray([1.0, 2.0, 1.0]))
    >>> sketch.sketch(np.eye(3), np).shape
    (3, 64)
    """

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        size: int,
        coefficients: np.ndarray,
        node: str = "tensor",
    ) -> None:
        roots = np.sqrt(np.asarray(coefficients, dtype=float))
        degree = int(np.flatnonzero(roots)[-1]) if roots.any() else 0
        self.size, self._roots = size, roots
        # Of very few columns none is spared for the constant; it joins the sum.
        self._constant = int(roots[0] > 0 and size > 3)
        linear = degree >= 1 and roots[1] > 0
        room = size // 2 if degree > 1 else size
        self._exact = bool(linear and n_features + int(roots[0] > 0) <= room)
        self._rest = size - self._constant - (n_features if self._exact else 0)
        # Transforms want a length of small prime factors; a few columns stay empty for it.
        self._length = self._rest
        while degree >= 2 and largest_prime_factor(self._length) > LARGEST_FACTOR:
            self._length -= 1
        self._first = None
        if roots[0] > 0 and not self._constant:
            signs = _signs(stream.child("constant"), self._length)
            self._first = frozen(signs * roots[0] * self._length**-0.5)
        self._linear = None
        if linear and not self._exact:
            self._linear = CountSketch(stream.child("linear"), n_features, self._length)
        self._chain = None
        self._signs: list[np.ndarray] = []
        if degree >= 2:
            self._chain = PolyChain(stream.child("powers"), n_features, self._length, degree, node)
            draw = stream.child("signs")
            self._signs = [
                frozen(_signs(draw.child(j), self._length) * roots[j]) for j in range(2, degree + 1)
            ]
        #: Numbers that the sketch holds for each row while it works.
        self.scratch = 6 * size

    def sketch(self, X: Any, xp: Any) -> Any:
        """Return the sketch of a block of rows, dense or CSR."""
        parts = []
        if self._constant:
            rows = dense(X[:, :1])
            parts.append(xp.full_like(rows, float(self._roots[0])))
        if self._exact:
            parts.append(dense(X) * float(self._roots[1]))
        total = None
        if self._linear is not None:
            total = self._linear.sketch(X, xp) * float(self._roots[1])
        if self._first is not None:
            rows = dense(X[:, :1])
            first = xp.zeros_like(rows) + like(X, self._first)
            total = first if total is None else total + first
        if self._chain is not None:
            total = self._chain.weighted_sum(X, self._signs, xp, total)
        if total is not None:
            parts.append(total)
        empty = self.size - sum(part.shape[1] for part in parts)
        if empty:
            # All columns, where every coefficient is 0.
            like_them = dense(X[:, :1])
            shape = (X.shape[0], empty)
            parts.append(xp.zeros(shape, dtype=like_them.dtype, device=like_them.device))
        return xp.concat(parts, axis=1)

    def sketch_by_angle(self, X: Any, xp: Any) -> Any:
        """Return the sketch of the norms times the series of the cosine."""
        unit, norms = unit_rows(X, xp)
        return self.sketch(unit, xp) * norms[:, None]


def _signs(stream: Stream, size: int) -> np.ndarray:
    stream.reserve(size)
    return stream.generator().choice([-1.0, 1.0], size)
