"""The triangle that makes kernel functions of landmarks orthonormal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..._array import as_floating, is_numpy, like, namespace
from ..._devices import algebra_of

#: Landmarks of which the others leave less than this share of the largest diagonal are dropped.
DEPENDENT = 1e-10


class LandmarkRoot:
    """The pivoted Cholesky factor L of the landmarks' kernel matrix.

    The features L⁻¹ k(landmarks, x) have the kernel of the landmarks as inner products.
    Landmarks that depend on others, such as copies, add nothing and are dropped.

    Parameters
    ----------
    K : array of shape (n_landmarks, n_landmarks)
        The kernel matrix of the landmarks.

    Attributes
    ----------
    kept : array of int
        The landmarks that are left, in the order of their features.
    inverse : array of shape (n_kept, n_kept)
        L⁻¹, lower triangular.

    Examples
    --------
    >>> root = LandmarkRoot(np.asarray([[4.0, 4.0], [4.0, 4.0]]))
    >>> root.kept, root.features(np.asarray([[2.0, 2.0], [4.0, 4.0]])).ravel()
    (array([0]), array([1., 2.]))
    >>> root.coefficients(np.ones((1, 1))).ravel()
    array([0.5, 0. ])
    """

    def __init__(self, K: np.ndarray) -> None:
        largest = float(np.max(np.diag(K), initial=0.0))
        if not largest > 0:
            raise ValueError(
                "The kernel of every landmark with itself is 0: there is nothing to make features "
                "of; use other landmarks, or another kernel."
            )
        factor, pivots, rank, _ = lapack.dpstrf(
            np.array(K, dtype=float, order="F"), tol=DEPENDENT * largest, lower=1
        )
        self._size = len(K)
        self.kept: np.ndarray = np.asarray(pivots[:rank] - 1, dtype=np.int64)
        self.inverse: np.ndarray = np.tril(lapack.dtrtri(np.tril(factor[:rank, :rank]), lower=1)[0])

    def features(self, values: Any) -> Any:
        """Return the features of rows, from their kernel with the landmarks."""
        values = as_floating(values, "float64")
        if is_numpy(values):
            return values[:, self.kept] @ self.inverse.T
        kept = namespace(values).take(values, like(values, self.kept), axis=1)
        return algebra_of(kept).product(kept, like(values, self.inverse).T)

    def coefficients(self, coef: np.ndarray) -> np.ndarray:
        """Return coefficients of the kernel functions from those of the features."""
        found = np.zeros((self._size, coef.shape[1]))
        found[self.kept] = self.inverse.T @ coef
        return found
