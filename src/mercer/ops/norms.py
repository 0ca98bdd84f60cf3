"""Norms of rows that neither overflow nor underflow, and rows of unit norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._array import is_numpy, is_sparse
from .._devices import has_fused_kernels

#: Columns of a row that a fused kernel can hold.
WIDEST = 2**14


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
    plain = _plain_norms(X)
    if plain is not None:
        return plain
    if _fits_a_kernel(X):
        from ._cuda import norms as cuda

        return cuda.unit_rows(X, unit=False)[1]
    largest, _, norms = _scaled(X, xp)
    return largest * norms


def unit_rows(X: Any, xp: Any) -> tuple[Any, Any]:
    """Return the rows divided by their norms, and the norms; a zero row stays zero."""
    plain = _plain_norms(X)
    if plain is not None:
        return X / plain[:, None], plain
    if _fits_a_kernel(X):
        from ._cuda import norms as cuda

        return cuda.unit_rows(X)
    largest, scaled, norms = _scaled(X, xp)
    safe = xp.where(norms > 0, norms, xp.ones_like(norms))
    unit = _divided(scaled, safe) if is_sparse(X) else scaled / safe[:, None]
    return unit, largest * norms


def _fits_a_kernel(X: Any) -> bool:
    """Return whether a fused kernel can hold a row."""
    return has_fused_kernels(X) and X.shape[1] <= WIDEST


def _plain_norms(X: Any) -> Any:
    """Return the norms of dense NumPy rows, or ``None`` where a square is out of range."""
    if not is_numpy(X) or is_sparse(X):
        return None
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    tiny = np.finfo(X.dtype).tiny / np.finfo(X.dtype).eps
    in_range = squares.min() > tiny and squares.max() < 1 / tiny
    return np.sqrt(squares) if in_range else None


def _scaled(X: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Return the largest entries of rows, the rows divided by them, and the norms of those."""
    if is_sparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
        scaled = _divided(X, np.where(largest > 0, largest, 1.0))
        squares = np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()
        return largest, scaled, np.sqrt(squares).astype(X.dtype, copy=False)
    largest = xp.max(xp.abs(X), axis=1)
    scaled = X / xp.where(largest > 0, largest, xp.ones_like(largest))[:, None]
    return largest, scaled, xp.sqrt(xp.sum(scaled * scaled, axis=1))


def _divided(X: Any, divisors: np.ndarray) -> Any:
    """Return sparse rows divided each by its number."""
    data = X.data / np.repeat(divisors, np.diff(X.indptr)).astype(X.dtype, copy=False)
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
