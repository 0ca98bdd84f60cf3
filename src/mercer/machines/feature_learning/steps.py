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

from ...features.approximation import compared
from ...features.fourier import RandomFourier
from ...features.nystrom.root import LandmarkRoot
from ...kernels import Kernel
from ...kernels.derivatives import (
    derivative_norm,
    gradient_and_norm,
    mean_squared_gradients,
)
from ...ops.products import product_beside_scipy
from ...solvers import Moments, Problem, RidgeStatistics, Solution, solve_kernel, solve_ridge
from ..calibration import HeldOut, PredictedSample
from .data import Standardized
from .functions import FourierFunctions, Function, KernelFunctions, LandmarkFunctions
from .weights import Weights


class Fit(NamedTuple):
    """What a step gives: predictions, how good they are, and what the next weights need."""

    function: Function
    error: float
    alpha: float
    E: np.ndarray
    D: np.ndarray
    held_out: Callable[[], HeldOut]


class Step(Protocol):
    """What fits a function to reweighted rows."""

    n_components: int | None

    def run(self, data: Standardized, weights: Weights, last: float | None = None) -> Fit:
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

    def run(self, data: Standardized, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        X, Y, own, counts = data.whole()
        rows = weights.reweighted(X)
        K = self._kernel(rows)
        problem = Problem(self._candidates(last), leave_one_out=True, count_weights=False)
        solution = solve_kernel(K, Y, problem, own)
        assert solution.left_out is not None
        E, D = gradient_and_norm(
            self._kernel, rows, K, solution.coef, weights.matrix, sample_weight=own
        )
        squares = (solution.left_out**2).sum(axis=1)
        error = float(np.average(squares, weights=own)) / data.variance()
        ones = np.ones(len(Y))
        held_out = HeldOut(
            Y - solution.left_out,
            Y,
            ones if own is None else own,
            ones if counts is None else counts,
        )
        function = KernelFunctions(self._kernel, rows, own, solution)
        alpha = float(solution.alpha[0])
        return Fit(function, error, alpha, E, D / data.weight, lambda: held_out)

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
        data: Standardized,
        weights: Weights,
        features: Callable[[np.ndarray], np.ndarray],
        size: int,
    ) -> tuple[Solution, Moments]:
        """Return the ridge solution of features of reweighted rows, and their sums."""
        statistics = None
        for X, Y, own, _ in data.blocks(size):
            Z = features(weights.reweighted(X))
            if statistics is None:
                statistics = RidgeStatistics(Z.shape[1], Y.shape[1])
            statistics.add(Z, Y, own)
        assert statistics is not None
        solution = solve_ridge(statistics, self._problem)
        if not solution.trusted and Z.dtype == np.float32:
            warnings.warn(
                f"alpha={float(solution.alpha[0]):.3g} is below the rounding error of float32 "
                "features: derivatives are unreliable; use a larger alpha, or float64 rows.",
                UserWarning,
                stacklevel=8,
            )
        return solution, statistics.total()

    @staticmethod
    def _error(solution: Solution, data: Standardized) -> float:
        """Return the error that generalised cross-validation expects, over the variance."""
        # The constant is a degree of freedom as well, and a row is one row whatever its weight.
        share = (solution.degrees_of_freedom + 1) / data.n_rows
        left = np.maximum(1 - share, 1e-9)
        return float(np.sum(solution.residual / left**2)) / data.variance()

    @staticmethod
    def _dual(
        Y: np.ndarray, predicted: np.ndarray, own: np.ndarray | None, alpha: float
    ) -> np.ndarray:
        beta = (Y - predicted) / alpha
        return np.asarray(beta if own is None else beta * own[:, None])


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
        self.n_components = self._size

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return how far the features of rows are from their kernel, relatively."""
        rows = weights.reweighted(X)
        return compared(self._features.transform(rows), self._kernel(rows)).relative

    def run(self, data: Standardized, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        size = self._size
        solution, totals = self._solved(data, weights, self._features.transform, size)
        alpha, theta = float(solution.alpha[0]), solution.coef
        half = size // 2
        cosines, sines = theta[:half], theta[half:]
        frequencies = np.ascontiguousarray(self._features.frequencies_.T)
        sample = PredictedSample()
        E, moved = np.zeros(1), [np.zeros(1)] * theta.shape[1]
        for X, Y, own, counts in data.blocks(size):
            rows = weights.reweighted(X)
            Z = self._features.transform(rows)
            C, S = Z[:, :half], Z[:, half:]
            predicted = product_beside_scipy(Z, theta.astype(Z.dtype)) + solution.intercept
            sample.add(rows, predicted, Y, own, counts)
            beta = self._dual(Y, predicted, own, alpha).astype(Z.dtype)
            for k in range(theta.shape[1]):
                slope = C * sines[:, k].astype(Z.dtype) - S * cosines[:, k].astype(Z.dtype)
                gradients = product_beside_scipy(slope, frequencies.astype(Z.dtype))
                E = E + _squares(gradients, own, weights.matrix)
                pulled = product_beside_scipy(Z, beta[:, k, None] * rows, transpose=True)
                moved[k] = moved[k] + (
                    pulled[half:] * cosines[:, k, None] - pulled[:half] * sines[:, k, None]
                )
        total = np.sum(moved, axis=0)
        D = -frequencies.T @ total if weights.matrix else -np.sum(frequencies * total, axis=0)
        function = FourierFunctions(self._features, solution, totals)
        held_out = partial(sample.held_out, function.leverages)
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

    def run(self, data: Standardized, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        kernel, size, matrix = self._kernel, len(self._landmarks), weights.matrix
        places = weights.reweighted(self._landmarks)
        root = LandmarkRoot(kernel(places))
        solution, totals = self._solved(
            data, weights, lambda rows: root.features(kernel(rows, places)), size
        )
        alpha, coef = float(solution.alpha[0]), root.coefficients(solution.coef)
        E, D = np.zeros(1), -derivative_norm(kernel, places, None, coef, coef, matrix)
        sample = PredictedSample()
        for X, Y, own, counts in data.blocks(size):
            rows = weights.reweighted(X)
            predicted = kernel.matvec(rows, coef, places) + solution.intercept
            sample.add(rows, predicted, Y, own, counts)
            beta = self._dual(Y, predicted, own, alpha)
            weight = len(rows) if own is None else own.sum()
            E = E + weight * mean_squared_gradients(
                kernel, rows, places, coef, sample_weight=own, matrix=matrix
            )
            D = D + 2 * derivative_norm(kernel, rows, places, beta, coef, matrix=matrix)
        function = LandmarkFunctions(kernel, places, coef, solution, totals)
        held_out = partial(sample.held_out, function.leverages)
        error = self._error(solution, data)
        return Fit(function, error, alpha, E / data.weight, D / data.weight, held_out)


def _squares(gradients: np.ndarray, own: np.ndarray | None, matrix: bool) -> np.ndarray:
    """Return sums of squares, or of outer products, of gradients."""
    if own is not None:
        gradients = gradients * np.sqrt(own)[:, None].astype(gradients.dtype)
    if matrix:
        return product_beside_scipy(gradients, gradients, transpose=True).astype(float)
    return np.asarray(np.einsum("ij,ij->j", gradients, gradients).astype(float))
