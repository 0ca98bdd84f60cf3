"""Nyström features: kernel functions of some rows, made orthonormal."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .posterior import cholesky

#: Raises the diagonal of the landmarks' kernel matrix where it cannot be decomposed.
JITTER = 1e-12


class LandmarkRoot:
    """The Cholesky factor L of the landmarks' kernel matrix.

    The features L⁻¹ k(landmarks, x) have the kernel of the landmarks as inner products.

    Parameters
    ----------
    K : array of shape (n_landmarks, n_landmarks)
        The kernel matrix of the landmarks.

    Examples
    --------
    >>> root = LandmarkRoot(np.asarray([[4.0]]))
    >>> root.features(np.asarray([[2.0], [4.0]])).ravel(), root.coefficients(np.ones((1, 1)))
    (array([1., 2.]), array([[0.5]]))
    """

    def __init__(self, K: np.ndarray) -> None:
        self._root = cholesky(K, 0.0, JITTER)

    def features(self, values: np.ndarray) -> np.ndarray:
        """Return the features of rows, from their kernel with the landmarks."""
        half = scipy.linalg.solve_triangular(self._root, values.astype(float).T, lower=True)
        return np.asarray(half.T)

    def coefficients(self, coef: np.ndarray) -> np.ndarray:
        """Return coefficients of the kernel functions from those of the features."""
        return np.asarray(scipy.linalg.solve_triangular(self._root, coef, lower=True, trans=1))
