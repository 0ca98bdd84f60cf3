"""One step of a machine that learns features: a fit with weights, its gradients and derivatives.

Three ways to the same: with the kernel matrix of all rows, with random Fourier features, and
with the kernel functions of some rows (Nyström). The last two pass over the rows twice and hold
no more than a block of them.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..features.approximation import compared
from ..features.fourier import RandomFourier
from ..kernels.derivatives import (
    derivative_norm,
    gradient_and_norm,
    mean_squared_gradients,
)
from ..ops.products import product_beside_scipy
from ..solvers import Problem, RidgeStatistics, solve_kernel, solve_primal
from ..solvers.posterior import cholesky
from .left_out import LeftOut, LeftOutSample

#: Raises the diagonal of the landmarks' kernel matrix where it cannot be decomposed.
JITTER = 1e-12


class Fit(NamedTuple):
    """What a step gives: predictions, how good they are, and what the next weights need."""

    predictor: Any
    error: float
    lam: float
    E: np.ndarray
    D: np.ndarray
    left_out: LeftOut


class KernelFunctions:
    """Predictions b + Σ_i c_i k(x, x_i) for reweighted rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n_rows, n_features)
        The rows of the kernel functions, reweighted.
    coef : array of shape (n_rows, n_targets)
        Their coefficients.
    intercept : array of shape (n_targets,)
        The constants b.
    """

    def __init__(self, kernel, rows, coef, intercept):
        self.kernel, self.rows, self.coef, self.intercept = kernel, rows, coef, intercept

    def __call__(self, X):
        """Return predictions for reweighted rows."""
        return self.kernel.matvec(X, self.coef, self.rows) + self.intercept


class FourierFunctions:
    """Predictions from random Fourier features of reweighted rows.

    Parameters
    ----------
    features : RandomFourier
        The features.
    coef : array of shape (n_components, n_targets)
        Their coefficients.
    intercept : array of shape (n_targets,)
        The constants.
    """

    def __init__(self, features, coef, intercept):
        self.features, self.coef, self.intercept = features, coef, intercept

    def __call__(self, X):
        """Return predictions for reweighted rows."""
        Z = self.features.transform(X)
        return np.asarray(Z @ self.coef.astype(Z.dtype), dtype=float) + self.intercept


class ExactFit:
    """A step with the kernel matrix of all rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel of reweighted rows.
    lams : array
        The ridge parameter, or candidates, of which leave-one-out chooses.
    """

    def __init__(self, kernel, lams):
        self._kernel, self._lams = kernel, np.atleast_1d(lams)
        self.n_components = None

    def approximation_error(self, X, weights):
        """Return nothing: the kernel is exact."""

    def run(self, data, weights, last=None):
        """Return the fit of the rows of ``data`` with weights of the columns.

        Of the candidates, only the ``last`` choice and its neighbours are tried, if it is given.
        """
        X, Y, row_weights = data.whole()
        rows = weights.reweighted(X)
        K = self._kernel(rows)
        solution = solve_kernel(K, Y, self._candidates(last), row_weights)
        what = self._kernel, rows, K, solution.coef, weights.matrix
        E, D = gradient_and_norm(*what, sample_weight=row_weights)
        squares = solution.left_out**2
        error = float(np.average(squares.sum(axis=1), weights=row_weights)) / data.variance()
        predictor = KernelFunctions(self._kernel, rows, solution.coef, solution.intercept)
        known = np.ones(len(Y)) if row_weights is None else row_weights
        left_out = LeftOut(Y - solution.left_out, Y, known)
        return Fit(predictor, error, solution.lam, E, D / data.weight, left_out)

    def _candidates(self, last):
        if last is None or len(self._lams) == 1:
            return self._lams
        k = int(np.searchsorted(self._lams, last))
        return self._lams[max(0, k - 1) : k + 2]


class _TwoPasses:
    """A step that looks at the rows twice: for the coefficients, and for the derivatives."""

    def __init__(self, kernel, lams):
        self._kernel = kernel
        lams = np.atleast_1d(lams)
        self._problem = Problem(lam=lams, above_rounding=True, count_weights=False)

    def _solved(self, data, weights, features, size):
        """Return the ridge solution of features of reweighted rows."""
        statistics = None
        for X, Y, row_weights in data.blocks(size):
            Z = features(weights.reweighted(X))
            if statistics is None:
                statistics = RidgeStatistics(Z.shape[1], Y.shape[1])
            statistics.add(Z, Y, row_weights)
        solution = solve_primal(statistics, self._problem)
        if not solution.trusted and Z.dtype == np.float32:
            warnings.warn(
                f"ridge={float(solution.lam[0]):.3g} is lost in the rounding of float32 "
                "features, and so are the derivatives: give a larger one, or rows in float64.",
                UserWarning,
                stacklevel=8,
            )
        return solution

    @staticmethod
    def _errors(solution, data, sample):
        """Return the error that generalised cross-validation expects, over the variance.

        And what the rows of a sample would be predicted as if they had been left out.
        """
        # The constant is a degree of freedom as well, and a row is one row whatever its weight.
        share = (solution.degrees_of_freedom + 1) / data.n_rows
        left = np.maximum(1 - share, 1e-9)
        error = float(np.sum(solution.residual / left**2)) / data.variance()
        return error, sample.rows(float(np.max(share)))

    @staticmethod
    def _dual(Y, predicted, row_weights, lam):
        beta = (Y - predicted) / lam
        return beta if row_weights is None else beta * row_weights[:, None]


class FourierFit(_TwoPasses):
    """A step with random Fourier features of a Gaussian kernel.

    Parameters
    ----------
    kernel : Gaussian
        The kernel.
    lams : array
        The ridge parameter; several leave the choice to generalised cross-validation.
    n_features, n_components, seed : int
        Columns of the rows, features, and their seed.
    """

    def __init__(self, kernel, lams, n_features, n_components, seed):
        super().__init__(kernel, lams)
        size = n_components + n_components % 2
        features = RandomFourier(kernel, n_components=size, random_state=seed)
        self._features = features.fit(np.zeros((1, n_features)))
        self.n_components = size

    def approximation_error(self, X, weights):
        """Return how far the features of rows are from their kernel, relatively."""
        rows = weights.reweighted(X)
        return compared(self._features.transform(rows), self._kernel(rows)).relative

    def run(self, data, weights, last=None):
        """Return the fit of the rows of ``data`` with weights of the columns."""
        size = self.n_components
        solution = self._solved(data, weights, self._features.transform, size)
        lam, theta = float(solution.lam[0]), solution.coef
        half = size // 2
        cosines, sines = theta[:half], theta[half:]
        frequencies = np.ascontiguousarray(self._features.weights_.T)
        E, moved, sample = 0.0, [0.0] * theta.shape[1], LeftOutSample()
        for X, Y, row_weights in data.blocks(size):
            rows = weights.reweighted(X)
            Z = self._features.transform(rows)
            C, S = Z[:, :half], Z[:, half:]
            predicted = product_beside_scipy(Z, theta.astype(Z.dtype)) + solution.intercept
            sample.add(predicted, Y, row_weights)
            beta = self._dual(Y, predicted, row_weights, lam).astype(Z.dtype)
            for k in range(theta.shape[1]):
                slope = C * sines[:, k].astype(Z.dtype) - S * cosines[:, k].astype(Z.dtype)
                gradients = product_beside_scipy(slope, frequencies.astype(Z.dtype))
                E = E + _squares(gradients, row_weights, weights.matrix)
                pulled = product_beside_scipy(Z, beta[:, k, None] * rows, transpose=True)
                moved[k] = moved[k] + (
                    pulled[half:] * cosines[:, k, None] - pulled[:half] * sines[:, k, None]
                )
        total = sum(moved)
        D = -frequencies.T @ total if weights.matrix else -np.sum(frequencies * total, axis=0)
        predictor = FourierFunctions(self._features, theta, solution.intercept)
        error, left_out = self._errors(solution, data, sample)
        return Fit(predictor, error, lam, E / data.weight, D / data.weight, left_out)


class NystromFit(_TwoPasses):
    """A step with the kernel functions of some rows, the landmarks.

    Parameters
    ----------
    kernel : Kernel
        The kernel of reweighted rows.
    lams : array
        The ridge parameter; several leave the choice to generalised cross-validation.
    landmarks : array of shape (n_landmarks, n_features)
        The rows, before weights.
    """

    def __init__(self, kernel, lams, landmarks):
        super().__init__(kernel, lams)
        self._landmarks = landmarks
        self.n_components = len(landmarks)

    def approximation_error(self, X, weights):
        """Return how far the features of rows are from their kernel, relatively."""
        rows = weights.reweighted(X)
        return compared(self._at(weights)[2](rows), self._kernel(rows)).relative

    def _at(self, weights):
        """Return the reweighted landmarks, the root of their kernel matrix, and the features."""
        places = weights.reweighted(self._landmarks)
        root = cholesky(self._kernel(places), 0.0, JITTER)

        def features(rows):
            values = self._kernel(rows, places).astype(float)
            return scipy.linalg.solve_triangular(root, values.T, lower=True).T

        return places, root, features

    def run(self, data, weights, last=None):
        """Return the fit of the rows of ``data`` with weights of the columns."""
        kernel, size = self._kernel, self.n_components
        places, root, features = self._at(weights)
        solution = self._solved(data, weights, features, size)
        lam = float(solution.lam[0])
        coef = scipy.linalg.solve_triangular(root, solution.coef, lower=True, trans=1)
        E, D = 0.0, -derivative_norm(kernel, places, None, coef, coef, weights.matrix)
        sample = LeftOutSample()
        for X, Y, row_weights in data.blocks(size):
            rows = weights.reweighted(X)
            predicted = kernel.matvec(rows, coef, places) + solution.intercept
            sample.add(predicted, Y, row_weights)
            beta = self._dual(Y, predicted, row_weights, lam)
            what, own = (kernel, rows, places), {"matrix": weights.matrix}
            weight = len(rows) if row_weights is None else row_weights.sum()
            mean = mean_squared_gradients(*what, coef, sample_weight=row_weights, **own)
            E = E + weight * mean
            D = D + 2 * derivative_norm(*what, beta, coef, **own)
        predictor = KernelFunctions(kernel, places, coef, solution.intercept)
        error, left_out = self._errors(solution, data, sample)
        return Fit(predictor, error, lam, E / data.weight, D / data.weight, left_out)


def _squares(gradients, row_weights, matrix):
    if row_weights is not None:
        gradients = gradients * np.sqrt(row_weights)[:, None].astype(gradients.dtype)
    if matrix:
        return product_beside_scipy(gradients, gradients, transpose=True).astype(float)
    return np.einsum("ij,ij->j", gradients, gradients).astype(float)
