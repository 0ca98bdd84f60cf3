"""Fitted functions of reweighted rows: their values, and how sure they are."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..._registry import storable
from ...features import RandomFourier
from ...features.nystrom.root import LandmarkRoot
from ...kernels import Kernel
from ...solvers import DualPosterior, Moments, Posterior, Solution
from ...solvers.low_rank_posterior import LowRankPosterior


class Function(Protocol):
    """Predictions for reweighted rows, in the unit of standardised targets."""

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return predictions of shape (n_rows, n_targets)."""
        ...

    def variances(self, X: np.ndarray) -> np.ndarray:
        """Return the variances of new observations, of the same shape."""
        ...


class _Posterior:
    """Variances of predictions from sums of features, which a compact model leaves out."""

    _totals: Moments | None
    _solution: Solution

    def _variances(self, Z: np.ndarray) -> np.ndarray:
        if self._totals is None:
            raise ValueError(
                "The standard deviation of predictions needs the sums of the training rows, which "
                "this model was saved without; save it with compact=False."
            )
        return np.asarray((1 + self._quadratic(Z))[:, None] * self._solution.noise)

    def _quadratic(self, Z: np.ndarray) -> np.ndarray:
        assert self._totals is not None
        return Posterior(self._totals, float(self._solution.alpha[0]), True).quadratic(Z)

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, no sums."""
        return {**self.__dict__, "_totals": None if compact else self._totals}


@storable
class KernelFunctions:
    """Predictions b + Σ_i c_i k(x, x_i) with all rows as centres.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n_rows, n_features)
        The rows of the kernel functions, reweighted.
    weights : array of shape (n_rows,) or None
        Their weights.
    solution : Solution
        Their coefficients, the constants, alpha and the noise.
    posterior : LowRankPosterior, default=None
        Of an iterative solver; ``None`` means the exact one, made when it is asked for.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: np.ndarray,
        weights: np.ndarray | None,
        solution: Solution,
        posterior: LowRankPosterior | None = None,
    ) -> None:
        self._kernel, self._rows, self._weights = kernel, rows, weights
        self._solution, self._posterior = solution, posterior

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return predictions for reweighted rows."""
        found = self._kernel.matvec(X, self._solution.coef, self._rows)
        return np.asarray(found + self._solution.intercept)

    def variances(self, X: np.ndarray) -> np.ndarray:
        """Return the variances of new observations."""
        solution = self._solution
        posterior: DualPosterior | LowRankPosterior | None = self._posterior
        if posterior is None:
            K, alpha = self._kernel(self._rows), float(solution.alpha[0])
            posterior = DualPosterior(K, self._weights, alpha, intercept=True)
        form = posterior.quadratic(self._kernel(X, self._rows), self._kernel.diag(X))
        return np.asarray((1 + form)[:, None] * solution.noise)


@storable
class FourierFunctions(_Posterior):
    """Predictions from random Fourier features.

    Parameters
    ----------
    features : RandomFourier
        The features.
    solution : Solution
        Their coefficients, the constants, alpha and the noise.
    totals : Moments
        The sums of the features of all training rows.
    """

    def __init__(self, features: RandomFourier, solution: Solution, totals: Moments) -> None:
        self._features, self._solution, self._totals = features, solution, totals

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return predictions for reweighted rows."""
        Z = self._features.transform(X)
        found = np.asarray(Z @ self._solution.coef.astype(Z.dtype), dtype=float)
        return found + self._solution.intercept

    def variances(self, X: np.ndarray) -> np.ndarray:
        """Return the variances of new observations."""
        return self._variances(self._features.transform(X))

    def leverages(self, X: np.ndarray) -> np.ndarray:
        """Return the leverages of training rows, over their weights."""
        return self._quadratic(self._features.transform(X))


@storable
class LandmarkFunctions(_Posterior):
    """Predictions b + Σ_i c_i k(x, x_i) with some rows, the landmarks, as centres.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array of shape (n_landmarks, n_features)
        The landmarks, reweighted.
    coef : array of shape (n_landmarks, n_targets)
        The coefficients of their kernel functions.
    solution : Solution
        The constants, alpha and the noise.
    totals : Moments
        The sums of the features of all training rows.
    """

    def __init__(
        self,
        kernel: Kernel,
        landmarks: np.ndarray,
        coef: np.ndarray,
        solution: Solution,
        totals: Moments,
    ) -> None:
        self._kernel, self._landmarks, self._coef = kernel, landmarks, coef
        self._solution, self._totals = solution, totals

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return predictions for reweighted rows."""
        found = self._kernel.matvec(X, self._coef, self._landmarks)
        return np.asarray(found + self._solution.intercept)

    def variances(self, X: np.ndarray) -> np.ndarray:
        """Return the variances of new observations."""
        return self._variances(self._features(X))

    def leverages(self, X: np.ndarray) -> np.ndarray:
        """Return the leverages of training rows, over their weights."""
        return self._quadratic(self._features(X))

    def _features(self, X: np.ndarray) -> np.ndarray:
        root = LandmarkRoot(self._kernel(self._landmarks))
        return root.features(self._kernel(X, self._landmarks))
