"""Ridge regression: the choice of λ, and a record of what was done."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .statistics import Moments, RidgeStatistics
from .systems import GivenSystem, PrimalSystem, System

#: The default grid: λ over the mean eigenvalue of the features.
GRID = np.logspace(-8, 2, 31)
#: Below this many times the rounding error of the features, as a share of the largest
#: eigenvalue, sums of their products know nothing of what a λ does: about 1e-6 for float32.
KNOWN = 10.0
#: Below this share of the largest eigenvalue the normal equations lose the coefficients.
TRUSTED = 1e-10
#: Features from which on a single λ is worth a decomposition of its own.
MANY = 512


@dataclass(frozen=True)
class Solution:
    """What a solver did.

    Attributes
    ----------
    coef : array of shape (n_features, n_targets)
        The coefficients θ.
    intercept : array of shape (n_targets,)
        The constants.
    lam : array of shape (n_targets,)
        The ridge parameter λ of every target.
    method : str
        ``"primal"``, ``"dual"`` or ``"qr"``.
    criterion : str
        How λ was chosen: ``"given"``, ``"gcv"``, ``"cv"`` or ``"loo"``.
    lams : array of shape (n_lams,)
        The candidates.
    scores : array of shape (n_lams, n_targets)
        The mean squared error that the criterion expects of each; empty if λ was given.
    degrees_of_freedom : array of shape (n_targets,)
        The effective dimension at λ: the trace of S (S + λ)⁻¹.
    condition : float
        Largest over smallest eigenvalue of S + λ, at the smallest λ.
    residual : array of shape (n_targets,)
        The mean squared error on the training rows.
    noise : array of shape (n_targets,)
        The estimated variance of the noise: RSS over the rows that were not used up.
    trusted : bool
        Whether λ is large enough for the coefficients of this method to be exact.
    seconds : float
        Time of the solve.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> solution = FeatureRidge(alpha=1.0).fit(X, X[:, 0]).solution_
    >>> solution.method, solution.criterion, solution.trusted
    ('primal', 'given', True)
    """

    coef: np.ndarray = field(repr=False)
    intercept: np.ndarray = field(repr=False)
    lam: np.ndarray
    method: str
    criterion: str
    lams: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    degrees_of_freedom: np.ndarray
    condition: float
    residual: np.ndarray
    noise: np.ndarray
    trusted: bool
    seconds: float


@dataclass(frozen=True)
class Problem:
    """What is asked of a solver.

    Attributes
    ----------
    lam : float, array or None
        The ridge parameter, candidates for it, or ``None`` for a grid of 31.
    intercept : bool
        Fit a constant, which is not penalised.
    per_target : bool
        Choose λ for every target by itself.
    above_rounding : bool
        Leave out candidates that were given, too, if the rounding of the features hides them.
    count_weights : bool
        Whether a row of weight two counts as two rows where λ is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Problem
    >>> len(Problem().candidates(np.array([1.0, 3.0]), size=2))
    31
    """

    lam: float | np.ndarray | None = None
    intercept: bool = True
    per_target: bool = False
    above_rounding: bool = False
    count_weights: bool = True

    def counted(self, totals: Any) -> float:
        """Return how many rows there are for the choice of λ."""
        return float(totals.counted if self.count_weights else totals.n_positive)

    def candidates(self, eigenvalues: np.ndarray, size: int, rounding: float = 0.0) -> np.ndarray:
        """Return the λ to try: those given, or a grid about the mean eigenvalue.

        Those of the grid that the rounding of the features hides are left out.
        """
        if self.lam is not None:
            grid = np.atleast_1d(np.asarray(self.lam, dtype=float))
            if not self.above_rounding or len(grid) == 1:
                return grid
        else:
            mean = float(eigenvalues.sum()) / size
            grid = GRID * (mean if mean > 0 else 1.0)
        known = grid[grid >= KNOWN * rounding * float(eigenvalues[-1])]
        return known if known.size else grid[-1:]


def solve(
    system: System,
    totals: Any,
    problem: Problem,
    held_out: tuple[str, np.ndarray] | None = None,
) -> Solution:
    """Return the solution of a system, λ chosen if there is more than one candidate.

    Parameters
    ----------
    system : System
        How to solve.
    totals : Moments, or what knows as much of all rows
        Their weight, how many count, their means, and the rounding of their features.
    problem : Problem
        What is asked.
    held_out : pair of str and array, optional
        Name and scores of a criterion that was evaluated elsewhere, on the candidates; by
        default it is generalised cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Moments, PrimalSystem, Problem, solve
    >>> Z = np.random.default_rng(0).standard_normal((20, 2))
    >>> moments = Moments(2, 1)
    >>> moments.add(Z, Z[:, :1])
    >>> system = PrimalSystem(*moments.centred(intercept=True))
    >>> solve(system, moments, Problem(lam=1e-9)).coef.round(6).ravel()
    array([1., 0.])
    """
    start = time.perf_counter()
    n_targets = totals.y_sum.size
    lams = problem.candidates(system.eigenvalues, totals.z_sum.size, totals.rounding)
    if len(lams) == 1:
        criterion, scores = "given", np.empty((0, n_targets))
        chosen = np.full(n_targets, lams[0])
    else:
        criterion, scores = held_out or (
            "gcv",
            gcv_scores(system, problem.counted(totals), lams, problem),
        )
        chosen = choose(scores, lams, problem.per_target)
    coef = system.coefficients(chosen)
    rss, freedom = np.empty(n_targets), np.empty(n_targets)
    for lam in np.unique(chosen):
        own = chosen == lam
        rss[own] = system.residual_squares(lam)[own]
        freedom[own] = system.freedom(lam)
    left = np.maximum(problem.counted(totals) - freedom - problem.intercept, 1.0)
    z_mean, y_mean = totals.means(problem.intercept)
    smallest, largest = float(chosen.min()), float(system.eigenvalues[-1])
    least = float(system.eigenvalues[0]) if len(system.eigenvalues) >= len(coef) else 0.0
    return Solution(
        coef=coef,
        intercept=y_mean - z_mean @ coef,
        lam=chosen,
        method=system.name,
        criterion=criterion,
        lams=lams,
        scores=scores,
        degrees_of_freedom=freedom,
        condition=(largest + smallest) / (least + smallest) if smallest > 0 else np.inf,
        residual=rss / totals.weight,
        noise=rss / left,
        # A candidate of the grid may lie on the bound itself.
        trusted=system.name == "qr"
        or smallest >= max(TRUSTED, 0.99 * KNOWN * totals.rounding) * largest,
        seconds=time.perf_counter() - start,
    )


def solve_primal(statistics: RidgeStatistics, problem: Problem | None = None) -> Solution:
    """Return the ridge solution from statistics alone.

    With folds in the statistics λ is chosen by exact cross-validation, else by generalised
    cross-validation.

    Parameters
    ----------
    statistics : RidgeStatistics
        Of all rows.
    problem : Problem, default=None
        What is asked; by default an intercept and a λ from the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import RidgeStatistics, solve_primal
    >>> Z = np.random.default_rng(0).standard_normal((100, 3))
    >>> statistics = RidgeStatistics(3, 1)
    >>> statistics.add(Z, Z @ np.ones((3, 1)) + 5)
    >>> solution = solve_primal(statistics)
    >>> bool(np.allclose(solution.coef, 1.0)), bool(np.allclose(solution.intercept, 5.0))
    (True, True)
    """
    problem = problem or Problem()
    totals = statistics.total()
    system = normal_equations(totals, problem)
    held_out = None
    if statistics.n_folds:
        lams = problem.candidates(system.eigenvalues, statistics.n_features, totals.rounding)
        if len(lams) > 1:
            held_out = "cv", cv_scores(statistics, lams, problem)
    return solve(system, totals, problem, held_out)


def normal_equations(totals: Moments, problem: Problem) -> System:
    """Return the normal equations, decomposed for one λ or for all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Moments
    >>> moments = Moments(2, 1)
    >>> moments.add(np.eye(2), np.ones((2, 1)))
    >>> type(normal_equations(moments, Problem())).__name__
    'PrimalSystem'
    """
    gram, cross, squares = totals.centred(problem.intercept)
    given = np.ravel(problem.lam) if problem.lam is not None else np.empty(0)
    if given.size == 1 and len(gram) >= MANY:
        lam = float(given[0])
        size = float(np.trace(gram)) / len(gram)
        # Above what rounding hides; below, eigenvalues tell more.
        if lam > max(TRUSTED, totals.rounding) * size:
            with suppress(np.linalg.LinAlgError):
                return GivenSystem(gram, cross, squares, lam)
    return PrimalSystem(gram, cross, squares)


def gcv_scores(system: System, n_rows: float, lams: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the generalised cross-validation score of every λ and target.

    ``n_rows`` is how many rows count: see :attr:`Moments.counted`.
    """
    scores = []
    for lam in lams:
        left = n_rows - system.freedom(lam) - problem.intercept
        rss = system.residual_squares(lam)
        scores.append(n_rows * rss / left**2 if left > 1e-9 * n_rows else np.full_like(rss, np.inf))
    return np.array(scores)


def cv_scores(statistics: RidgeStatistics, lams: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the mean squared error of every λ and target over held-out folds, exactly.

    The statistics of the rows outside a fold are the total less those of the fold; no row is
    seen again.
    """
    total = statistics.total()
    scores = np.zeros((len(lams), statistics.n_targets))
    filled = 0
    for fold in statistics.folds:
        training = total.without(fold)
        if fold.weight <= 0 or training.n_positive < 1:
            continue
        filled += 1
        system = PrimalSystem(*training.centred(problem.intercept))
        held = fold.about(*training.means(problem.intercept))
        for row, lam in zip(scores, lams, strict=True):
            row += held.squared_error(system.coefficients(np.full(statistics.n_targets, lam)))
    if filled < 2:
        raise ValueError(
            f"Cross-validation in {statistics.n_folds} folds needs rows in at least two of them, "
            f"but there are {total.n_rows} row(s); use selection='gcv' or give alpha."
        )
    return scores / total.weight


def choose(scores: np.ndarray, lams: np.ndarray, per_target: bool) -> np.ndarray:
    """Return the λ of every target: its own best, or the best of all."""
    if not np.isfinite(scores).any():
        # Too few rows to tell: the most cautious one.
        return np.full(scores.shape[1], lams.max())
    if per_target:
        return lams[scores.argmin(axis=0)]
    # Targets of different scale count alike.
    scale = scores.min(axis=0)
    usable = np.isfinite(scale) & (scale > 0)
    best = (scores / np.where(usable, scale, 1.0)).sum(axis=1).argmin()
    return np.full(scores.shape[1], lams[best])
