"""Nyström features of an exact kernel: the data-dependent baseline."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from mercer import Kernel

#: Added to the eigenvalues of the landmarks' kernel, as a share of the largest.
JITTER = 1e-7


class NystromFeatures(TransformerMixin, BaseEstimator):
    """Features K_nm K_mm^(-1/2) of a kernel, with landmarks drawn from rows.

    Parameters
    ----------
    kernel : Kernel
        The exact kernel.
    n_components : int, default=512
        The number of landmarks; all rows where there are fewer.
    random_state : int, default=0
        Seed of the choice of landmarks.
    """

    def __init__(self, kernel: Kernel, *, n_components: int = 512, random_state: int = 0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: object = None) -> NystromFeatures:
        """Draw landmarks from the rows of ``X``, and compute the inverse root of their kernel."""
        order = np.random.default_rng(self.random_state).permutation(len(X))
        self.landmarks_ = np.ascontiguousarray(X[order[: self.n_components]])
        values, vectors = np.linalg.eigh(self.kernel(self.landmarks_.astype(np.float64)))
        values = np.maximum(values, 0) + JITTER * values[-1]
        self.root_ = ((vectors / np.sqrt(values)) @ vectors.T).astype(X.dtype)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features of the rows of ``X``."""
        return self.kernel(X, self.landmarks_) @ self.root_
