"""One trial of the search: a kernel, a metric and a ridge parameter, fitted and held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import clone

from ...engine.config import matrix_memory
from ...engine.symmetric import SymmetricTiles
from ...kernels import Kernel
from ...kernels.derivatives import has_slopes, mean_squared_gradients
from ...kernels.single_precision import float32_matrix, float32_tiles
from ...solvers.conjugate_gradients import Iteration, KernelSystem
from ...solvers.pivoted_cholesky import pivoted_cholesky
from ...solvers.semidefinite import root_of
from ..feature_learning.weights import ColumnWeights, Metric, Weights

#: Rows from which on conjugate gradients for several ridge parameters at once are faster than as
#: many Cholesky decompositions.
ITERATIVE_ROWS = 600
#: Rows whose gradients are averaged.
GRADIENT_ROWS = 1500
#: What every direction keeps of the largest one's weight.
FLOOR = 1e-3
#: The range of ridge parameters, and the factor between neighbours.
SMALLEST, LARGEST, STEP = 1e-7, 30.0, 10**0.5


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
    error : float
        Squared error of held-out rows over their variance.
    kernel : Kernel or None
        The kernel with its lengthscale, once fitted.
    coef : array or None
        Its coefficients, once fitted.
    """

    family: Kernel
    encoding: str
    factor: float = 1.0
    alpha: float = 1e-2
    weights: Weights | None = None
    error: float = np.inf
    kernel: Kernel | None = None
    coef: np.ndarray | None = None

    @property
    def metric(self) -> str:
        """What was learnt: ``"none"``, ``"weights"`` or ``"matrix"``."""
        if self.weights is None:
            return "none"
        return "matrix" if self.weights.matrix else "weights"


class HeldOutData:
    """Rows to learn from and held-out rows, of one encoding.

    Parameters
    ----------
    X, Y : arrays of shape (n_rows, n_features) and (n_rows, n_targets)
        The learning rows, then the held-out ones.
    n_learn : int
        How many are learnt from.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, n_learn: int) -> None:
        self.X, self.Y, self.n_learn = X, Y, n_learn
        held = Y[n_learn:]
        self.variance = max(float(((held - held.mean(axis=0)) ** 2).mean()), 1e-300)

    def rows(self, weights: Weights | None) -> np.ndarray:
        """Return all rows as a metric sees them."""
        return self.X if weights is None else weights.reweighted(self.X)

    def fitted(self, trial: Trial, seed: int) -> Trial:
        """Return a trial with the best of some ridge parameters about its own."""
        rows = self.rows(trial.weights)
        sample = rows[: min(self.n_learn, 1000)]
        unit = clone(trial.family).set_params(lengthscale="median").fitted_to(sample)
        scale = float(unit.get_params(deep=False)["lengthscale"]) * trial.factor
        kernel = clone(trial.family).set_params(lengthscale=scale)
        solve = self._iterative if self.n_learn > ITERATIVE_ROWS else self._direct
        error, alpha, coef = solve(kernel, rows, trial.alpha, seed, trial.weights is None)
        return replace(trial, alpha=alpha, error=error / self.variance, kernel=kernel, coef=coef)

    def _direct(
        self, kernel: Kernel, rows: np.ndarray, alpha: float, seed: int, coarse: bool
    ) -> tuple[float, float, np.ndarray]:
        n = self.n_learn
        K = float32_matrix(kernel, rows[:n]).astype(float)
        across = float32_matrix(kernel, rows[n:], rows[:n]).astype(float)
        mean = self.Y[:n].mean(axis=0)
        right = self.Y[:n] - mean
        seen: dict[float, tuple[float, np.ndarray]] = {}

        def at(value: float) -> float:
            if value not in seen:
                A = K.copy(order="F")
                A[np.diag_indices_from(A)] += value
                factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
                if failed:
                    seen[value] = np.inf, right
                else:
                    coef, _ = scipy.linalg.lapack.dpotrs(factor, right, lower=1)
                    errors = across @ coef + mean - self.Y[n:]
                    seen[value] = float((errors**2).mean()), coef
            return seen[value][0]

        best = _descend(at, alpha)
        return seen[best][0], best, seen[best][1]

    def _iterative(
        self, kernel: Kernel, rows: np.ndarray, alpha: float, seed: int, coarse: bool
    ) -> tuple[float, float, np.ndarray]:
        n_all, n = len(rows), self.n_learn
        matrix = SymmetricTiles(float32_tiles(kernel, rows), n_all, matrix_memory())
        low_rank = pivoted_cholesky(
            lambda at: float32_matrix(kernel, rows, rows[at]),
            np.asarray(kernel.diag(rows), dtype=float),
            min(1000, max(50, n // 10)),
            np.random.default_rng(seed),
        )
        weights = np.ones(n_all)
        weights[n:] = 0.0
        system = KernelSystem(matrix, low_rank, self.Y, weights)
        # Columns share the products: many candidates cost little more than one.
        factors = (1e-2, 1e-1, 1.0, 1e1, 1e2) if coarse else (1 / STEP, 1.0, STEP)
        alphas = {float(np.clip(alpha * factor, SMALLEST, LARGEST)) for factor in factors}
        found = system.solve(sorted(alphas), Iteration(1e-4, 40))
        best = min(found, key=lambda one: min(one.errors))
        return min(best.errors), best.alpha, best.coef[:n]

    def updated(self, trial: Trial, matrix: bool, generator: np.random.Generator) -> Trial | None:
        """Return a trial whose metric comes from the gradients of this one's function."""
        kernel, coef = trial.kernel, trial.coef
        if kernel is None or coef is None or not has_slopes(kernel, matrix):
            return None
        n = self.n_learn
        rows = np.asarray(self.rows(trial.weights)[:n], dtype=float)
        some = generator.choice(n, min(n, GRADIENT_ROWS), replace=False)
        E = mean_squared_gradients(kernel, rows[some], rows, coef, matrix=matrix)
        weights = learnt_metric(E, trial.weights, matrix)
        return replace(trial, weights=weights, kernel=None, coef=None, error=np.inf)


def learnt_metric(E: np.ndarray, before: Weights | None, matrix: bool) -> Weights:
    """Return the metric √A of mean squared gradients A by the original columns.

    It is normalised to the trace d, and no direction has less than a thousandth of the largest.

    Parameters
    ----------
    E : array of shape (d,) or (d, d)
        Mean squared gradients by reweighted rows.
    before : Weights or None
        What they were reweighted with.
    matrix : bool
        Whether the metric is a matrix.

    Examples
    --------
    >>> learnt_metric(np.asarray([4.0, 0.0]), None, False).value.round(3)
    array([1.998, 0.002])
    """
    d = len(E)
    if not matrix:
        A = E if before is None else E * before.value
        M = np.sqrt(np.maximum(A, 0.0))
        M = np.maximum(M / max(float(M.max()), 1e-300), FLOOR)
        return ColumnWeights(M * (d / M.sum()))
    if before is not None:
        root = root_of(before.value) if before.matrix else np.diag(np.sqrt(before.value))
        E = root @ E @ root
    M = root_of((E + E.T) / 2)
    M = M / max(float(np.abs(M).max()), 1e-300) + FLOOR * np.eye(d)
    return Metric(M * (d / np.trace(M)))


def _descend(at: Any, start: float) -> float:
    """Return the best ridge parameter, walking downhill by factors of ten and then of √10."""
    best = start
    for step in (10.0, STEP):
        for direction in (step, 1 / step):
            moved = False
            while SMALLEST <= best * direction <= LARGEST and at(best * direction) < at(best):
                best, moved = best * direction, True
            if moved:
                break
    return best
