"""The Gaussian kernel by features of the exponential one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone


class DampedFeatures(TransformerMixin, BaseEstimator):
    """Features exp(-|x|²/2ℓ²) z(x/ℓ) of the Gaussian kernel, with z those of exp⟨x, y⟩.

    The mean is subtracted first: the kernel does not change, and norms get smaller.

    Parameters
    ----------
    features : transformer
        Features of the exponential kernel of lengthscale 1.
    lengthscale : float, default=1.0
        The lengthscale ℓ.
    """

    def __init__(self, features: Any, lengthscale: float = 1.0) -> None:
        self.features = features
        self.lengthscale = lengthscale

    def fit(self, X: np.ndarray, y: object = None) -> DampedFeatures:
        """Draw the features, and keep the mean."""
        self.center_ = X.mean(axis=0, dtype=float).astype(X.dtype)
        self.features_ = clone(self.features).fit(self._scaled(X))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features of the rows of ``X``."""
        rows = self._scaled(X)
        Z = self.features_.transform(rows)
        Z *= np.exp(-np.square(rows).sum(axis=1, keepdims=True) / 2)
        return Z

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X - self.center_) / X.dtype.type(self.lengthscale)
