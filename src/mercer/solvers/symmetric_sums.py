"""Symmetric matrices of which only the upper triangle is kept up, of any array library."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from .._array import is_numpy, namespace
from .._devices import algebra_of
from .shifted import cholesky_at

#: Rows of a triangle to mirror together: both sides of it stay in the cache.
MIRRORED = 128


def mirrored(upper: Any) -> Any:
    """Return the whole matrix from its upper triangle.

    Examples
    --------
    >>> mirrored(np.asarray([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    if not is_numpy(upper):
        return algebra_of(upper).mirrored(upper)
    full = upper.copy("F")
    for start in range(0, len(full), MIRRORED):
        stop = start + MIRRORED
        corner = np.triu(full[start:stop, start:stop])
        full[start:stop, start:stop] = corner + np.triu(corner, 1).T
        full[start:stop, :start] = full[:start, start:stop].T
    return full


def with_outer_products(upper: Any, u: Any, v: Any) -> Any:
    """Return ``upper + u vᵀ + v uᵀ``, as a new upper triangle.

    Examples
    --------
    >>> np.triu(with_outer_products(np.eye(2, order="F"), np.asarray([1.0, 2.0]), np.ones(2)))
    array([[3., 3.],
           [0., 5.]])
    """
    if is_numpy(upper):
        return blas.dsyr2(1.0, u, v, a=upper.copy("F"), overwrite_a=1)
    return upper + u[:, None] * v[None, :] + v[:, None] * u[None, :]


def symmetric_times(upper: Any, B: Any) -> Any:
    """Return the matrix of an upper triangle times B.

    Examples
    --------
    >>> symmetric_times(np.asarray([[1.0, 2.0], [0.0, 3.0]]), np.ones((2, 1))).ravel()
    array([3., 5.])
    """
    if is_numpy(upper):
        return blas.dsymm(1.0, upper, B)
    return algebra_of(upper).mirrored(upper) @ B


def solved(upper: Any, alpha: float, B: Any, work: Any = None) -> Any:
    """Return (S + α I)⁻¹ B from the upper triangle of S, or raise ``numpy.linalg.LinAlgError``.

    Parameters
    ----------
    upper, B : arrays of shape (m, m) and (m, n_columns)
        Of one library; NumPy's triangle is stored by columns.
    alpha : float
        The ridge parameter.
    work : array of shape (m, m), stored by columns, default=None
        What NumPy's factor is written to.

    Examples
    --------
    >>> solved(np.eye(2, order="F"), 1.0, np.ones((2, 1))).ravel()
    array([0.5, 0.5])
    """
    if not is_numpy(upper):
        algebra = algebra_of(upper)
        return algebra.cholesky_solve(cholesky_at(algebra.mirrored(upper), alpha), B)
    work = np.empty_like(upper) if work is None else work
    np.copyto(work, upper)
    # The sums are kept in the upper triangle, by columns: LAPACK takes them as they are.
    work[np.diag_indices_from(work)] += alpha
    factor, failed = lapack.dpotrf(work, lower=0, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(f"S + alpha is not positive definite for alpha = {alpha:.3g}")
    return lapack.dpotrs(factor, B, lower=0)[0]


def trace(S: Any) -> float:
    """Return the trace.

    Examples
    --------
    >>> trace(np.eye(3))
    3.0
    """
    return float(namespace(S).linalg.trace(S))


def largest_eigenvalue(S: Any) -> float:
    """Return the largest eigenvalue, to a percent or so, by powers of the matrix.

    Examples
    --------
    >>> round(largest_eigenvalue(np.diag([3.0, 1.0])), 6)
    3.0
    """
    xp = namespace(S)
    vector = xp.sum(xp.abs(S), axis=0)
    value = 0.0
    for _ in range(20):
        norm = float(xp.linalg.vector_norm(vector))
        if norm == 0:
            return 0.0
        vector = S @ (vector / norm)
        value = float(xp.linalg.vector_norm(vector))
    return value
