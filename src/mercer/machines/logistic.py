"""Squared error or logistic loss: what exact classifiers of two classes compare on held-out rows.

Both functions get the scale of the softmax that suits held-out rows best, and are compared by the
log loss on them; the Newton steps of the logistic one begin with the function of the squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._array import to_numpy
from ..solvers import Problem, Solution
from ..solvers.conjugate_gradients import Iteration
from ..solvers.iterative import IterativeFit
from ..solvers.logistic import (
    ENDED,
    Decisions,
    DenseRidge,
    LogisticFit,
    LogisticLoss,
    NewtonOptions,
    best_logistic,
    newton_steps,
    values_of,
)
from ..solvers.low_rank_posterior import LowRankPosterior
from ..solvers.row_systems import AllRows, IterativeOptions
from .calibration import HeldOut

#: Ridge parameters over that of the squares: from the first one down, as long as they are better.
FACTORS = (1.0, 10**-0.5, 0.1, 10**-1.5)
#: The share of a log loss that does not count as a difference: squares are then kept.
TIE = 0.003
#: Iterations and Newton steps: until held-out rows no longer gain, and the largest change of a
#: decision that ends the steps.
STEP, MOST_STEPS, CHANGE = Iteration(0.1, 20), 4, 0.02
#: Steps that learn from the held-out rows, too.
LAST_STEPS = 2
#: The same, to a tolerance that is asked for.
EXACT_STEP, MOST_EXACT_STEPS = Iteration(1e-3, 1000), 50


@dataclass(frozen=True)
class LogisticSolution:
    """A logistic decision function, and the rows it was chosen on.

    Attributes
    ----------
    solution : Solution
        Coefficients in the order of the rows; scores are log losses.
    held_out : HeldOut
        Decisions for held-out rows.
    loss : float
        Their log loss.
    curvature : array of shape (n_rows,)
        Second derivatives of the rows' losses: the weights of the posterior.
    n_steps : int
        Newton steps of all candidates.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all was tried, else empty.
    posterior : LowRankPosterior or None
        Of the coefficients, where they are found iteratively.
    """

    solution: Solution
    held_out: HeldOut
    loss: float
    curvature: np.ndarray
    n_steps: int
    stopped: str
    posterior: LowRankPosterior | None = None

    def beats(self, squared: float) -> bool:
        """Return whether it has the smaller log loss, by more than a tie."""
        return self.loss < (1 - TIE) * squared

    def described(self, squared: float, taken: bool) -> str:
        """Return a sentence on the comparison."""
        rows = f"{len(self.held_out.targets):,} held-out rows"
        kept = "logistic loss" if taken else "squared error kept"
        return (
            f"{kept}: log loss {self.loss:.4g} with {self.n_steps} Newton steps against "
            f"{squared:.4g} with squares on {rows}"
        )


def both_classes(signs: np.ndarray) -> bool:
    """Return whether rows of both classes are there: a constant alone has no finite logistic fit.

    Examples
    --------
    >>> both_classes(np.ones(3))
    False
    """
    return bool((signs > 0).any() and (signs < 0).any())


def candidates(given: bool, solution: Solution) -> list[float]:
    """Return ridge parameters: those that were given, or some below that of the squares."""
    if given:
        return [float(alpha) for alpha in solution.alphas]
    return [float(solution.alpha[0]) * factor for factor in FACTORS]


def logistic_directly(
    K: Any, squares: Solution, held: HeldOut, problem: Problem, given: bool
) -> LogisticSolution | None:
    """Return the logistic function by factorisations, chosen by leave-one-out.

    Leave-one-out is that of the regression that is the last Newton step. ``None`` if all rows are
    of one class.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The kernel matrix.
    squares : Solution
        That of the squared error.
    held : HeldOut
        Its leave-one-out predictions, with targets and weights.
    problem : Problem
        What was asked.
    given : bool
        Whether its ridge parameters are meant for the logistic loss.
    """
    signs = held.targets[:, 0]
    if not both_classes(signs):
        return None
    system, loss = DenseRidge(K, problem.intercept), LogisticLoss(signs, held.weights)
    coef, constant, scale = squares.coef[:, 0], float(squares.intercept[0]), 2 * held.scale()
    start = Decisions(coef, constant, values_of(K, coef) + constant).scaled(scale)
    judge, before = _Judge(held), scale * held.predicted[:, 0]
    alphas = candidates(given, squares)
    coarse = best_logistic(
        system, loss, alphas, start, before, judge, NewtonOptions(tolerance=CHANGE)
    )
    found = coarse
    if coarse.n_steps and not coarse.stopped:
        # Only the best one is worth all digits.
        found = best_logistic(
            system, loss, [coarse.alpha], coarse.decisions, coarse.held_out, judge
        )
    held = judge.rows(found.held_out)
    curvature = loss.curvature(found.decisions.values)
    left_out = held.targets - held.predicted
    solution = _solution(
        squares, coarse, found.decisions.coef, found, held, left_out, system.degrees_of_freedom
    )
    steps = coarse.n_steps + (found.n_steps if found is not coarse else 0)
    stopped = coarse.stopped or found.stopped
    return LogisticSolution(solution, held, judge(found.held_out), curvature, steps, stopped)


def logistic_iteratively(
    fit: IterativeFit,
    signs: np.ndarray,
    weights: np.ndarray | None,
    held: HeldOut,
    options: IterativeOptions,
    given: bool,
) -> LogisticSolution | None:
    """Return the logistic function by conjugate gradients, on the matrix of the squared error.

    Rows that the squares held out are held out again, and learnt from at last if the squares did
    so. ``None`` if there is no time left, if rows of one class only are learnt from, or for
    landmarks.

    Parameters
    ----------
    fit : IterativeFit
        That of the squared error, with its system.
    signs : array of shape (n_rows,)
        -1 and 1.
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    held : HeldOut
        What squares predict for the held-out rows.
    options : IterativeOptions
        How the squares were solved.
    given : bool
        Whether the ridge parameters that were asked for are meant for the logistic loss.
    """
    kept = fit.kept
    if kept is None or not isinstance(kept.system, AllRows):
        return None
    system, order, squares = kept.system, kept.order, kept.solution
    n_held, signs = len(fit.places), signs[order]
    if fit.stopped in ENDED or not both_classes(signs[n_held:]):
        return None
    own = np.ones(len(signs)) if weights is None else weights[order].astype(float)
    part = np.where(np.arange(len(signs)) < n_held, 0.0, own)
    exactly = options.tolerance is not None
    step = replace(EXACT_STEP if exactly else STEP, deadline=options.deadline)
    newton = NewtonOptions(MOST_STEPS, CHANGE, True, options.deadline)
    if options.tolerance is not None:
        newton = NewtonOptions(MOST_EXACT_STEPS, options.tolerance, False, options.deadline)
    regression, judge, scale = system.regression(n_held, step), _Judge(held), 2 * held.scale()
    start = regression.values(
        scale * to_numpy(squares.coef)[:, 0], scale * float(squares.intercept[0])
    )
    found = best_logistic(
        regression,
        LogisticLoss(signs, part),
        candidates(given, fit.solution),
        start,
        start.values[:n_held],
        judge,
        newton,
    )
    now, learnt, stopped = found.decisions, LogisticLoss(signs, part), found.stopped
    if fit.rows_share == 1 and found.n_steps and not stopped:
        learnt = LogisticLoss(signs, own)
        most = MOST_EXACT_STEPS if exactly else LAST_STEPS
        try:
            for there in newton_steps(regression, learnt, found.alpha, now, most, newton.tolerance):
                now = there
            stopped = regression.stopped if regression.stopped in ENDED else ""
        except KeyboardInterrupt:
            stopped = "interrupted"
    # What rounding of the tiles has done to decisions is seen with the kernel itself.
    held = judge.rows(system.predicted(n_held, found.decisions.coef) + found.decisions.constant)
    curvature = learnt.curvature(now.values)
    posterior = system.weighted_posterior(curvature, found.alpha, order)
    coef, _ = system.original(now.coef, order)
    solution = _solution(
        fit.solution, found, coef, found, held, None, regression.degrees_of_freedom
    )
    solution = replace(solution, intercept=np.asarray([now.constant]))
    at_rows, _ = system.original(curvature, order)
    return LogisticSolution(
        solution, held, held.log_loss(), at_rows, found.n_steps, stopped, posterior
    )


class _Judge:
    """The log loss of decisions for held-out rows."""

    def __init__(self, held: HeldOut) -> None:
        self._held = held

    def rows(self, decisions: np.ndarray) -> HeldOut:
        """Return decisions with targets and weights."""
        return replace(self._held, predicted=np.reshape(decisions, (-1, 1)))

    def __call__(self, decisions: np.ndarray) -> float:
        return self.rows(decisions).log_loss()


def _solution(
    squares: Solution,
    tried: LogisticFit,
    coef: np.ndarray,
    found: LogisticFit,
    held: HeldOut,
    left_out: np.ndarray | None,
    degrees_of_freedom: float,
) -> Solution:
    """Return the record of a logistic function.

    What squares measure is measured with the expected signs that probabilities give.
    """
    signs = np.tanh(held.scale() * held.predicted)
    error = np.average((signs - held.targets) ** 2, axis=0, weights=held.weights)
    places, criterion = np.argsort(tried.alphas), "held_out" if left_out is None else "loo"
    return replace(
        squares,
        coef=coef[:, None],
        intercept=np.asarray([found.decisions.constant]),
        alpha=np.asarray([found.alpha]),
        criterion=criterion if len(places) > 1 else "given",
        expected_by=criterion,
        condition=np.nan,
        alphas=np.asarray(tried.alphas)[places],
        scores=np.asarray(tried.losses)[places][:, None],
        degrees_of_freedom=np.asarray([degrees_of_freedom]),
        residual=error,
        expected=error,
        # The unit of decisions: that of a latent function.
        noise=np.ones(1),
        left_out=left_out,
    )
