"""One step of a feature-learning machine: a fit with weights, its gradients and derivatives.

Three ways to the same: with the kernel matrix of all rows, with random Fourier features, and
with the kernel functions of some rows (Nyström). The last two pass over the rows twice and hold
no more than a block of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..._array import (
    as_floating,
    beside,
    brought,
    to_numpy,
)
from ...features.approximation import compared
from ...features.fourier import RandomFourier
from ...features.nystrom.root import LandmarkRoot
from ...kernels import Kernel
from ...kernels.derivatives import (
    derivative_norm,
    gradient_and_norm,
)
from ...solvers import Moments, Problem, Solution, solve_kernel, solve_ridge
from ..calibration import HeldOut
from .data import Data
from .functions import FourierFunctions, Function, KernelFunctions, LandmarkFunctions
from .passes import (
    FeaturePass,
    FeatureSums,
    FourierGradients,
    GradientSums,
    LandmarkFeatures,
    LandmarkGradients,
    Predictor,
)
from .weights import Weights


class Fit(NamedTuple):
    """What a step gives: predictions, how good they are, and what the next weights need.

    The derivatives, a number or a row for each column, are on the host.
    """

    function: Function
    error: float
    alpha: float
    E: np.ndarray
    D: np.ndarray
    held_out: Callable[[], HeldOut]


class Step(Protocol):
    """What fits a function to reweighted rows."""

    n_components: int | None

    def run(self, data: Data, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns.

        Of the candidates for alpha only the ``last`` choice and its neighbours may be tried.
        """
        ...

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return how far features of rows are from their kernel, or ``None`` if it is exact."""
        ...


class ExactStep:
    """A step with the kernel matrix of all rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel of reweighted rows.
    alphas : array
        The ridge parameter, or candidates, of which leave-one-out chooses.
    """

    n_components: int | None = None

    def __init__(self, kernel: Kernel, alphas: Any) -> None:
        self._kernel, self._alphas = kernel, np.sort(np.atleast_1d(alphas))

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return nothing: the kernel is exact."""
        return None

    def run(self, data: Data, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        X, given, own, counts = data.whole()
        rows = weights.reweighted(X)
        K = self._kernel(rows)
        problem = Problem(self._candidates(last), leave_one_out=True, count_weights=False)
        # The matrix stays where it is; what has one number a row goes to and fro.
        Y = to_numpy(given)
        own, counts = (None if one is None else to_numpy(one) for one in (own, counts))
        solution = solve_kernel(K, Y, problem, own)
        assert solution.left_out is not None
        E, D = gradient_and_norm(
            self._kernel,
            rows,
            K,
            brought(rows, solution.coef),
            weights.matrix,
            sample_weight=None if own is None else beside(rows, own),
        )
        left_out = to_numpy(solution.left_out)
        squares = (left_out**2).sum(axis=1)
        error = float(np.average(squares, weights=own)) / data.variance()
        ones = np.ones(len(Y))
        held_out = HeldOut(
            Y - left_out,
            Y,
            ones if own is None else own,
            ones if counts is None else counts,
        )
        function = KernelFunctions(self._kernel, rows, own, solution)
        alpha = float(solution.alpha[0])
        return Fit(function, error, alpha, to_numpy(E), to_numpy(D) / data.weight, lambda: held_out)

    def _candidates(self, last: float | None) -> np.ndarray:
        if last is None or len(self._alphas) == 1:
            return self._alphas
        k = int(np.searchsorted(self._alphas, last))
        return self._alphas[max(0, k - 1) : k + 2]


class _TwoPasses:
    """A step that looks at the rows twice: for the coefficients, and for the derivatives."""

    n_components: int | None

    def __init__(self, kernel: Kernel, alphas: Any) -> None:
        self._kernel = kernel
        given = np.atleast_1d(alphas)
        self._problem = Problem(given, above_rounding=True, count_weights=False)

    def _solved(
        self,
        data: Data,
        weights: Weights,
        features: Callable[[Any], Any],
        size: int,
    ) -> tuple[Solution, Moments]:
        """Return the ridge solution of features of reweighted rows, and their sums."""
        sums: FeatureSums = data.total(FeaturePass(features, weights, size))
        solution = solve_ridge(sums.statistics, self._problem)
        if not solution.trusted and sums.single:
            warnings.warn(
                f"alpha={float(solution.alpha[0]):.3g} is below the rounding error of float32 "
                "features: derivatives are unreliable; use a larger alpha, or float64 rows.",
                UserWarning,
                stacklevel=8,
            )
        return solution, sums.statistics.total()

    @staticmethod
    def _error(solution: Solution, data: Data) -> float:
        """Return the error that generalised cross-validation expects, over the variance."""
        # The constant is a degree of freedom as well, and a row is one row whatever its weight.
        share = (solution.degrees_of_freedom + 1) / data.n_rows
        left = np.maximum(1 - share, 1e-9)
        return float(np.sum(solution.residual / left**2)) / data.variance()


class FourierStep(_TwoPasses):
    """A step with random Fourier features of a Gaussian kernel.

    Parameters
    ----------
    kernel : Gaussian
        The kernel.
    alphas : array
        The ridge parameter; of several, generalised cross-validation chooses one.
    n_features, n_components, seed : int
        Columns of the rows, features, and their seed.
    """

    def __init__(
        self, kernel: Kernel, alphas: Any, n_features: int, n_components: int, seed: int
    ) -> None:
        super().__init__(kernel, alphas)
        self._size = n_components + n_components % 2
        features = RandomFourier(kernel, n_components=self._size, random_state=seed)
        self._features = features.fit(np.zeros((1, n_features)))
        self._frequencies = np.ascontiguousarray(self._features.frequencies_.T)
        self.n_components = self._size

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return how far the features of rows are from their kernel, relatively."""
        rows = weights.reweighted(X)
        return compared(self._features.transform(rows), self._kernel(rows)).relative

    def run(self, data: Data, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        features, frequencies = self._features, self._frequencies
        solution, totals = self._solved(data, weights, features.transform, self._size)
        alpha = float(solution.alpha[0])
        known = Predictor(solution.coef, solution.intercept, alpha)
        found: GradientSums = data.total(FourierGradients(features, frequencies, weights, known))
        E, moved = found.E, found.D
        D = -frequencies.T @ moved if weights.matrix else -np.sum(frequencies * moved, axis=0)
        function = FourierFunctions(features, solution, totals)
        held_out = partial(found.sample.held_out, function.leverages)
        error = self._error(solution, data)
        return Fit(function, error, alpha, E / data.weight, D / data.weight, held_out)


class NystromStep(_TwoPasses):
    """A step with the kernel functions of some rows, the landmarks.

    Parameters
    ----------
    kernel : Kernel
        The kernel of reweighted rows.
    alphas : array
        The ridge parameter; of several, generalised cross-validation chooses one.
    landmarks : array of shape (n_landmarks, n_features)
        The rows, before weights.
    """

    def __init__(self, kernel: Kernel, alphas: Any, landmarks: np.ndarray) -> None:
        super().__init__(kernel, alphas)
        self._landmarks = landmarks
        self.n_components = len(landmarks)

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return how far the features of rows are from their kernel, relatively."""
        rows, places = weights.reweighted(X), weights.reweighted(self._landmarks)
        Z = LandmarkRoot(self._kernel(places)).features(self._kernel(rows, places))
        return compared(Z, self._kernel(rows)).relative

    def run(self, data: Data, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        kernel, matrix = self._kernel, weights.matrix
        landmarks = weights.reweighted(self._landmarks)
        row = data.place()
        places = brought(row, landmarks)
        # Pivots are the host's business: no device chooses them well.
        root = LandmarkRoot(to_numpy(kernel(places)))
        features = LandmarkFeatures(kernel, landmarks, root)
        solution, totals = self._solved(data, weights, features, len(landmarks))
        alpha, coef = float(solution.alpha[0]), root.coefficients(to_numpy(solution.coef))
        known = Predictor(coef, solution.intercept, alpha)
        found: GradientSums = data.total(LandmarkGradients(kernel, landmarks, weights, known))
        theirs = brought(as_floating(row, "float64"), coef)
        E = found.E
        D = found.D - to_numpy(derivative_norm(kernel, places, None, theirs, theirs, matrix))
        function = LandmarkFunctions(kernel, landmarks, coef, solution, totals)
        held_out = partial(found.sample.held_out, function.leverages)
        error = self._error(solution, data)
        return Fit(function, error, alpha, E / data.weight, D / data.weight, held_out)
