"""Signed sums of columns with the same hash: one block of a CountSketch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array import frozen, is_sparse, like
from .._devices import has_fused_kernels


def count_sketch(X: Any, places: np.ndarray, signs: np.ndarray, size: int) -> Any:
    """Return ``size`` columns, each the sum of the signed columns of ``X`` with its hash.

    For NumPy and CSR. Takes as many additions as ``X`` has entries, or non-zeros if it is CSR.

    Examples
    --------
    >>> import numpy as np
    >>> X, places = np.asarray([[1.0, 2.0, 4.0]]), np.asarray([0, 1, 0])
    >>> count_sketch(X, places, np.asarray([1.0, 1.0, -1.0]), 2)
    array([[-3.,  2.]])
    """
    from ._jit import count_sketch as jit

    out = np.empty((X.shape[0], size), dtype=X.dtype)
    if is_sparse(X):
        jit.sparse_rows(X.data, X.indices, X.indptr, places, like(X, signs), out)
    else:
        jit.dense_rows(X, places, like(X, signs), out)
    return out


class Gathering(NamedTuple):
    """The sketch from the side of its places: which columns belong to each.

    Attributes
    ----------
    starts : int32 array of shape (size + 1,)
        Where the columns of every place begin.
    columns : int32 array of shape (n_features,)
        The columns, place by place.
    signs : array of shape (n_features,)
        Their signs.
    rounds : list of tuples
        For libraries without a kernel: the columns that come first at their places, second, ...,
        as arrays of one number for each place, signs of 0 where there is none.
    """

    starts: np.ndarray
    columns: np.ndarray
    signs: np.ndarray
    rounds: list[tuple[np.ndarray, np.ndarray]]


def gathering(places: np.ndarray, signs: np.ndarray, size: int) -> Gathering:
    """Return the sketch from the side of its places.

    Examples
    --------
    >>> found = gathering(np.asarray([1, 0, 1]), np.asarray([1.0, 1.0, -1.0]), 2)
    >>> found.starts, found.columns, found.signs
    (array([0, 1, 3], dtype=int32), array([1, 0, 2], dtype=int32), array([ 1.,  1., -1.]))
    """
    columns = np.argsort(places, kind="stable")
    counts = np.bincount(places, minlength=size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rounds = []
    for k in range(int(counts.max(initial=0))):
        there = counts > k
        own = np.where(there, columns[np.minimum(starts[:-1] + k, len(columns) - 1)], 0)
        rounds.append((frozen(own), frozen(np.where(there, signs[own], 0.0))))
    narrow = starts.astype(np.int32), columns.astype(np.int32)
    return Gathering(frozen(narrow[0]), frozen(narrow[1]), frozen(signs[columns]), rounds)


def gathered_sketch(X: Any, found: Gathering, size: int, xp: Any) -> Any:
    """Return the same as :func:`count_sketch`, for dense rows of any library.

    Examples
    --------
    >>> X, places = np.asarray([[1.0, 2.0, 4.0]]), np.asarray([0, 1, 0])
    >>> gathered_sketch(X, gathering(places, np.asarray([1.0, 1.0, -1.0]), 2), 2, np)
    array([[-3.,  2.]])
    """
    if has_fused_kernels(X):
        from ._cuda import count_sketch as cuda

        about = like(X, found.starts), like(X, found.columns), like(X, found.signs)
        return cuda.count_sketch(X, *about, size)
    total = None
    for columns, signs in found.rounds:
        part = xp.take(X, like(X, columns), axis=1) * like(X, signs)
        total = part if total is None else total + part
    return total
