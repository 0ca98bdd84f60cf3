"""Signed sums of columns with the same hash: one block of a CountSketch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_sparse, like


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


def one_hot(places: np.ndarray, signs: np.ndarray, size: int) -> np.ndarray:
    """Return the sketch as a matrix of shape (n_features, size), for other libraries."""
    matrix = np.zeros((len(places), size))
    matrix[np.arange(len(places)), places] = signs
    return matrix
