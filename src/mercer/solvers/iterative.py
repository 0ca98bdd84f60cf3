"""Kernel ridge regression by conjugate gradients: all rows, or landmarks, as centres.

A part of the rows is held out while candidates for alpha are solved together, until the error on
them no longer falls; then the best one is solved with all rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import beside, is_numpy, namespace, to_numpy
from ..engine.config import matrix_memory
from ..engine.panels import RowPanels
from ..engine.symmetric import SymmetricTiles
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix, float32_tiles, plain_tiles
from .conjugate_gradients import Iteration
from .dual import solve_kernel
from .kernel_system import IterativeSolution, KernelSystem
from .landmark_system import LandmarkSystem
from .low_rank_posterior import LowRankPosterior, posterior_of_factor, posterior_of_rows
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
#: Iterations, at most: of the candidates, and of a solve to a given residual.
MOST_ITERATIONS, MOST_TO_RESIDUAL = 200, 1000
#: Residual at which candidates count as solved, whatever the error on held-out rows does.
CANDIDATE_RESIDUAL = 1e-5
#: Below this tolerance float32 tiles cannot help, and float64 ones take their place.
SINGLE = 1e-7
#: The share of rows that an interval should cover, and its half-width in standard deviations.
COVERED, HALF_WIDTH = 0.95, 1.96


@dataclass(frozen=True)
class IterativeOptions:
    """How a system of kernel functions is solved.

    Attributes
    ----------
    n_centres : int or None
        Rows that are drawn as centres; ``None`` means all.
    tolerance : float or None
        Relative residual of the solution; ``None`` stops when the held-out error has settled.
    seed : int
        Draws held-out rows, centres and the preconditioner's landmarks.
    deadline : float
        Value of ``time.perf_counter()`` after which no iteration starts.
    note : callable or None
        Called as ``note(n_iterations, residual)`` after every iteration.

    Examples
    --------
    >>> IterativeOptions(n_centres=5000).tolerance is None
    True
    """

    n_centres: int | None = None
    tolerance: float | None = None
    seed: int = 0
    deadline: float = np.inf
    note: Callable[[int, float], None] | None = None


@dataclass(frozen=True)
class IterativeFit:
    """A solution, the held-out rows it was chosen on, and its posterior.

    Attributes
    ----------
    solution : Solution
        The coefficients of the centres.
    centres : array of int or None
        Which rows are centres; ``None`` means all.
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
        Why iterations stopped, while rows were held out or, with a tolerance, at the end.
    kept_bytes, kept_share : int, float
        The kernel matrix that was kept in memory, and its share of the whole.
    """

    solution: Solution
    centres: np.ndarray | None
    places: np.ndarray
    held_out: np.ndarray
    posterior: LowRankPosterior
    iterations: int
    residual: float
    stopped: str
    kept_bytes: int
    kept_share: float

    def described(self) -> str:
        """Return a sentence on what was done."""
        whole = "kernel matrix" if self.centres is None else "kernel with the centres"
        return (
            f"conjugate gradients, {self.iterations} iterations to a residual of "
            f"{self.residual:.1g} (stopped by {self.stopped}), {self.kept_share:.0%} of the "
            f"{whole} kept in {self.kept_bytes / 1e9:.2g} GB"
        )


def solve_kernel_rows(
    kernel: Kernel,
    rows: Any,
    Y: Any,
    problem: Problem,
    weights: np.ndarray | None = None,
    options: IterativeOptions | None = None,
) -> IterativeFit:
    """Return kernel ridge regression by conjugate gradients.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with numbers for parameters.
    rows, Y : arrays of shape (n_rows, n_features) and (n_rows, n_targets)
        Rows and targets, of one array library.
    problem : Problem
        What is asked.
    weights : array of shape (n_rows,), default=None
        Positive weights of the rows.
    options : IterativeOptions, default=None
        How it is solved.

    Examples
    --------
    >>> from mercer.kernels import Laplace
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> fit = solve_kernel_rows(Laplace(), X, X[:, :1], Problem(1e-3))
    >>> fit.solution.method, len(fit.places), bool(fit.solution.expected[0] < 1e-3)
    ('iterative', 30, True)
    """
    start = time.perf_counter()
    options = options or IterativeOptions()
    generator = np.random.default_rng(options.seed)
    n = rows.shape[0]
    n_held = int(min(max(1, SHARE * n), MOST_HELD_OUT))
    order = generator.permutation(n)
    # Held-out rows come first, and all in their old order.
    order = np.concatenate([np.sort(order[:n_held]), np.sort(order[n_held:])])
    rows, Y = _taken(rows, order), _taken(Y, order)
    values = np.asarray(to_numpy(Y), dtype=float)
    weights = None if weights is None else weights[order]
    alphas = _few_candidates(kernel, rows, values, problem, weights, generator)
    solver = _Landmarks if options.n_centres is not None and options.n_centres < n else _AllRows
    system = solver(kernel, rows, Y, weights, problem.intercept, options, generator)
    iteration = Iteration(CANDIDATE_RESIDUAL, MOST_ITERATIONS, options.deadline)
    found = system.held_out(n_held, alphas, iteration)
    own = np.ones(n_held) if weights is None else weights[:n_held]
    errors = [
        np.average((one.held_out - values[:n_held]) ** 2, axis=0, weights=own) for one in found
    ]
    variance = np.maximum(values.var(axis=0), 1e-300)
    best = int(np.argmin([(error / variance).sum() for error in errors]))
    chosen = found[best]
    last = system.whole(chosen)
    stopped = last.stopped if options.tolerance is not None else chosen.stopped
    if last.stopped in ("time", "interrupted"):
        stopped = last.stopped
        if last.residual > 2 * chosen.residual:
            last = chosen
    posterior = system.posterior(chosen.alpha)
    places, new = order[:n_held], system.unseen(n_held)
    form = posterior.form(
        to_numpy(float32_matrix(kernel, rows[:n_held, :], system.landmarks())),
        to_numpy(kernel.diag(rows[:n_held, :])),
    )
    coef, centres = system.original(to_numpy(last.coef), order)
    solution = Solution(
        coef=coef,
        intercept=last.intercept,
        alpha=np.full(values.shape[1], chosen.alpha),
        method="iterative",
        criterion="held_out" if len(alphas) > 1 else "given",
        alphas=np.asarray([one.alpha for one in found]),
        scores=np.asarray(errors),
        degrees_of_freedom=np.full(values.shape[1], last.degrees_of_freedom),
        condition=np.nan,
        residual=errors[best],
        expected=errors[best],
        expected_by="held_out",
        noise=_calibrated((chosen.held_out - values[:n_held])[new], form[new]),
        trusted=True,
        seconds=time.perf_counter() - start,
    )
    return IterativeFit(
        solution,
        centres,
        places,
        chosen.held_out,
        posterior.at(system.places(order)),
        chosen.n_iterations + last.n_iterations,
        last.residual,
        stopped,
        system.kept_bytes,
        system.kept_share,
    )


class _AllRows:
    """The system of all rows."""

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        Y: Any,
        weights: np.ndarray | None,
        intercept: bool,
        options: IterativeOptions,
        generator: np.random.Generator,
    ) -> None:
        self._kernel, self._rows, self._Y = kernel, rows, Y
        self._weights, self._intercept, self._options = weights, intercept, options
        n, room = rows.shape[0], matrix_memory(rows)
        # The factor may take a quarter of the memory.
        affordable = max(50, room // (4 * 8 * n))
        self._low_rank: LowRank = pivoted_cholesky(
            lambda at: float32_matrix(kernel, rows, _taken(rows, at)),
            np.asarray(to_numpy(kernel.diag(rows)), dtype=float),
            int(min(RANK, max(50, n // ROWS_EACH), affordable)),
            generator,
        )
        self._room = max(0, room - 8 * n * self._low_rank.factor.shape[1])
        exactly = options.tolerance is not None and options.tolerance < SINGLE
        tile = plain_tiles(kernel, rows) if exactly else float32_tiles(kernel, rows)
        dtype = "float64" if exactly else "float32"
        self._matrix = SymmetricTiles(tile, n, self._room, rows, dtype)
        self.kept_bytes, self.kept_share = self._matrix.kept_bytes, self._matrix.kept_share

    def _system(self, n_held: int) -> KernelSystem:
        return KernelSystem(
            self._matrix, self._low_rank, self._Y, self._weights, n_held, self._intercept
        )

    def held_out(
        self, n_held: int, alphas: list[float], iteration: Iteration
    ) -> list[IterativeSolution]:
        """Return solutions of all candidates, the first rows held out."""
        return self._system(n_held).solve(alphas, iteration, note=self._options.note)

    def whole(self, chosen: IterativeSolution) -> IterativeSolution:
        """Return the solution with all rows, beginning with that of most of them."""
        options, exact = self._options, None
        iteration = _last_iteration(chosen, options)
        if options.tolerance is not None and options.tolerance >= SINGLE:
            room = max(0, self._room - self.kept_bytes)
            tile = plain_tiles(self._kernel, self._rows)
            exact = SymmetricTiles(tile, self._rows.shape[0], room, self._rows, "float64")
        return self._system(0).solve(
            [chosen.alpha], iteration, start=chosen.coef, exact=exact, note=options.note
        )[0]

    def posterior(self, alpha: float) -> LowRankPosterior:
        """Return the posterior by the landmarks of the preconditioner."""
        return posterior_of_factor(self._low_rank, self._weights, alpha)

    def landmarks(self) -> Any:
        """Return the rows that the posterior is made of."""
        return _taken(self._rows, self._low_rank.pivots)

    def unseen(self, n_held: int) -> np.ndarray:
        """Return which held-out rows are no landmarks, which know their own place."""
        new = ~np.isin(np.arange(n_held), self._low_rank.pivots)
        return new if new.any() else ~new

    def places(self, order: np.ndarray) -> np.ndarray:
        """Return which centres the posterior's landmarks are."""
        return np.asarray(order[self._low_rank.pivots])

    @staticmethod
    def original(coef: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return coefficients in the order of the rows as given, and which rows are centres."""
        out = np.empty_like(coef)
        out[order] = coef
        return out, None


class _Landmarks:
    """The system of some rows as centres."""

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        Y: Any,
        weights: np.ndarray | None,
        intercept: bool,
        options: IterativeOptions,
        generator: np.random.Generator,
    ) -> None:
        self._kernel, self._rows, self._Y = kernel, rows, Y
        self._weights, self._intercept, self._options = weights, intercept, options
        assert options.n_centres is not None
        n = rows.shape[0]
        self._chosen = np.sort(generator.choice(n, options.n_centres, replace=False))
        self._centres = _taken(rows, self._chosen)
        size = options.n_centres
        # Kernel and moments of the centres, a factor of each and of every candidate.
        room = max(0, matrix_memory(rows) - 8 * 6 * size**2)
        tile = float32_tiles(kernel, rows, self._centres)
        self._panels = RowPanels(tile, (n, size), room, rows)
        self.kept_bytes, self.kept_share = self._panels.kept_bytes, self._panels.kept_share
        self._K = to_numpy(kernel(self._centres)).astype(float)
        self._few = np.sort(generator.choice(size, min(size, RANK), replace=False))

    def _system(self, n_held: int) -> LandmarkSystem:
        return LandmarkSystem(
            self._panels, self._K, self._Y, self._weights, n_held, self._intercept
        )

    def held_out(
        self, n_held: int, alphas: list[float], iteration: Iteration
    ) -> list[IterativeSolution]:
        """Return solutions of all candidates, the first rows held out."""
        return self._system(n_held).solve(alphas, iteration, note=self._options.note)

    def whole(self, chosen: IterativeSolution) -> IterativeSolution:
        """Return the solution with all rows, beginning with that of most of them."""
        iteration = _last_iteration(chosen, self._options)
        return self._system(0).solve(
            [chosen.alpha], iteration, start=chosen.coef, note=self._options.note
        )[0]

    def posterior(self, alpha: float) -> LowRankPosterior:
        """Return the posterior by some of the centres."""
        return posterior_of_rows(self._kernel, self._rows, self.landmarks(), self._weights, alpha)

    def landmarks(self) -> Any:
        """Return the rows that the posterior is made of."""
        return _taken(self._centres, self._few)

    def unseen(self, n_held: int) -> np.ndarray:
        """Return which held-out rows are no landmarks, which know their own place."""
        new = ~np.isin(np.arange(n_held), self._chosen[self._few])
        return new if new.any() else ~new

    def places(self, order: np.ndarray) -> np.ndarray:
        """Return which centres the posterior's landmarks are."""
        return self._few

    def original(self, coef: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients of the centres, and which rows they are."""
        return coef, np.asarray(order[self._chosen])


def _last_iteration(chosen: IterativeSolution, options: IterativeOptions) -> Iteration:
    """Return when the solve with all rows stops: as near to the solution as the choice was."""
    if options.tolerance is not None:
        return Iteration(options.tolerance, MOST_TO_RESIDUAL, options.deadline)
    return Iteration(max(chosen.residual, 1e-6), max(10, chosen.n_iterations), options.deadline)


def _taken(A: Any, places: np.ndarray) -> Any:
    """Return some rows of an array of any library."""
    if is_numpy(A):
        return A[places]
    return namespace(A).take(A, beside(A, places), axis=0)


def _calibrated(residuals: np.ndarray, form: np.ndarray) -> np.ndarray:
    """Return the noise with which intervals of 1.96 deviations cover 95 % of held-out rows."""
    ratios = np.abs(residuals) / np.sqrt(1 + form)[:, None]
    return np.asarray((np.quantile(ratios, COVERED, axis=0) / HALF_WIDTH) ** 2)


def _few_candidates(
    kernel: Kernel,
    rows: Any,
    Y: np.ndarray,
    problem: Problem,
    weights: np.ndarray | None,
    generator: np.random.Generator,
) -> list[float]:
    """Return the candidates for alpha, narrowed down on a sample where there are many."""
    given = None if problem.alpha is None else np.unique(np.asarray(problem.alpha, dtype=float))
    if given is not None and len(given) <= FEW:
        return [float(alpha) for alpha in given]
    some = generator.choice(len(Y), min(len(Y), SAMPLE_ROWS), replace=False)
    own = None if weights is None else weights[some]
    asked = Problem(problem.alpha, problem.intercept, leave_one_out=True)
    K = to_numpy(kernel(_taken(rows, some))).astype(float)
    alpha = float(solve_kernel(K, Y[some], asked, own).alpha[0])
    if given is None:
        return [alpha / 10**0.5, alpha, alpha * 10**0.5]
    near = np.argsort(np.abs(np.log(given / alpha)), kind="stable")[:3]
    return [float(value) for value in np.sort(given[near])]
