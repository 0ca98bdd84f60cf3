"""The reference of all errors: slow and obvious kernels, none of them mercer's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel


def gamma_of(lengthscale: float) -> float:
    """Return scikit-learn's ``gamma`` of a Gaussian kernel."""
    return 1 / (2 * lengthscale**2)


def gaussian_kernel(X: np.ndarray, lengthscale: float) -> np.ndarray:
    """Return the Gaussian kernel matrix of the rows in float64."""
    return rbf_kernel(X.astype(np.float64), gamma=gamma_of(lengthscale))


def features_error(K: np.ndarray) -> Callable[[np.ndarray], float]:
    """Return the function of features ``Z`` that is the relative Frobenius error of ``Z Zᵀ``.

    ``K`` is the exact kernel of the first rows; as many rows of ``Z`` are compared.
    """
    norm = np.linalg.norm(K)

    def error(Z: np.ndarray) -> float:
        first = Z[: K.shape[0]]
        return float(np.linalg.norm(first @ first.T - K) / norm)

    return error


def entrywise_error(K: np.ndarray) -> Callable[[np.ndarray], float]:
    """Return the function of a matrix that is its largest relative error in the corner ``K``.

    Where ``K`` is 0, anything but 0 is an infinite error.
    """

    def error(matrix: np.ndarray) -> float:
        corner = matrix[: K.shape[0], : K.shape[1]].astype(K.dtype)
        difference = np.abs(corner - K)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(difference == 0, 0, difference / np.abs(K)).max())

    return error


def relu_kernels(X: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return κ₀, the NNGP kernel and the NTK of ``depth`` layers, for all pairs of rows.

    In long double, by the recursion on angles, the first of them from differences:
    θ = 2 atan2(|x - y|, |x + y|) for unit rows. Zero rows give 0.
    """
    X = X.astype(np.longdouble)
    pi = 4 * np.arctan(np.longdouble(1))
    norms = np.sqrt((X * X).sum(axis=1))
    unit = X / np.where(norms > 0, norms, 1)[:, None]
    far = np.asarray([np.sqrt(((x + unit) ** 2).sum(axis=1)) for x in unit])
    near = np.asarray([np.sqrt(((x - unit) ** 2).sum(axis=1)) for x in unit])
    angle = 2 * np.arctan2(near, far)
    tangent = np.cos(angle)
    for _ in range(depth):
        step = 1 - angle / pi
        # 1 - κ₁, from which the next angle follows without the infinite slope of arccos.
        delta = 2 * np.sin(angle / 2) ** 2 - (np.sin(angle) - angle * np.cos(angle)) / pi
        tangent = tangent * step + (1 - delta)
        angle = 2 * np.arcsin(np.sqrt(np.maximum(delta, 0) / 2))
    sizes = np.outer(norms, norms)
    return np.sign(sizes) * step, sizes * (1 - delta), sizes * tangent
