"""Exact kernel ridge regression with the neural tangent kernel, the reference."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from mercer import NTK

#: Ridge parameters that are tried, in multiples of the mean of k(x, x).
MULTIPLES = np.logspace(-4, 2, 7)
BLOCK_ROWS = 1000


class ExactRidge:
    """Kernel ridge regression (K + αI) c = Y - mean in float64, by a Cholesky factor.

    Parameters
    ----------
    depth : int, default=1
        The number of hidden layers of the kernel.
    """

    def __init__(self, depth: int = 1) -> None:
        self.kernel = NTK(depth=depth)

    def choose(self, X: np.ndarray, Y: np.ndarray, n_validation: int) -> float:
        """Return the ridge parameter with the least error on the last rows.

        α is the variance of the noise in units of the kernel, so it does not change with the
        number of rows.
        """
        X = X.astype(np.float64)
        scale = float(np.mean(self.kernel.diag(X)))
        rest, last = slice(None, -n_validation), slice(-n_validation, None)
        K, K_last = self.kernel(X[rest]), self.kernel(X[last], X[rest])
        mean = Y[rest].mean(axis=0)
        errors = []
        for multiple in MULTIPLES:
            coefficients = solved(K.copy(), Y[rest] - mean, multiple * scale)
            errors.append(np.mean((K_last @ coefficients + mean - Y[last]) ** 2))
        return float(MULTIPLES[int(np.argmin(errors))] * scale)

    def fit(self, X: np.ndarray, Y: np.ndarray, alpha: float) -> ExactRidge:
        """Learn from all rows with one ridge parameter."""
        self._X = X.astype(np.float64)
        self._mean = Y.mean(axis=0)
        self._coefficients = solved(self.kernel(self._X), Y - self._mean, alpha)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return predictions, made block by block."""
        parts = [X[start : start + BLOCK_ROWS] for start in range(0, len(X), BLOCK_ROWS)]
        kernels = (self.kernel(part.astype(np.float64), self._X) for part in parts)
        return np.concatenate([K @ self._coefficients for K in kernels]) + self._mean


def solved(K: np.ndarray, Y: np.ndarray, alpha: float) -> np.ndarray:
    """Return the solution of (K + alpha I) c = Y; ``K`` is overwritten."""
    K[np.diag_indices_from(K)] += alpha
    # The transpose is in the order of LAPACK, so that there is no copy.
    factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise np.linalg.LinAlgError(f"alpha={alpha:.3g} is too small for a Cholesky factor")
    solution, _ = lapack.dpotrs(factor, Y, lower=1)
    return solution
