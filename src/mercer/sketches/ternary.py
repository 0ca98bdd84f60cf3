"""Sparse ternary projections: entries -1, 0 and 1, products by additions only."""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from .._array import as_floating, floating_name, frozen, is_numpy, is_sparse, like
from .._random import Stream
from .._registry import storable
from ..ops.products import densified
from ..ops.ternary import (
    SignedLists,
    signed_lists,
    signed_matrix,
    ternary_codes,
    ternary_planes,
    ternary_product,
    transposed,
)
from ..ops.thresholds import Thresholds
from .projection import Projection

#: Random numbers that are drawn at once.
DRAWN = 2**20


@storable
class TernaryProjection(Projection):
    r"""A matrix of independent entries: 0 with probability ``sparsity``, else -1 or 1.

    The entries have variance :math:`1 - s` for sparsity s. A product takes
    :math:`(1 - s) n d m` additions and no multiplication. A larger projection of the same stream
    begins with the columns of the smaller one.

    Parameters
    ----------
    stream : Stream
        Where the entries come from.
    n_features, size : int
        The shape.
    sparsity : float, default=0.9
        The probability of a zero, at least 0 and below 1.

    Attributes
    ----------
    indices : int32 array
        For each column the rows that are 1, then the rows that are -1.
    offsets : int64 array of shape (2 size + 1,)
        Where in ``indices`` each of these lists begins.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import TernaryProjection
    >>> projection = TernaryProjection(Stream(0), n_features=1000, size=8, sparsity=0.9)
    >>> bool(abs(np.mean(projection.dense() == 0) - 0.9) < 0.02)
    True
    >>> projection.project(np.ones((2, 1000)), np).shape
    (2, 8)
    """

    sparsity: float
    indices: np.ndarray
    offsets: np.ndarray

    def __init__(self, stream: Stream, n_features: int, size: int, sparsity: float = 0.9) -> None:
        if not (isinstance(sparsity, Real) and 0 <= sparsity < 1):
            raise ValueError(f"sparsity must be at least 0 and below 1, got {sparsity!r}.")
        stream.reserve(n_features * size)
        generator = stream.generator()
        parts = []
        step = max(1, DRAWN // max(1, n_features))
        for start in range(0, size, step):
            # One number for each entry, column by column, so that columns do not depend on size.
            drawn = generator.random((min(step, size - start), n_features)).T
            positive = drawn >= (1 + sparsity) / 2
            negative = (drawn >= sparsity) & ~positive
            parts.append(signed_lists(positive.astype(np.int8) - negative.astype(np.int8)))
        self._keep(_joined(parts, n_features), sparsity)

    def _keep(self, lists: SignedLists, sparsity: float) -> None:
        self.n_features: int = lists.n_rows
        self.size: int = lists.n_columns
        self.sparsity = float(sparsity)
        self.indices, self.offsets = frozen(lists.indices), frozen(lists.offsets)

    @classmethod
    def from_matrix(cls, matrix: np.ndarray) -> TernaryProjection:
        """Return the projection with a given matrix of entries -1, 0 and 1.

        Parameters
        ----------
        matrix : array of shape (n_features, size)
            The entries.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.sketches import TernaryProjection
        >>> TernaryProjection.from_matrix([[1, 0], [-1, 1]]).project(np.eye(2), np)
        array([[ 1.,  0.],
               [-1.,  1.]])
        """
        matrix = np.asarray(matrix)
        if matrix.ndim != 2 or not np.isin(matrix, (-1, 0, 1)).all():
            raise ValueError("matrix must have two dimensions and entries -1, 0 and 1.")
        made = cls.__new__(cls)
        made._keep(signed_lists(matrix), 1 - np.count_nonzero(matrix) / max(1, matrix.size))
        return made

    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given (NumPy only)."""
        if not is_numpy(X):
            # Other libraries have no lists of rows in common; they are good at products.
            return X @ like(X, self.matrix)
        X, lists = self._prepared(X)
        out = np.empty((X.shape[0], self.size), dtype=X.dtype) if out is None else out
        return ternary_product(X, lists, out)

    def codes(self, X: Any, thresholds: Thresholds, out: np.ndarray) -> None:
        """Write what thresholds make of ``X @ W`` to an int8 array, for a block of NumPy or CSR."""
        X, lists = self._prepared(X)
        ternary_codes(X, lists, thresholds, out)

    def planes(self, X: Any, thresholds: Thresholds, planes: np.ndarray, first: int) -> None:
        """Write the bits that thresholds make of ``X @ W``, for a block of NumPy or CSR.

        ``planes`` has shape (n_planes, n_rows, n_words); its row ``first`` is the first of ``X``.
        """
        X, lists = self._prepared(X)
        ternary_planes(X, lists, thresholds, self.size, planes, first)

    def dense(self) -> np.ndarray:
        """Return the matrix in int8."""
        return signed_matrix(self._columns)

    @property
    def counts(self) -> np.ndarray:
        """How many entries of each column are not zero."""
        found: np.ndarray = np.diff(self.offsets[::2])
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the lists."""
        return self._columns.nbytes

    @cached_property
    def matrix(self) -> np.ndarray:
        """The matrix in float64, of shape (n_features, size)."""
        return frozen(self.dense().astype(float))

    def _prepared(self, X: Any) -> tuple[Any, SignedLists]:
        """Return a block stored by rows, and the lists that its product goes by."""
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the projection has {self.n_features} rows."
            )
        X = densified(as_floating(X, floating_name(X)))
        if is_sparse(X):
            return X.tocsr(), self._rows
        return np.ascontiguousarray(X), self._columns

    @property
    def _columns(self) -> SignedLists:
        return SignedLists(self.indices, self.offsets, self.n_features)

    @cached_property
    def _rows(self) -> SignedLists:
        return transposed(self._columns)

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file is not a projection."""
        self._columns.check()
        if self.size != self._columns.n_columns:
            raise ValueError("the lists of a ternary matrix are damaged")


def _joined(parts: list[SignedLists], n_features: int) -> SignedLists:
    """Return the lists of matrices side by side."""
    if not parts:
        return SignedLists(np.empty(0, np.int32), np.zeros(1, np.int64), n_features)
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return SignedLists(np.concatenate([part.indices for part in parts]), offsets, n_features)
