"""Kernel ridge regression by conjugate gradients: all rows, or landmarks, as centres.

A part of the rows is held out while candidates for alpha are solved together, until the error on
them no longer falls; then the best one is solved with all rows, if that part is worth it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .._array import as_floating, take_rows, to_numpy
from ..engine.config import matrix_memory
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix
from .conjugate_gradients import Iteration
from .cost import EXACT_COPIES
from .dual import solve_kernel
from .kernel_system import IterativeSolution
from .low_rank_posterior import LowRankPosterior
from .problem import Problem, Solution, over_targets
from .row_systems import AllRows, IterativeOptions, LandmarkRows

#: The share of rows that are held out, and how many at most.
SHARE, MOST_HELD_OUT = 0.1, 1000
#: Held-out rows are learnt from at last if they are more than this share: fewer are not worth
#: about as many iterations again.
WORTH_LEARNING = 0.015
#: Rows of a sample on which a grid of ridge parameters is narrowed down.
SAMPLE_ROWS, FEWEST_SAMPLE = 2000, 100
#: Candidates that are solved at once.
FEW = 5
#: The solution of all rows may have so many times the residual of that of most rows.
FAR = 10.0
#: Held-out rows whose predictions are checked, the share of their error by which predictions may
#: differ, and the share of the variance that does not matter.
CHECKED_ROWS, MISLED, NEGLIGIBLE = 256, 0.1, 1e-9
#: The share of an error that does not count as a difference between ridge parameters.
TIE = 0.003
#: Relative differences of scores that are rounding.
EQUAL = 1e-9
#: A residual from which on few rows are solved once more, in float64, and how many are few.
UNSOLVED, FEW_ROWS = 0.03, 10_000
#: The smallest ridge parameter that is tried unasked, over the rounding errors of float32 tiles.
ROUNDING = 0.3
#: Iterations of the candidates, at most.
MOST_ITERATIONS = 200
#: Residual at which candidates count as solved, whatever the error on held-out rows does.
CANDIDATE_RESIDUAL = 1e-5
#: The share of rows that an interval should cover, and its half-width in standard deviations.
COVERED, HALF_WIDTH = 0.95, 1.96


class KeptSystem(NamedTuple):
    """The system with its matrix, the order of its rows, and the solution of those not held out."""

    system: AllRows | LandmarkRows
    order: np.ndarray
    solution: IterativeSolution


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
    dtype : {"float32", "float64"}
        Of the kernel matrix.
    kept : KeptSystem or None
        The system, if it was asked for.
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
    dtype: str = "float32"
    kept: KeptSystem | None = field(default=None, repr=False)

    def described(self) -> str:
        """Return a sentence on what was done."""
        whole = "kernel matrix" if self.centres is None else "kernel with the centres"
        rows = "" if self.rows_share == 1 else f" on {self.rows_share:.1%} of the rows"
        kept = f"{self.kept_share:.0%} of the {whole} kept in {self.kept_bytes / 1e9:.2g} GB"
        return (
            f"conjugate gradients in {self.dtype}{rows}, {self.iterations} iterations to a "
            f"residual of {self.residual:.1g} (stopped by {self.stopped}), {kept}"
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
    held = _HeldOutRows(kernel, rows[:n_held, :], values, weights)
    solver = LandmarkRows if options.n_centres is not None and options.n_centres < n else AllRows
    iteration = Iteration(CANDIDATE_RESIDUAL, MOST_ITERATIONS, options.deadline)
    tries: list[_Try] = []
    for exactly in [True] if options.exactly else [False, True]:
        if tries:
            # Tiles that are not trusted must not stand beside those that have all the room.
            tries[-1].system.forget()
        system = solver(kernel, rows, Y, weights, problem.intercept, options, generator, exactly)
        tries.append(held.judged(system, system.held_out(n_held, alphas, iteration)))
        if tries[-1].trusted:
            break
    system, found, errors, best = min(tries, key=lambda one: one.error)[:4]
    chosen = found[best]
    last, share, stopped = chosen, 1 - n_held / n, chosen.stopped
    if chosen.stopped != "interrupted" and (options.tolerance or n_held > WORTH_LEARNING * n):
        try:
            whole = system.whole(chosen)
        except KeyboardInterrupt:
            whole = replace(chosen, residual=np.inf, stopped="interrupted")
        if options.tolerance is not None or whole.stopped in ("time", "interrupted"):
            stopped = whole.stopped
        # Far from the solution of all rows, that of most of them is the better one. What rounding
        # leaves is the true residual; that of most rows is carried along, and may be as large.
        near = whole.residual <= FAR * chosen.residual or whole.stopped == "rounding"
        good = near and held.learnt(system, whole, errors[best])
        if good or (options.tolerance is not None and np.isfinite(whole.residual)):
            last, share = whole, 1.0
    posterior = system.posterior(chosen.alpha)
    places, new = order[:n_held], system.unseen(n_held)
    form = to_numpy(
        posterior.form(
            float32_matrix(kernel, rows[:n_held, :], system.landmarks()),
            kernel.diag(rows[:n_held, :]),
        )
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
        noise=_calibrated((chosen.held_out - held.values)[new], form[new]),
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
        system.dtype,
        KeptSystem(system, order, chosen) if options.keep_system else None,
    )


class _Try(NamedTuple):
    """Solutions of all candidates, their errors, the best of them, and its error as predicted."""

    system: AllRows | LandmarkRows
    found: list[IterativeSolution]
    errors: list[np.ndarray]
    best: int
    error: float
    trusted: bool


class _HeldOutRows:
    """The held-out rows, and what they say of a solution.

    Rounding of float32 tiles is multiplied by the coefficients, which grow as alpha falls: what a
    solution predicts is checked with the kernel itself.
    """

    def __init__(
        self, kernel: Kernel, rows: Any, values: np.ndarray, weights: np.ndarray | None
    ) -> None:
        self._kernel, self._rows, self._all = kernel, rows, values
        self.values = values[: rows.shape[0]]
        self._weights = None if weights is None else weights[: rows.shape[0]]
        self._variance = np.maximum(values.var(axis=0), 1e-300)

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """Return the mean squared error of every target."""
        squares = (predicted - self.values) ** 2
        return np.asarray(np.average(squares, axis=0, weights=self._weights))

    def total(self, errors: np.ndarray) -> float:
        """Return one error for all targets, over their variances."""
        return float((errors / self._variance).sum())

    def judged(self, system: AllRows | LandmarkRows, found: list[IterativeSolution]) -> _Try:
        """Return the best solution, and whether rounding of the tiles has no word in it.

        If it has, predictions with the kernel itself differ from those with the tiles; or the
        error no longer falls far from the solution, which is looked into where rows are few.
        """
        errors = [self.errors(one.held_out) for one in found]
        best = steadiest([self.total(error) for error in errors])
        one, exact = found[best], self._predicted(system, found[best])
        squares = ((exact - self.values[: len(exact)]) ** 2).mean(axis=0)
        gaps = ((exact - one.held_out[: len(exact)]) ** 2).mean(axis=0)
        near = self.total(gaps) <= MISLED * self.total(errors[best]) + NEGLIGIBLE
        solved = one.residual <= UNSOLVED or len(self._all) > FEW_ROWS
        ended = one.stopped in ("time", "interrupted")
        return _Try(system, found, errors, best, self.total(squares), ended or (near and solved))

    def learnt(
        self, system: AllRows | LandmarkRows, one: IterativeSolution, errors: np.ndarray
    ) -> bool:
        """Return whether a solution has learnt these rows, at least as well as others predict."""
        exact = self._predicted(system, one)
        squares = ((exact - self.values[: len(exact)]) ** 2).mean(axis=0)
        return self.total(squares) <= (1 + MISLED) * self.total(errors) + NEGLIGIBLE

    def _predicted(self, system: AllRows | LandmarkRows, one: IterativeSolution) -> np.ndarray:
        some = as_floating(self._rows[: min(CHECKED_ROWS, len(self.values)), :], "float64")
        centres = as_floating(system.centres(), "float64")
        return np.asarray(to_numpy(self._kernel.matvec(some, one.coef, centres)) + one.intercept)


def steadiest(errors: list[float]) -> int:
    """Return the place of the largest ridge parameter that does as well as any.

    Where iterations stop early, small ones hardly differ; the larger one is solved faster, and
    less of it is rounding.

    Parameters
    ----------
    errors : list of float
        Errors of ridge parameters in increasing order.

    Examples
    --------
    >>> steadiest([0.1, 0.1001, 0.2])
    1
    """
    least = np.nanmin(errors) if np.isfinite(errors).any() else np.nan
    good = np.flatnonzero(np.asarray(errors) <= (1 + TIE) * least)
    if not len(good):
        raise ValueError(
            "No ridge parameter has a finite error on the held-out rows: targets or kernel values "
            "overflow; scale the targets, or use solver='direct'."
        )
    return int(good[-1])


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
    # A decomposition holds some copies of the kernel matrix of the sample.
    most = max(FEWEST_SAMPLE, int((matrix_memory(rows) / (8 * EXACT_COPIES)) ** 0.5))
    some = generator.choice(len(Y), min(len(Y), SAMPLE_ROWS, most), replace=False)
    own = None if weights is None else weights[some]
    asked = Problem(problem.alpha, problem.intercept, leave_one_out=True)
    K = as_floating(kernel(take_rows(rows, some)), "float64")
    found = solve_kernel(K, Y[some], asked, own)
    # Of equal scores, as copies of rows give, the largest alpha: small ones magnify rounding.
    alpha, totals = float(found.alpha[0]), over_targets(found.scores)
    if np.isfinite(totals).any():
        alpha = float(found.alphas[totals <= (1 + EQUAL) * np.nanmin(totals)].max())
    if given is None:
        return [alpha / 10**0.5, alpha, alpha * 10**0.5]
    near = np.argsort(np.abs(np.log(given / alpha)), kind="stable")[:3]
    return [float(value) for value in np.sort(given[near])]
