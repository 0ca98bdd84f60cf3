"""Roots, parts and inverses of symmetric matrices."""

from __future__ import annotations

import numpy as np
import scipy.linalg


def root_of(M: np.ndarray) -> np.ndarray:
    """Return the symmetric root of a matrix, whose negative eigenvalues count as 0.

    Examples
    --------
    >>> root_of(np.diag([4.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(M)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def positive_part(M: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix with its negative eigenvalues set to 0.

    Examples
    --------
    >>> positive_part(np.diag([4.0, -1.0]))
    array([[4., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(M)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def lowest_ratio(M: np.ndarray, root: np.ndarray) -> float:
    """Return the smallest eigenvalue of M relative to the square of a symmetric root.

    Examples
    --------
    >>> lowest_ratio(np.diag([4.0, -2.0]), np.diag([1.0, 2.0]))
    -0.5
    """
    inverse = np.linalg.pinv(root, rcond=1e-8, hermitian=True)
    return float(np.linalg.eigvalsh(inverse @ M @ inverse)[0])


def inverse_of(M: np.ndarray) -> np.ndarray:
    """Return the inverse of a positive definite matrix, by its Cholesky factor.

    Examples
    --------
    >>> inverse_of(np.diag([4.0, 2.0]))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    """
    if not len(M):
        return M
    factor = scipy.linalg.cholesky(M, lower=True, check_finite=False)
    lower = np.tril(scipy.linalg.lapack.dpotri(factor, lower=1)[0])
    return np.asarray(lower + np.tril(lower, -1).T)
