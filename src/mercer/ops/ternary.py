"""Products with a matrix of entries -1, 0 and 1 that is stored as lists: additions only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array import is_sparse
from .thresholds import Thresholds


class SignedLists(NamedTuple):
    """Where the columns of a ternary matrix are 1, and where -1.

    Attributes
    ----------
    indices : int32 array
        For each column the rows that are 1, then the rows that are -1.
    offsets : int64 array of shape (2 n_columns + 1,)
        Where in ``indices`` each of these lists begins; the last one is the end.
    n_rows : int
        Rows of the matrix.
    """

    indices: np.ndarray
    offsets: np.ndarray
    n_rows: int

    @property
    def n_columns(self) -> int:
        """Columns of the matrix."""
        return len(self.offsets) // 2

    @property
    def nbytes(self) -> int:
        """Bytes of the lists."""
        return int(self.indices.nbytes + self.offsets.nbytes)

    def check(self) -> None:
        """Raise an error if the lists do not describe a matrix: compiled code trusts them."""
        indices, offsets = self.indices, self.offsets
        good = (
            indices.dtype == np.int32
            and offsets.dtype == np.int64
            and indices.ndim == offsets.ndim == 1
            and len(offsets) % 2 == 1
            and offsets[0] == 0
            and offsets[-1] == len(indices)
            and bool((np.diff(offsets) >= 0).all())
            and (not len(indices) or 0 <= indices.min() <= indices.max() < self.n_rows)
        )
        if not good:
            raise ValueError("the lists of a ternary matrix are damaged")


def signed_lists(matrix: np.ndarray) -> SignedLists:
    """Return the lists of a matrix of entries -1, 0 and 1.

    Examples
    --------
    >>> signed_lists(np.asarray([[1, -1], [0, 1], [-1, 1]])).indices
    array([0, 2, 1, 2, 0], dtype=int32)
    """
    columns = np.ascontiguousarray(np.asarray(matrix).T)
    signed = np.stack([columns > 0, columns < 0], axis=1).reshape(-1, columns.shape[1])
    offsets = np.concatenate([[0], np.cumsum(signed.sum(axis=1))])
    return SignedLists(
        np.nonzero(signed)[1].astype(np.int32), offsets.astype(np.int64), columns.shape[1]
    )


def signed_matrix(lists: SignedLists) -> np.ndarray:
    """Return the matrix that lists describe, in int8.

    Examples
    --------
    >>> signed_matrix(signed_lists(np.asarray([[1, -1], [0, 1]])))
    array([[ 1, -1],
           [ 0,  1]], dtype=int8)
    """
    matrix = np.zeros((lists.n_rows, lists.n_columns), dtype=np.int8)
    which = np.repeat(np.arange(2 * lists.n_columns), np.diff(lists.offsets))
    matrix[lists.indices, which // 2] = 1 - 2 * (which % 2)
    return matrix


def transposed(lists: SignedLists) -> SignedLists:
    """Return the lists of the transposed matrix.

    Examples
    --------
    >>> signed_matrix(transposed(signed_lists(np.asarray([[1, -1], [0, 1]]))))
    array([[ 1,  0],
           [-1,  1]], dtype=int8)
    """
    which = np.repeat(np.arange(2 * lists.n_columns), np.diff(lists.offsets))
    target = 2 * lists.indices.astype(np.int64) + which % 2
    order = np.argsort(target, kind="stable")
    counts = np.bincount(target, minlength=2 * lists.n_rows)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SignedLists((which[order] // 2).astype(np.int32), offsets, lists.n_columns)


def ternary_product(X: Any, lists: SignedLists, out: np.ndarray) -> np.ndarray:
    """Write the product of a block of rows with a ternary matrix to ``out``, and return it.

    Parameters
    ----------
    X : float32 or float64 array or CSR of shape (n, d)
        Rows, stored by rows.
    lists : SignedLists
        The matrix, of shape (d, size); for CSR rows the transposed one.
    out : array of shape (n, size)
        Where the result goes, in the dtype of ``X``.

    Examples
    --------
    >>> lists = signed_lists(np.asarray([[1, -1], [1, 0], [-1, 1]]))
    >>> ternary_product(np.asarray([[1.0, 2.0, 4.0]]), lists, np.empty((1, 2)))
    array([[-1.,  3.]])
    """
    from ._jit import ternary as jit

    if is_sparse(X):
        jit.sparse_rows(X.data, X.indices, X.indptr, lists.indices, lists.offsets, out)
    else:
        jit.dense_rows(X, lists.indices, lists.offsets, out)
    return out


def ternary_codes(X: Any, lists: SignedLists, thresholds: Thresholds, out: np.ndarray) -> None:
    """Write what thresholds make of the product of rows with a ternary matrix to ``out``.

    Parameters
    ----------
    X : float32 or float64 array or CSR of shape (n, d)
        Rows, stored by rows.
    lists : SignedLists
        The matrix, of shape (d, size); for CSR rows the transposed one.
    thresholds : Thresholds
        What becomes of a value.
    out : int8 array of shape (n, size)
        Where the result goes.

    Examples
    --------
    >>> lists, out = signed_lists(np.asarray([[1, -1], [1, 0]])), np.empty((1, 2), np.int8)
    >>> ternary_codes(np.asarray([[1.0, 2.0]]), lists, Thresholds("odd", 2.0, -2.0), out)
    >>> out
    array([[1, 0]], dtype=int8)
    """
    from ._jit import ternary as jit

    bounds = (*thresholds.columns(out.shape[1], X.dtype), thresholds.code)
    if is_sparse(X):
        own = X.data, X.indices, X.indptr
        jit.sparse_codes(*own, lists.indices, lists.offsets, *bounds, out)
    else:
        jit.dense_codes(X, lists.indices, lists.offsets, *bounds, out)


def ternary_planes(
    X: Any,
    lists: SignedLists,
    thresholds: Thresholds,
    size: int,
    planes: np.ndarray,
    first: int = 0,
) -> None:
    """Write the bits that thresholds make of a product to ``planes``: no value is kept.

    Parameters
    ----------
    X : float32 or float64 array or CSR of shape (n, d)
        Rows, stored by rows.
    lists : SignedLists
        The matrix, of shape (d, size); for CSR rows the transposed one.
    thresholds : Thresholds
        What becomes of a value.
    size : int
        Columns of the matrix.
    planes : uint64 array of shape (n_planes, n_rows, n_words)
        Where the bits go: two planes if the kind is odd, else one.
    first : int, default=0
        The row of ``planes`` that the first row of ``X`` is.

    Examples
    --------
    >>> lists, planes = signed_lists(np.asarray([[1, -1], [1, 0]])), np.empty((2, 1, 1), np.uint64)
    >>> ternary_planes(np.asarray([[1.0, 2.0]]), lists, Thresholds("odd", 2.0, 0.0), 2, planes)
    >>> planes.ravel().tolist()
    [1, 2]
    """
    from ._jit import ternary as jit

    bounds = (*thresholds.columns(size, X.dtype), thresholds.code)
    if is_sparse(X):
        own = X.data, X.indices, X.indptr
        jit.sparse_planes(*own, lists.indices, lists.offsets, *bounds, planes, first)
    else:
        jit.dense_planes(X, lists.indices, lists.offsets, *bounds, planes, first)
