"""A sketch of a power series: low degrees exact, the others in one shared sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from .._registry import storable
from ..ops.columns import join, join_times
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
    powers : SeriesSketch, default=None
        Another sketch of the same rows to share the powers with, for :func:`terms_together`.
        A column of the one is then not independent of the same column of the other.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import SeriesSketch
    >>> sketch = SeriesSketch(Stream(0), 3, 64, np.asarray([1.0, 2.0, 1.0]))
    >>> sketch.sketch(np.eye(3), np).shape
    (3, 64)
    """

    size: int

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        size: int,
        coefficients: np.ndarray,
        node: str = "tensor",
        powers: SeriesSketch | None = None,
    ) -> None:
        roots = np.sqrt(np.asarray(coefficients, dtype=float))
        degree = int(np.flatnonzero(roots)[-1]) if roots.any() else 0
        self.n_features, self.size, self._roots = n_features, size, roots
        # Of very few columns none is spared for the constant; it joins the sum.
        self._constant = int(roots[0] > 0 and size > 3)
        linear = degree >= 1 and roots[1] > 0
        room = size // 2 if degree > 1 else size
        self._exact = bool(linear and n_features + int(roots[0] > 0) <= room)
        self._rest = size - self._constant - (n_features if self._exact else 0)
        #: Columns of the sum of all powers. Transforms want a length of small prime factors; a few
        #: columns stay empty for it.
        self.length: int = self._rest
        while degree >= 2 and largest_prime_factor(self.length) > LARGEST_FACTOR:
            self.length -= 1
        self._first = None
        if roots[0] > 0 and not self._constant:
            signs = _signs(stream.child("constant"), self.length)
            self._first = frozen(signs * roots[0] * self.length**-0.5)
        self._linear = None
        if linear and not self._exact:
            self._linear = CountSketch(stream.child("linear"), n_features, self.length)
        #: Sketches of the powers from the second on, and what every column of each is worth.
        self.chain: PolyChain | None = None
        self.weights: list[np.ndarray] = []
        if degree >= 2:
            self.chain = self._own_chain(stream, n_features, degree, node, powers)
            draw = stream.child("signs")
            self.weights = [
                frozen(_signs(draw.child(j), self.length) * roots[j]) for j in range(2, degree + 1)
            ]
        #: Numbers that the sketch holds for each row while it works.
        self.scratch: int = 6 * size

    def _own_chain(
        self, stream: Stream, n_features: int, degree: int, node: str, other: SeriesSketch | None
    ) -> PolyChain:
        """Return the chain of another sketch if it goes as far and is as long, or a new one."""
        chain = None if other is None or other.length != self.length else other.chain
        if chain is not None and chain.degree >= degree:
            return chain
        return PolyChain(stream.child("powers"), n_features, self.length, degree, node)

    def sketch(self, X: Any, xp: Any) -> Any:
        """Return the sketch of a block of rows, dense or CSR."""
        return join(terms_together([self], X, xp)[0], xp)

    def low_terms(self, X: Any, xp: Any) -> Any:
        """Return the terms of degree 0 and 1 that share columns with the powers, if there are."""
        total = None
        if self._linear is not None:
            total = self._linear.sketch(X, xp) * float(self._roots[1])
        if self._first is not None:
            rows = dense(X[:, :1])
            first = xp.zeros_like(rows) + like(X, self._first)
            total = first if total is None else total + first
        return total

    def all_terms(self, X: Any, total: Any, xp: Any) -> list[Any]:
        """Return the columns without error, the sum of all other terms, and columns of zeros."""
        parts = []
        if self._constant:
            parts.append(xp.full_like(dense(X[:, :1]), float(self._roots[0])))
        if self._exact:
            parts.append(dense(X) * float(self._roots[1]))
        if total is not None:
            parts.append(total)
        empty = self.size - sum(part.shape[1] for part in parts)
        if empty:
            # All columns, where every coefficient is 0.
            like_them = dense(X[:, :1])
            shape = (X.shape[0], empty)
            parts.append(xp.zeros(shape, dtype=like_them.dtype, device=like_them.device))
        return parts

    def powers_in(self, out: Any) -> Any:
        """Return the columns of the sum of all powers in rows of the sketch, if there are any."""
        start = self._constant + (self.n_features if self._exact else 0)
        return None if out is None else out[:, start : start + self.length]

    def sketch_by_angle(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the sketch of the norms times the series of the cosine, in ``out`` if given."""
        unit, norms = unit_rows(X, xp)
        return join_times(terms_together([self], unit, xp, [out])[0], norms, xp, out)


def terms_together(
    series: Sequence[SeriesSketch], X: Any, xp: Any, outs: Sequence[Any] | None = None
) -> list[list[Any]]:
    """Return the groups of columns of several series; powers that they share are taken once.

    Where ``outs`` has rows of the size of a series, fused kernels put the largest group there.

    Examples
    --------
    >>> first = SeriesSketch(Stream(0), 3, 16, np.asarray([1.0, 1.0, 1.0]))
    >>> second = SeriesSketch(Stream(1), 3, 16, np.asarray([1.0, 2.0, 3.0]), powers=first)
    >>> terms = terms_together([first, second], np.ones((2, 3)), np)
    >>> [[term.shape[1] for term in own] for own in terms]
    [[1, 3, 12], [1, 3, 12]]
    """
    totals = [one.low_terms(X, xp) for one in series]
    outs = [None] * len(series) if outs is None else outs
    places = [one.powers_in(out) for one, out in zip(series, outs, strict=True)]
    chains = {id(one.chain): one.chain for one in series if one.chain is not None}
    for key, chain in chains.items():
        own = [k for k, one in enumerate(series) if id(one.chain) == key]
        weights = [series[k].weights for k in own]
        sums = chain.weighted_sums(
            X, weights, xp, [totals[k] for k in own], [places[k] for k in own]
        )
        for k, total in zip(own, sums, strict=True):
            totals[k] = total
    return [one.all_terms(X, total, xp) for one, total in zip(series, totals, strict=True)]


def _signs(stream: Stream, size: int) -> np.ndarray:
    stream.reserve(size)
    return stream.generator().choice([-1.0, 1.0], size)
