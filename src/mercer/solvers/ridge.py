"""Ridge regression: the choice of alpha, and the solver for what was gathered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from .._array import to_numpy
from ..engine.threads import allowed_threads
from .bracket import bracketed
from .posterior import LeaveOneOut
from .problem import KNOWN, TRUSTED, Problem, Solution, Totals, choose, generalised_error
from .qr import reduced_blocks
from .statistics import Moments, RidgeStatistics
from .symmetric_sums import trace
from .systems import GivenSystem, OrthogonalSystem, PrimalSystem, System, residual_freedom

#: Features from which on a single alpha is worth a decomposition of its own.
MANY = 512

#: A function that yields the training rows once more: features, targets and weights.
Blocks = Callable[[], Iterator[tuple[Any, Any, Any]]]


@singledispatch
def solve_ridge(gathered: Any, problem: Problem, again: Blocks | None = None) -> Solution:
    """Return the ridge solution of what an accumulator has gathered.

    Parameters
    ----------
    gathered : RidgeStatistics or FewRows
        The state of an accumulator.
    problem : Problem
        What is asked.
    again : callable, default=None
        Yields the training rows once more; ``None`` if they are gone. Exact leave-one-out needs
        them, and so does an alpha that is too small for the normal equations.

    Returns
    -------
    solution : Solution

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Problem, RidgeStatistics, solve_ridge
    >>> Z = np.random.default_rng(0).standard_normal((100, 3))
    >>> statistics = RidgeStatistics(3, 1)
    >>> statistics.add(Z, Z @ np.ones((3, 1)) + 5)
    >>> solution = solve_ridge(statistics, Problem())
    >>> bool(np.allclose(solution.coef, 1.0)), bool(np.allclose(solution.intercept, 5.0))
    (True, True)
    """
    raise TypeError(f"There is no ridge solver for a {type(gathered).__name__}.")


@solve_ridge.register
def _(gathered: RidgeStatistics, problem: Problem, again: Blocks | None = None) -> Solution:
    square = gathered.n_features**2
    leave_one_out = problem.leave_one_out and again is not None
    # Leave-one-out solves once for every row, in blocks.
    largest = square * (gathered.n_rows if leave_one_out else 4 / 3 * gathered.n_features)
    with allowed_threads(largest):
        totals = gathered.total()
        bracket = None if leave_one_out else bracketed(gathered, totals, problem)
        held_out = None
        if bracket is not None:
            system, problem, held_out = bracket.system, bracket.problem, bracket.held_out
        else:
            system = normal_equations(totals, problem)
            alphas = candidates(system, totals, problem)
            if len(alphas) > 1 and leave_one_out and again is not None:
                errors = LeaveOneOut(totals, alphas, problem.intercept)
                for Z, Y, weights in again():
                    errors.add(Z, Y, weights)
                held_out = "loo", errors.scores()
            elif len(alphas) > 1 and gathered.n_folds:
                held_out = "cv", cv_scores(gathered, alphas, problem)
        solution = solve(system, totals, problem, held_out)
    if solution.trusted or again is None:
        return solution
    # The normal equations square the condition number; the rows themselves do not.
    rows = reduced_blocks(again(), *totals.means(problem.intercept))
    return solve(OrthogonalSystem(rows), totals, problem, held_out)


def candidates(system: System, totals: Totals, problem: Problem) -> np.ndarray:
    """Return the alphas to try: those given, or a grid about the mean eigenvalue."""
    mean = float(system.eigenvalues.sum()) / totals.n_features
    return problem.candidates(mean, KNOWN * totals.rounding * float(system.eigenvalues[-1]))


def solve(
    system: System,
    totals: Totals,
    problem: Problem,
    held_out: tuple[str, np.ndarray] | None = None,
) -> Solution:
    """Return the solution of a system, alpha chosen if there is more than one candidate.

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
    >>> solve(system, moments, Problem(alpha=1e-9)).coef.round(6).ravel()
    array([1., 0.])
    """
    start = time.perf_counter()
    n_targets = totals.n_targets
    counted = problem.counted(totals.weight, totals.n_positive)

    def left_at(alpha: float) -> float:
        return residual_freedom(system, alpha, totals, problem)

    def residual_at(alpha: float) -> np.ndarray:
        return system.residual_squares(alpha) / totals.weight

    alphas = candidates(system, totals, problem)
    if len(alphas) == 1:
        criterion, scores = "given", np.empty((0, n_targets))
        chosen = np.full(n_targets, alphas[0])
    else:
        criterion, scores = held_out or (
            "gcv",
            np.array([generalised_error(residual_at(a), left_at(a), counted) for a in alphas]),
        )
        chosen = choose(scores, alphas, problem.per_target)
    coef = system.coefficients(chosen)
    residual, left, expected = (np.empty(n_targets) for _ in range(3))
    for alpha in np.unique(chosen):
        own = chosen == alpha
        residual[own] = residual_at(alpha)[own]
        left[own] = left_at(alpha)
        expected[own] = generalised_error(residual[own], left_at(alpha), counted)
    if len(alphas) > 1:
        places = np.abs(alphas[:, None] - chosen).argmin(axis=0)
        expected = scores[places, np.arange(n_targets)]
    z_mean, y_mean = totals.means(problem.intercept)
    constant, coef = to_numpy(y_mean - z_mean @ coef), to_numpy(coef)
    smallest, largest = float(chosen.min()), float(system.eigenvalues[-1])
    least = float(system.eigenvalues[0]) if len(system.eigenvalues) >= len(coef) else 0.0
    squares = residual * totals.weight
    return Solution(
        coef=coef,
        intercept=constant,
        alpha=chosen,
        method=system.name,
        criterion=criterion,
        alphas=alphas,
        scores=scores,
        degrees_of_freedom=counted - problem.intercept - left,
        condition=(largest + smallest) / (least + smallest) if smallest > 0 else np.inf,
        residual=residual,
        expected=expected,
        expected_by="gcv" if criterion == "given" else criterion,
        # Without a degree of freedom left nothing is known of the noise.
        noise=np.divide(squares, left, out=np.full(n_targets, np.inf), where=left > 0),
        # A candidate of the grid may lie on the bound itself.
        trusted=system.name == "qr"
        or smallest >= max(TRUSTED, 0.99 * KNOWN * totals.rounding) * largest,
        seconds=time.perf_counter() - start,
    )


def normal_equations(totals: Moments, problem: Problem) -> System:
    """Return the normal equations, decomposed for one alpha or for all.

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
    given = np.ravel(problem.alpha) if problem.alpha is not None else np.empty(0)
    if given.size == 1 and totals.n_features >= MANY:
        alpha = float(given[0])
        size = trace(gram) / totals.n_features
        # Above what rounding hides; below, eigenvalues tell more.
        if alpha > max(TRUSTED, totals.rounding) * size:
            with suppress(np.linalg.LinAlgError):
                return GivenSystem(gram, cross, squares, alpha)
    return PrimalSystem(gram, cross, squares)


def cv_scores(statistics: RidgeStatistics, alphas: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the mean squared error of every alpha and target over held-out folds, exactly.

    The statistics of the rows outside a fold are the total less those of the fold; no row is
    seen again.
    """
    total = statistics.total()
    scores = np.zeros((len(alphas), statistics.n_targets))
    filled = 0
    for number, fold in enumerate(statistics.folds):
        training = statistics.without(number, total)
        if fold.weight <= 0 or training.n_positive < 1:
            continue
        filled += 1
        system = PrimalSystem(*training.centred(problem.intercept))
        held = fold.about(*training.means(problem.intercept))
        for row, alpha in zip(scores, alphas, strict=True):
            coef = system.coefficients(np.full(statistics.n_targets, alpha))
            row += to_numpy(held.squared_error(coef))
    if filled < 2:
        raise ValueError(
            f"Cross-validation in {statistics.n_folds} folds needs rows in at least two of them, "
            f"but there are {total.n_rows} row(s); use more rows, or give alpha."
        )
    return scores / total.weight
