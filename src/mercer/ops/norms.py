"""Norms of rows that neither overflow nor underflow, and rows of unit norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._array import is_numpy, is_sparse


def row_norms(X: Any, xp: Any) -> Any:
    """Return the Euclidean norms of the rows, exact from 1e-300 to 1e300.

    Where squares could overflow or underflow rows are divided by their largest entry first:
    the square of 1e-200 is zero and that of 1e200 infinite.

    Examples
    --------
    >>> import numpy as np
    >>> row_norms(np.asarray([[3e200, 4e200], [0.0, 0.0]]), np)
    array([5.e+200, 0.e+000])
    """
    if is_sparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
        scaled = _divided(X, np.where(largest > 0, largest, 1.0))
        scaled.data **= 2
        return largest * np.sqrt(np.asarray(scaled.sum(axis=1)).ravel())
    if is_numpy(X):
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->i", X, X)
        tiny = np.finfo(X.dtype).tiny / np.finfo(X.dtype).eps
        if squares.min() > tiny and squares.max() < 1 / tiny:
            return np.sqrt(squares)
    largest = xp.max(xp.abs(X), axis=1)
    safe = xp.where(largest > 0, largest, xp.ones_like(largest))
    scaled = X / safe[:, None]
    return largest * xp.sqrt(xp.sum(scaled * scaled, axis=1))


def unit_rows(X: Any, xp: Any) -> tuple[Any, Any]:
    """Return the rows divided by their norms, and the norms; a zero row stays zero."""
    norms = row_norms(X, xp)
    safe = xp.where(norms > 0, norms, xp.ones_like(norms))
    if is_sparse(X):
        return _divided(X, safe), norms
    return X / safe[:, None], norms


def _divided(X: Any, divisors: np.ndarray) -> Any:
    """Return sparse rows divided each by its number."""
    data = X.data / np.repeat(divisors, np.diff(X.indptr)).astype(X.dtype, copy=False)
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
