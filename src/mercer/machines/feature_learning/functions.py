"""Fitted functions of reweighted rows: their values, and how sure they are."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from ..._array import as_floating, brought, to_numpy
from ..._registry import storable
from ...features import RandomFourier
from ...features.nystrom.root import LandmarkRoot
from ...kernels import Kernel
from ...solvers import DualPosterior, Moments, Posterior, Solution
from ...solvers.device_statistics import beside as moments_beside
from ...solvers.low_rank_posterior import LowRankPosterior


class Function(Protocol):
    """Predictions for reweighted rows, in the unit of standardised targets.

    They are computed where the rows are, whatever the function has learnt from.
    """

    def __call__(self, X: Any) -> Any:
        """Return predictions of shape (n_rows, n_targets)."""
        ...

    def variances(self, X: Any) -> Any:
        """Return the variances of new observations, of the same shape."""
        ...

    def on_host(self) -> Self:
        """Return the function with all that it has learnt on the host, as models are kept."""
        ...

    def without_sums(self) -> Self:
        """Return a function that predicts, and has nothing that only variances need."""
        ...


class _Posterior:
    """Variances of predictions from sums of features, which a compact model leaves out."""

    _totals: Moments | None
    _solution: Solution

    def without_sums(self) -> Self:
        """Return a function that predicts the same, without the sums that variances need."""
        found = copy.copy(self)
        found._totals = None
        return found

    def _variances(self, Z: Any) -> Any:
        if self._totals is None:
            raise ValueError(
                "The standard deviation of predictions needs the sums of the training rows, which "
                "this model was saved without; save it with compact=False."
            )
        form = self._quadratic(Z)
        return (1 + form)[:, None] * brought(form, self._solution.noise)

    def _quadratic(self, Z: Any) -> Any:
        assert self._totals is not None
        totals = moments_beside(self._totals, Z)
        return Posterior(totals, float(self._solution.alpha[0]), True).quadratic(Z)

    def _bring_to_host(self) -> None:
        if self._totals is not None:
            self._totals = moments_beside(self._totals, np.empty(0))
        self._solution = _on_host(self._solution)

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
        rows: Any,
        weights: np.ndarray | None,
        solution: Solution,
        posterior: LowRankPosterior | None = None,
    ) -> None:
        self._kernel, self._rows, self._weights = kernel, rows, weights
        self._solution, self._posterior = solution, posterior

    def __call__(self, X: Any) -> Any:
        """Return predictions for reweighted rows."""
        coef, rows = brought(X, self._solution.coef), brought(X, self._rows)
        return self._kernel.matvec(X, coef, rows) + brought(X, self._solution.intercept)

    def variances(self, X: Any) -> Any:
        """Return the variances of new observations."""
        solution, rows = self._solution, brought(X, self._rows)
        posterior: DualPosterior | LowRankPosterior | None = self._posterior
        if posterior is None:
            K, alpha = self._kernel(rows), float(solution.alpha[0])
            posterior = DualPosterior(K, self._weights, alpha, intercept=True)
        form = posterior.quadratic(self._kernel(X, rows), self._kernel.diag(X))
        return (1 + form)[:, None] * brought(form, solution.noise)

    def on_host(self) -> Self:
        """Return the function with rows and coefficients on the host."""
        self._rows, self._solution = to_numpy(self._rows), _on_host(self._solution)
        return self

    def without_sums(self) -> Self:
        """Return the function: it has no sums."""
        return self


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

    def __call__(self, X: Any) -> Any:
        """Return predictions for reweighted rows."""
        Z = self._features.transform(X)
        found = as_floating(Z @ brought(Z, self._solution.coef), "float64")
        return found + brought(found, self._solution.intercept)

    def variances(self, X: Any) -> Any:
        """Return the variances of new observations."""
        return self._variances(self._features.transform(X))

    def leverages(self, X: Any) -> Any:
        """Return the leverages of training rows, over their weights."""
        return self._quadratic(self._features.transform(X))

    def on_host(self) -> Self:
        """Return the function with its coefficients on the host."""
        self._bring_to_host()
        return self


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
        landmarks: Any,
        coef: Any,
        solution: Solution,
        totals: Moments,
    ) -> None:
        self._kernel, self._landmarks, self._coef = kernel, landmarks, coef
        self._solution, self._totals = solution, totals

    def __call__(self, X: Any) -> Any:
        """Return predictions for reweighted rows."""
        found = self._kernel.matvec(X, brought(X, self._coef), brought(X, self._landmarks))
        return found + brought(X, self._solution.intercept)

    def variances(self, X: Any) -> Any:
        """Return the variances of new observations."""
        return self._variances(self._features(X))

    def leverages(self, X: Any) -> Any:
        """Return the leverages of training rows, over their weights."""
        return self._quadratic(self._features(X))

    def on_host(self) -> Self:
        """Return the function with landmarks and coefficients on the host."""
        self._landmarks, self._coef = to_numpy(self._landmarks), to_numpy(self._coef)
        self._bring_to_host()
        return self

    def _features(self, X: Any) -> Any:
        landmarks = brought(X, self._landmarks)
        root = LandmarkRoot(to_numpy(self._kernel(landmarks)))
        return root.features(self._kernel(X, landmarks))


def _on_host(solution: Solution) -> Solution:
    """Return a solution whose coefficients are on the host."""
    return replace(solution, coef=to_numpy(solution.coef), intercept=to_numpy(solution.intercept))
