"""Nyström features of an exact kernel: the baseline that looks at the data."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from mercer import NTK

#: What is added to the eigenvalues of the landmarks' kernel, as a share of the largest.
JITTER = 1e-7


class NystromNTK(TransformerMixin, BaseEstimator):
    """Features K_nm K_mm^(-1/2) of the neural tangent kernel, with landmarks drawn from rows.

    Parameters
    ----------
    depth : int, default=1
        The number of hidden layers of the kernel.
    n_components : int, default=512
        The number of landmarks; all rows where there are fewer.
    random_state : int, default=0
        Seed of the choice of landmarks.
    """

    def __init__(self, depth: int = 1, *, n_components: int = 512, random_state: int = 0) -> None:
        self.depth = depth
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: object = None) -> NystromNTK:
        """Draw landmarks from the rows of ``X``, and take the root of their kernel."""
        order = np.random.default_rng(self.random_state).permutation(len(X))
        self.landmarks_ = np.ascontiguousarray(X[order[: self.n_components]])
        self.kernel_ = NTK(depth=self.depth)
        values, vectors = np.linalg.eigh(self.kernel_(self.landmarks_.astype(np.float64)))
        values = np.maximum(values, 0) + JITTER * values[-1]
        self.root_ = ((vectors / np.sqrt(values)) @ vectors.T).astype(X.dtype)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features of the rows of ``X``."""
        return self.kernel_(X, self.landmarks_) @ self.root_
