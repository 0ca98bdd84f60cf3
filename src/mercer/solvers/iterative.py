"""Kernel ridge regression by conjugate gradients: all rows, or landmarks, as centres.

A part of the rows is held out while candidates for alpha are solved together, until the error on
them no longer falls; then the best one is solved with all rows, if that part is worth it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import take_rows, to_numpy
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix
from .conjugate_gradients import Iteration
from .dual import solve_kernel
from .low_rank_posterior import LowRankPosterior
from .problem import Problem, Solution
from .row_systems import AllRows, IterativeOptions, LandmarkRows

#: The share of rows that are held out, and how many at most.
SHARE, MOST_HELD_OUT = 0.1, 1000
#: Held-out rows are learnt from at last if they are more than this share: fewer are not worth
#: about as many iterations again.
WORTH_LEARNING = 0.03
#: Rows of a sample on which a grid of ridge parameters is narrowed down.
SAMPLE_ROWS = 2000
#: Candidates that are solved at once.
FEW = 5
#: The solution of all rows may have so many times the residual of that of most rows.
FAR = 10.0
#: The smallest ridge parameter that is tried unasked, over the rounding errors of float32 tiles.
ROUNDING = 0.3
#: Iterations of the candidates, at most.
MOST_ITERATIONS = 200
#: Residual at which candidates count as solved, whatever the error on held-out rows does.
CANDIDATE_RESIDUAL = 1e-5
#: The share of rows that an interval should cover, and its half-width in standard deviations.
COVERED, HALF_WIDTH = 0.95, 1.96


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
    rows_share : float
        The share of the rows that the coefficients were learnt from.
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
    rows_share: float = 1.0

    def described(self) -> str:
        """Return a sentence on what was done."""
        whole = "kernel matrix" if self.centres is None else "kernel with the centres"
        rows = "" if self.rows_share == 1 else f" on {self.rows_share:.1%} of the rows"
        return (
            f"conjugate gradients{rows}, {self.iterations} iterations to a residual of "
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
    rows, Y = take_rows(rows, order), take_rows(Y, order)
    values = np.asarray(to_numpy(Y), dtype=float)
    weights = None if weights is None else weights[order]
    alphas = _few_candidates(kernel, rows, values, problem, weights, generator)
    solver = LandmarkRows if options.n_centres is not None and options.n_centres < n else AllRows
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
    last, share, stopped = chosen, 1 - n_held / n, chosen.stopped
    if chosen.stopped != "interrupted" and (options.tolerance or n_held > WORTH_LEARNING * n):
        whole = system.whole(chosen)
        if options.tolerance is not None or whole.stopped in ("time", "interrupted"):
            stopped = whole.stopped
        # Far from the solution of all rows, that of most of them is the better one.
        if options.tolerance is not None or whole.residual <= FAR * chosen.residual:
            last, share = whole, 1.0
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
        chosen.n_iterations + (0 if last is chosen else last.n_iterations),
        last.residual,
        stopped,
        system.kept_bytes,
        system.kept_share,
        share,
    )


def smallest_alpha(n_rows: int) -> float:
    """Return the ridge parameter below which float32 tiles of a kernel with k(x, x) = 1 mislead.

    Rounding errors of n² entries perturb eigenvalues by √n times one of them.

    Examples
    --------
    >>> round(smallest_alpha(10_000), 8)
    3.58e-06
    """
    return float(ROUNDING * np.finfo(np.float32).eps * n_rows**0.5)


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
    K = to_numpy(kernel(take_rows(rows, some))).astype(float)
    alpha = float(solve_kernel(K, Y[some], asked, own).alpha[0])
    if given is None:
        return [alpha / 10**0.5, alpha, alpha * 10**0.5]
    near = np.argsort(np.abs(np.log(given / alpha)), kind="stable")[:3]
    return [float(value) for value in np.sort(given[near])]
