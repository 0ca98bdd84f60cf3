"""One trial of the search: a kernel, a metric and a ridge parameter, fitted and held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._array import as_floating, beside, is_numpy, take_rows, to_numpy
from ..._devices import algebra_of
from ...engine.config import matrix_memory
from ...engine.symmetric import SymmetricTiles
from ...features.nystrom.pivoted_cholesky import pivoted_cholesky
from ...kernels import Kernel
from ...kernels.derivatives import has_slopes, mean_squared_gradients
from ...kernels.single_precision import float32_matrix, float32_tiles
from ...solvers import Problem, RidgeStatistics, solve_ridge
from ...solvers.conjugate_gradients import Iteration
from ...solvers.dual import kernel_coefficients
from ...solvers.iterative import steadiest
from ...solvers.kernel_system import KernelSystem
from ...solvers.semidefinite import root_of
from ..feature_learning.weights import ColumnWeights, Metric, Weights

#: Rows whose gradients are averaged.
GRADIENT_ROWS = 1500
#: What every direction keeps of the largest one's weight.
FLOOR = 1e-3
#: The range of ridge parameters, and the factors that are tried about the last one: many before
#: anything is known, few later on.
SMALLEST, LARGEST = 1e-7, 30.0
COARSE, FINE = (1e-2, 1e-1, 1.0, 1e1, 1e2), (10**-0.5, 1.0, 10**0.5)
#: Rows up to which a few factorisations are faster than iterations.
DIRECT_ROWS = 2000
#: The same on an accelerator, whose factorisations are as fast as its products, while an iteration
#: costs the time to begin dozens of small computations.
DEVICE_DIRECT_ROWS = 12_000
#: Rows whose median distance is the unit of lengthscales.
MEDIAN_ROWS = 1000
#: Landmarks of the preconditioner, at most, and rows for each of them.
RANK, ROWS_EACH = 600, 12
#: When the fit of a trial stops.
ITERATION = Iteration(1e-4, 60)


@dataclass(frozen=True)
class Trial:
    """What is tried, and how well it did.

    Attributes
    ----------
    family : Kernel
        The kernel; its lengthscale is ``factor`` times the median distance.
    encoding : str
        The name of the encoding of the columns.
    factor : float
        Lengthscale over the median distance of the reweighted rows.
    alpha : float
        The ridge parameter.
    weights : Weights or None
        The learnt metric.
    power : float
        The power of the mean squared gradients that the metric is made of.
    error : float
        Squared error of held-out rows over their variance.
    kernel : Kernel or None
        The kernel with its lengthscale, once fitted.
    coef : array or None
        Its coefficients, once fitted.
    coarse : bool
        Whether nothing is known of the ridge parameter yet.
    """

    family: Kernel
    encoding: str
    factor: float = 1.0
    alpha: float = 1e-2
    weights: Weights | None = None
    power: float = 0.5
    error: float = np.inf
    kernel: Kernel | None = None
    coef: np.ndarray | None = None
    coarse: bool = True

    @property
    def metric(self) -> str:
        """What was learnt: ``"none"``, ``"weights"`` or ``"matrix"``."""
        if self.weights is None:
            return "none"
        return "matrix" if self.weights.matrix else "weights"


class HeldOutData:
    """Held-out rows and rows to learn from, of one encoding.

    Parameters
    ----------
    X, Y : arrays of shape (n_rows, n_features) and (n_rows, n_targets)
        The held-out rows, then those to learn from: rows of any library, whose kernel matrices
        are made and solved where they are, and targets of NumPy.
    n_held : int
        How many are held out.
    weights : array of shape (n_rows,), default=None
        Sample weights.
    """

    n_held: int
    weights: np.ndarray | None

    def __init__(
        self, X: Any, Y: np.ndarray, n_held: int, weights: np.ndarray | None = None
    ) -> None:
        self.X, self.Y, self.n_held, self.weights = X, Y, n_held, weights
        self._most_direct = DIRECT_ROWS if is_numpy(X) else DEVICE_DIRECT_ROWS
        own = None if weights is None else weights[:n_held]
        held = Y[:n_held] - np.average(Y[:n_held], axis=0, weights=own)
        self.variance: float = max(float(np.average((held**2).mean(axis=1), weights=own)), 1e-300)

    def rows(self, weights: Weights | None) -> Any:
        """Return all rows as a metric sees them."""
        return self.X if weights is None else weights.reweighted(self.X)

    def fitted(self, trial: Trial, seed: int) -> Trial:
        """Return a trial with the best of some ridge parameters about its own.

        Parameters
        ----------
        trial : Trial
            What to try.
        seed : int
            Draws the landmarks of the preconditioner.
        """
        rows, n_held = self.rows(trial.weights), self.n_held
        n_rows = rows.shape[0]
        sample = rows[n_held : min(n_held + MEDIAN_ROWS, n_rows), :]
        unit = clone(trial.family).set_params(lengthscale="median").fitted_to(sample)
        scale = float(unit.get_params(deep=False)["lengthscale"]) * trial.factor
        kernel = clone(trial.family).set_params(lengthscale=scale)
        factors = COARSE if trial.coarse else FINE
        unique = {float(np.clip(trial.alpha * factor, SMALLEST, LARGEST)) for factor in factors}
        alphas = sorted(unique)
        solve = self._directly if n_rows - n_held <= self._most_direct else self._iteratively
        alpha, error, coef = solve(kernel, rows, alphas, seed)
        error /= self.variance
        return replace(trial, alpha=alpha, error=error, kernel=kernel, coef=coef, coarse=False)

    def linear_error(self) -> float:
        """Return the held-out error of a linear model."""
        X, n_held = to_numpy(self.X).astype(float), self.n_held
        statistics = RidgeStatistics(X.shape[1], self.Y.shape[1])
        weights = None if self.weights is None else self.weights[n_held:]
        statistics.add(X[n_held:], self.Y[n_held:], weights)
        solution = solve_ridge(statistics, Problem())
        return self._error(X[:n_held] @ solution.coef + solution.intercept) / self.variance

    def _error(self, predicted: np.ndarray) -> float:
        """Return the mean squared error of predictions for the held-out rows."""
        squares = ((predicted - self.Y[: self.n_held]) ** 2).mean(axis=1)
        own = None if self.weights is None else self.weights[: self.n_held]
        return float(np.average(squares, weights=own))

    def _directly(
        self, kernel: Kernel, rows: Any, alphas: list[float], seed: int
    ) -> tuple[float, float, np.ndarray]:
        """Return the best alpha, its held-out error and its coefficients, by factorisations."""
        held, learning = rows[: self.n_held, :], rows[self.n_held :, :]
        weights = None if self.weights is None else self.weights[self.n_held :]
        K = as_floating(float32_matrix(kernel, learning), "float64")
        seen = float32_matrix(kernel, held, learning)
        found = kernel_coefficients(K, self.Y[self.n_held :], alphas, weights)
        columns = beside(seen, np.hstack([coef for coef, _ in found]).astype(np.float32))
        predicted = np.hsplit(to_numpy(algebra_of(seen).product(seen, columns)), len(found))
        errors = [
            self._error(values + constant)
            for values, (_, constant) in zip(predicted, found, strict=True)
        ]
        best = steadiest(errors)
        return alphas[best], errors[best], found[best][0]

    def _iteratively(
        self, kernel: Kernel, rows: Any, alphas: list[float], seed: int
    ) -> tuple[float, float, np.ndarray]:
        """Return the same by conjugate gradients; columns of all alphas share the products."""
        low_rank = pivoted_cholesky(
            lambda at: float32_matrix(kernel, rows, take_rows(rows, at)),
            np.asarray(to_numpy(kernel.diag(rows)), dtype=float),
            min(RANK, max(50, rows.shape[0] // ROWS_EACH)),
            np.random.default_rng(seed),
        )
        room = matrix_memory(rows)
        matrix = SymmetricTiles(float32_tiles(kernel, rows), rows.shape[0], room, rows)
        system = KernelSystem(matrix, low_rank, beside(rows, self.Y), self.weights, self.n_held)
        found = system.solve(alphas, ITERATION)
        best = found[steadiest([min(one.errors) for one in found])]
        return best.alpha, min(best.errors), to_numpy(best.coef)[self.n_held :]

    def updated(
        self, trial: Trial, matrix: bool, power: float, generator: np.random.Generator
    ) -> Trial | None:
        """Return a trial whose metric comes from the gradients of this one's function.

        Parameters
        ----------
        trial : Trial
            A fitted one.
        matrix : bool
            Whether to learn a matrix, and not a weight for each column.
        power : float
            The power of the mean squared gradients.
        generator : numpy.random.Generator
            Draws the rows whose gradients are averaged.
        """
        kernel, coef = trial.kernel, trial.coef
        if kernel is None or coef is None or not has_slopes(kernel, matrix):
            return None
        rows = as_floating(self.rows(trial.weights)[self.n_held :, :], "float64")
        n_rows = rows.shape[0]
        some = generator.choice(n_rows, min(n_rows, GRADIENT_ROWS), replace=False)
        picked, columns = take_rows(rows, some), beside(rows, coef)
        E = to_numpy(mean_squared_gradients(kernel, picked, rows, columns, matrix=matrix))
        weights = learnt_metric(E, trial.weights, matrix, power)
        return replace(trial, weights=weights, power=power, kernel=None, coef=None, error=np.inf)


def learnt_metric(E: np.ndarray, before: Weights | None, matrix: bool, power: float) -> Weights:
    """Return the metric Aᵖ of mean squared gradients A by the original columns.

    It is normalised to the trace d, and no direction has less than a thousandth of the largest.
    The power 1 drops columns faster than 1/2 does, which suits functions of few columns.

    Parameters
    ----------
    E : array of shape (d,) or (d, d)
        Mean squared gradients by reweighted rows.
    before : Weights or None
        What they were reweighted with.
    matrix : bool
        Whether the metric is a matrix.
    power : float
        The power p.

    Examples
    --------
    >>> learnt_metric(np.asarray([4.0, 0.0]), None, False, 0.5).value.round(3)
    array([1.998, 0.002])
    """
    d = len(E)
    if not matrix:
        A = E if before is None else E * before.value
        M = np.maximum(A, 0.0) ** power
        M = np.maximum(M / max(float(M.max()), 1e-300), FLOOR)
        return ColumnWeights(M * (d / M.sum()))
    if before is not None:
        root = root_of(before.value) if before.matrix else np.diag(np.sqrt(before.value))
        E = root @ E @ root
    values, vectors = np.linalg.eigh((E + E.T) / 2)
    M = (vectors * np.maximum(values, 0.0) ** power) @ vectors.T
    M = M / max(float(np.abs(M).max()), 1e-300) + FLOOR * np.eye(d)
    return Metric(M * (d / np.trace(M)))
