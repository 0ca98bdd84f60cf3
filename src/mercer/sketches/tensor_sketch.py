"""TensorSketch: a CountSketch of the tensor product of rows, by Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import is_sparse, like
from .._devices import has_fused_kernels
from .._random import Stream
from .._registry import storable
from ..ops.convolution import SLOW_FACTOR, convolved, largest_prime_factor
from ..ops.count_sketch import count_sketch
from ..ops.products import product
from .count_sketch import CountSketch

#: Columns up to which a product with a matrix gives spectra faster than a transform.
NARROW = 128


@storable
class TensorSketch:
    r"""A sketch of :math:`x^{(1)} \otimes \dots \otimes x^{(p)}` to ``size`` columns.

    Its inner products are :math:`\prod_k \langle x^{(k)}, y^{(k)} \rangle` in expectation. It
    is the circular convolution of independent CountSketches of the factors [1]_, taken
    with real transforms, of any length. CSR rows with few entries are sketched product by
    product instead, which then takes fewer operations.

    Parameters
    ----------
    stream : Stream
        Where places and signs come from.
    widths : sequence of int
        Columns of every factor.
    size : int
        Columns of the sketch.
    keeps_places : bool, default=False
        Whether the columns of the first factor only change signs, as
        :class:`~mercer.sketches.CountSketch` explains: a step less. For a row with itself the
        variance is smaller, as equal entries of the other factors never meet; for two rows it is
        larger or smaller by a few percent.

    References
    ----------
    .. [1] N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature
       maps", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import TensorSketch
    >>> x = np.asarray([[1.0, 2.0], [3.0, 0.0]])
    >>> draws = [TensorSketch(Stream(k), (2, 2), 5).sketch([x, x], np) for k in range(2000)]
    >>> estimates = [Z[0] @ Z[1] for Z in draws]
    >>> bool(abs(np.mean(estimates) - 9.0) < 4 * np.std(estimates) / 2000**0.5)
    True
    """

    def __init__(
        self, stream: Stream, widths: Sequence[int], size: int, keeps_places: bool = False
    ) -> None:
        self.size = size
        self.factors: list[CountSketch] = [
            CountSketch(stream.child(k), d, size, keeps_places and k == 0)
            for k, d in enumerate(widths)
        ]

    def sketch(self, blocks: Sequence[Any], xp: Any, out: Any = None) -> Any:
        """Return the sketch of the tensor products of the rows of several blocks.

        That of one CSR block is written to ``out`` if it is given.
        """
        first = blocks[0]
        if is_sparse(first) and all(block is first for block in blocks):
            return self._of_sparse(first, xp, out)
        if self.in_pairs(first):
            from ..ops._cuda.convolution import add_pairs

            return add_pairs(self.sketch_pairs(*blocks))
        parts = (factor.sketch(X, xp) for factor, X in zip(self.factors, blocks, strict=True))
        return convolved(parts, self.size, xp)

    def in_pairs(self, X: Any) -> bool:
        """Return whether the sketch of two factors is computed two rows at a time."""
        fast = largest_prime_factor(self.size) <= SLOW_FACTOR
        return len(self.factors) == 2 and fast and has_fused_kernels(X)

    def first_signs(self, X: Any) -> Any:
        """Return the signs of the columns of the first factor, beside an array."""
        return like(X, self.factors[0].signs)

    def sketch_pairs(self, first: Any, second: Any) -> Any:
        """Return the sketch of two factors as pairs of rows.

        The first may be in pairs itself; if its columns keep their places, it is overwritten.
        """
        from ..ops._cuda.convolution import (
            RowPairs,
            convolved_pairs,
            gathered_pairs,
            paired_rows,
            signed_pairs,
        )

        one, two = self.factors
        if not (one.keeps_places and one.n_features == self.size):
            pairs = gathered_pairs(first, one.on_device(second), self.size)
        elif not isinstance(first, RowPairs):
            pairs = paired_rows(first, self.first_signs(second))
        else:
            pairs = first if first.signed else signed_pairs(first, self.first_signs(second))
        if two.n_features <= NARROW:
            return convolved_pairs(pairs, product(second, like(second, two.spectrum)))
        other = gathered_pairs(second, two.on_device(second), self.size)
        return convolved_pairs(pairs, other)

    def _of_sparse(self, X: Any, xp: Any, out: Any) -> np.ndarray:
        """Return the sketch of the powers of CSR rows: of short rows product by product."""
        from ..ops._jit import count_sketch as jit

        counts = np.diff(X.indptr)
        # Products of entries against the operations of the transforms.
        worth = self.size * max(1.0, math.log2(self.size)) * (len(self.factors) + 1)
        short = counts ** float(len(self.factors)) <= worth
        if out is None:
            out = np.empty((X.shape[0], self.size), dtype=X.dtype)
        room = int((counts[short] ** len(self.factors)).max(initial=1))
        places = np.stack([factor.places for factor in self.factors])
        signs = np.stack([like(X, factor.signs) for factor in self.factors])
        jit.sparse_tensor_rows(
            *(X.data, X.indices, X.indptr, np.flatnonzero(short), places, signs),
            *(np.empty(room, dtype=np.int64), np.empty(room, dtype=X.dtype), out),
        )
        if not short.all():
            rows = X[np.flatnonzero(~short)]
            parts = (count_sketch(rows, f.places, f.signs, self.size) for f in self.factors)
            out[~short] = convolved(parts, self.size, xp)
        return out
