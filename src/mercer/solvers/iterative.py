"""Kernel ridge regression with all rows as centres, by conjugate gradients and held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._registry import storable
from ..engine.config import matrix_memory
from ..engine.symmetric import SymmetricTiles
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix, float32_tiles
from .conjugate_gradients import Iteration, IterativeSolution, KernelSystem
from .dual import solve_kernel
from .pivoted_cholesky import LowRank, pivoted_cholesky
from .problem import Problem, Solution

#: The share of rows that are held out, and how many at most.
SHARE, MOST_HELD_OUT = 0.1, 4000
#: Rows of a sample on which a grid of ridge parameters is narrowed down.
SAMPLE_ROWS = 2000
#: Candidates that are solved at once.
FEW = 5
#: Columns of the preconditioner, at most, and rows for each of them.
RANK, ROWS_EACH = 1500, 12
#: The share of rows that an interval should cover, and its half-width in standard deviations.
COVERED, HALF_WIDTH = 0.95, 1.96


@storable
class LowRankPosterior:
    """The quadratic form of a posterior from landmarks, and the diagonal that they miss.

    Parameters
    ----------
    low_rank : LowRank
        The factor of the training rows' kernel matrix.
    weights : array of shape (n_rows,) or None
        Their weights.
    alpha : float
        The ridge parameter.
    """

    def __init__(self, low_rank: LowRank, weights: np.ndarray | None, alpha: float) -> None:
        F, self._alpha = low_rank.factor, alpha
        self._pivots = low_rank.pivots
        self._root = np.tril(F[self._pivots])
        gram = F.T @ (F if weights is None else weights[:, None] * F)
        gram[np.diag_indices_from(gram)] += alpha
        self._factor = scipy.linalg.cholesky(gram, lower=True, overwrite_a=True)

    def quadratic(self, values: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return the form of rows, from their kernel with training rows and with themselves."""
        part = np.asarray(values[:, self._pivots], dtype=float).T
        features = scipy.linalg.solve_triangular(self._root, part, lower=True)
        half = scipy.linalg.solve_triangular(self._factor, features, lower=True)
        missing = np.maximum(own - np.einsum("ij,ij->j", features, features), 0.0)
        return np.asarray(missing / self._alpha + np.einsum("ij,ij->j", half, half))


@dataclass(frozen=True)
class IterativeFit:
    """A solution, the held-out rows it was chosen on, and its posterior.

    Attributes
    ----------
    solution : Solution
        The coefficients of all rows.
    places : array of int
        The rows that were held out while alpha was chosen.
    held_out : array of shape (n_held_out, n_targets)
        Predictions for them.
    posterior : LowRankPosterior
        Of the coefficients.
    iterations : int
        Iterations of both solves.
    residual : float
        The relative residual of the solution.
    stopped : str
        Why iterations stopped while rows were held out.
    kept_bytes, kept_share : int, float
        The kernel matrix that was kept in memory, and its share of the whole.
    """

    solution: Solution
    places: np.ndarray
    held_out: np.ndarray
    posterior: LowRankPosterior
    iterations: int
    residual: float
    stopped: str
    kept_bytes: int
    kept_share: float


def solve_kernel_rows(
    kernel: Kernel,
    rows: np.ndarray,
    Y: np.ndarray,
    problem: Problem,
    weights: np.ndarray | None = None,
    seed: int = 0,
    deadline: float = np.inf,
    note: Callable[[int, float], None] | None = None,
) -> IterativeFit:
    """Return kernel ridge regression with all rows as centres.

    A tenth of the rows is held out while candidates for alpha are solved together, until the
    error on them no longer falls; then the best one is solved with all rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with numbers for parameters.
    rows, Y : arrays of shape (n_rows, n_features) and (n_rows, n_targets)
        Rows and targets.
    problem : Problem
        What is asked; a constant is always fitted.
    weights : array of shape (n_rows,), default=None
        Positive weights of the rows.
    seed : int, default=0
        Draws held-out rows and landmarks.
    deadline : float, default=inf
        Value of ``time.perf_counter()`` after which no iteration starts.
    note : callable, default=None
        Called as ``note(n_iterations, residual)`` after every iteration.

    Examples
    --------
    >>> from mercer.kernels import Laplace
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> fit = solve_kernel_rows(Laplace(), X, X[:, :1], Problem(1e-3))
    >>> fit.solution.method, len(fit.places), bool(fit.solution.expected[0] < 1e-3)
    ('iterative', 30, True)
    """
    start = time.perf_counter()
    generator = np.random.default_rng(seed)
    n = len(rows)
    places = np.sort(generator.permutation(n)[: int(min(max(1, SHARE * n), MOST_HELD_OUT))])
    alphas = _few_candidates(kernel, rows, Y, problem, weights, generator)
    matrix = SymmetricTiles(float32_tiles(kernel, rows), n, matrix_memory())
    low_rank = pivoted_cholesky(
        lambda at: float32_matrix(kernel, rows, rows[at]),
        np.asarray(kernel.diag(rows), dtype=float),
        min(RANK, max(50, n // ROWS_EACH)),
        generator,
    )
    learning = np.ones(n) if weights is None else weights.copy()
    learning[places] = 0.0
    iteration = Iteration(tolerance=1e-5, most=200, deadline=deadline)
    found = KernelSystem(matrix, low_rank, Y, learning).solve(alphas, iteration, note=note)
    own = np.ones(len(places)) if weights is None else weights[places]
    errors = [_errors(one, Y[places], own) for one in found]
    variance = np.maximum(Y.var(axis=0), 1e-300)
    best = int(np.argmin([(error / variance).sum() for error in errors]))
    chosen = found[best]
    final = Iteration(max(chosen.residual, 1e-6), max(20, 2 * chosen.n_iterations), deadline)
    whole = KernelSystem(matrix, low_rank, Y, weights)
    last = whole.solve([chosen.alpha], final, start=chosen.coef, note=note)[0]
    if last.stopped in ("time", "interrupted") and last.residual > 2 * chosen.residual:
        last = chosen
    posterior = LowRankPosterior(low_rank, weights, chosen.alpha)
    form = posterior.quadratic(
        float32_matrix(kernel, rows[places], rows), np.asarray(kernel.diag(rows[places]))
    )
    # A landmark knows its own place, as no new row does.
    new = ~np.isin(places, low_rank.pivots)
    if not new.any():
        new[:] = True
    solution = Solution(
        coef=last.coef,
        intercept=last.intercept,
        alpha=np.full(Y.shape[1], chosen.alpha),
        method="iterative",
        criterion="held_out" if len(alphas) > 1 else "given",
        alphas=np.asarray([one.alpha for one in found]),
        scores=np.asarray(errors),
        degrees_of_freedom=np.full(Y.shape[1], last.degrees_of_freedom),
        condition=np.nan,
        residual=errors[best],
        expected=errors[best],
        expected_by="held_out",
        noise=_calibrated((chosen.held_out - Y[places])[new], form[new]),
        trusted=True,
        seconds=time.perf_counter() - start,
    )
    return IterativeFit(
        solution,
        places,
        chosen.held_out,
        posterior,
        chosen.n_iterations + last.n_iterations,
        last.residual,
        chosen.stopped if last is not chosen else last.stopped,
        matrix.kept_bytes,
        matrix.kept_share,
    )


def _errors(one: IterativeSolution, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean squared error of held-out rows, of every target."""
    return np.asarray(np.average((one.held_out - Y) ** 2, axis=0, weights=weights))


def _calibrated(residuals: np.ndarray, form: np.ndarray) -> np.ndarray:
    """Return the noise with which intervals of 1.96 deviations cover 95 % of held-out rows."""
    ratios = np.abs(residuals) / np.sqrt(1 + form)[:, None]
    return np.asarray((np.quantile(ratios, COVERED, axis=0) / HALF_WIDTH) ** 2)


def _few_candidates(
    kernel: Kernel,
    rows: np.ndarray,
    Y: np.ndarray,
    problem: Problem,
    weights: np.ndarray | None,
    generator: np.random.Generator,
) -> list[float]:
    """Return the candidates for alpha, narrowed down on a sample where there are many."""
    given = None if problem.alpha is None else np.unique(np.asarray(problem.alpha, dtype=float))
    if given is not None and len(given) <= FEW:
        return [float(alpha) for alpha in given]
    some = generator.choice(len(rows), min(len(rows), SAMPLE_ROWS), replace=False)
    own = None if weights is None else weights[some]
    asked = Problem(problem.alpha, leave_one_out=True)
    alpha = float(solve_kernel(kernel(rows[some]), Y[some], asked, own).alpha[0])
    if given is None:
        return [alpha / 10**0.5, alpha, alpha * 10**0.5]
    near = np.argsort(np.abs(np.log(given / alpha)), kind="stable")[:3]
    return [float(value) for value in np.sort(given[near])]
