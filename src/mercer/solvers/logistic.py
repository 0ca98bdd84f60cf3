"""Kernel logistic regression of two classes by Newton steps on the solvers of ridge regression.

With signs y of -1 and 1 and weights w it minimises

    Σ wᵢ log(1 + exp(-yᵢ f(xᵢ))) + α/2 ‖f - b‖²,    f = Σ βᵢ k(·, xᵢ) + b.

A Newton step is a ridge regression with the same α [1]_: with p = 1 / (1 + exp(-f)) and the
curvature h = p (1 - p), rows have the weights w h and the targets f + ((1 + y)/2 - p) / h. Only
weights and targets change from step to step, never the kernel matrix.

References
----------
.. [1] G. C. Cawley and N. L. C. Talbot, "Efficient approximate leave-one-out cross-validation for
   kernel logistic regression", Machine Learning 71, 2008.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from .._array import beside, to_numpy
from .dual import kernel_coefficients, solve_kernel
from .problem import Problem

#: Why a solve stops whose Newton steps stop with it.
ENDED = ("time", "interrupted")
#: The smallest curvature of a row: beyond, its loss is as good as linear.
LEAST = 1e-4
#: Halvings of a step that does not lower the loss, at most.
HALVINGS = 12
#: The loss may rise by so large a share: rounding.
ROUNDING = 1e-12
#: Largest root of the mean square of decisions from which Newton steps begin: beyond, most rows
#: have no curvature.
LARGEST_START = 3.0


class Decisions(NamedTuple):
    """A decision function: coefficients of all rows, the constant, and its values at all rows."""

    coef: np.ndarray
    constant: float
    values: np.ndarray

    def towards(self, other: Decisions, share: float) -> Decisions:
        """Return the function on the line to another one.

        Examples
        --------
        >>> zero, one = (Decisions(np.full(1, v), v, np.full(1, v)) for v in (0.0, 1.0))
        >>> zero.towards(one, 0.25).constant
        0.25
        """
        return Decisions(
            self.coef + share * (other.coef - self.coef),
            self.constant + share * (other.constant - self.constant),
            self.values + share * (other.values - self.values),
        )

    def scaled(self, scale: float) -> Decisions:
        """Return the function times a number."""
        return Decisions(scale * self.coef, scale * self.constant, scale * self.values)


class WeightedRidge(Protocol):
    """Ridge regressions with one kernel matrix, and weights and targets that change."""

    #: Why a solve ended: ``"time"`` and ``"interrupted"`` end the Newton steps, too.
    stopped: str
    #: Those of the last regression, as far as they are known.
    degrees_of_freedom: float

    def solve(
        self, start: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> Decisions:
        """Return the regression of ``targets``, or a function nearer to it than ``start``."""
        ...

    def held_out(
        self, now: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> np.ndarray:
        """Return decisions for held-out rows, from the regression that a step from ``now`` has."""
        ...


class LogisticLoss:
    """The loss of two classes.

    Parameters
    ----------
    signs : array of shape (n_rows,)
        -1 and 1.
    weights : array of shape (n_rows,)
        Weights of the rows, 0 for held-out ones.

    Examples
    --------
    >>> loss = LogisticLoss(np.asarray([1.0]), np.ones(1))
    >>> targets, weights = loss.regression(np.zeros(1))
    >>> float(targets[0]), float(weights[0])
    (2.0, 0.25)
    """

    def __init__(self, signs: np.ndarray, weights: np.ndarray) -> None:
        self.signs: np.ndarray = signs
        self.weights: np.ndarray = weights

    def penalised(self, now: Decisions, alpha: float) -> float:
        """Return the loss with its penalty; the norm is known from the values."""
        losses = np.logaddexp(0.0, -self.signs * now.values)
        return float(self.weights @ losses + alpha / 2 * (now.coef @ (now.values - now.constant)))

    def curvature(self, values: np.ndarray) -> np.ndarray:
        """Return the second derivative of every row's weighted loss."""
        p = expit(values)
        return np.asarray(self.weights * np.maximum(p * (1 - p), LEAST))

    def regression(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return targets and weights of the ridge regression that is a Newton step."""
        p = expit(values)
        steepness = np.maximum(p * (1 - p), LEAST)
        return values + ((1 + self.signs) / 2 - p) / steepness, self.weights * steepness


def newton_steps(
    system: WeightedRidge,
    loss: LogisticLoss,
    alpha: float,
    start: Decisions,
    most: int = 30,
    tolerance: float = 1e-8,
) -> Iterator[Decisions]:
    """Yield the decision function after every Newton step, until it no longer changes.

    Parameters
    ----------
    system : WeightedRidge
        Solves the steps.
    loss : LogisticLoss
        What is minimised.
    alpha : float
        The ridge parameter.
    start : Decisions
        Where to begin.
    most : int, default=30
        Steps, at most.
    tolerance : float, default=1e-8
        The largest change of a decision in the last step.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)
    >>> K, zero = np.exp(-abs(x[:, None] - x)), np.zeros(20)
    >>> loss = LogisticLoss(np.sign(x), np.ones(20))
    >>> *_, last = newton_steps(DenseRidge(K), loss, 0.1, Decisions(zero, 0.0, zero))
    >>> gradient = loss.weights * ((1 + loss.signs) / 2 - expit(last.values)) - 0.1 * last.coef
    >>> bool(abs(gradient).max() < 1e-8)
    True
    """
    now, value = start, loss.penalised(start, alpha)
    learnt = loss.weights > 0
    for _ in range(most):
        found = system.solve(now, *loss.regression(now.values), alpha)
        share = 1.0
        for _ in range(HALVINGS):
            there = now.towards(found, share)
            lower = loss.penalised(there, alpha)
            if lower <= value + ROUNDING * abs(value):
                break
            share /= 2
        else:
            return
        change = float(np.abs(there.values - now.values)[learnt].max())
        now, value = there, lower
        yield now
        if change <= tolerance or system.stopped in ENDED:
            return


def values_of(K: Any, coef: np.ndarray) -> np.ndarray:
    """Return the product of a kernel matrix of any library with coefficients.

    Examples
    --------
    >>> values_of(2 * np.eye(2), np.asarray([1.0, 3.0]))
    array([2., 6.])
    """
    return to_numpy(K @ beside(K, coef))


class DenseRidge:
    """Weighted ridge regressions by factorisations of a kernel matrix that is there as a whole.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The kernel matrix; it is not changed.
    intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    """

    def __init__(self, K: Any, intercept: bool = True) -> None:
        self._K, self._intercept = K, intercept
        self.stopped: str = ""
        self.degrees_of_freedom: float = np.nan

    def solve(
        self, start: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> Decisions:
        """Return the regression."""
        found = kernel_coefficients(self._K, targets[:, None], [alpha], weights, self._intercept)
        coef, constant = found[0][0][:, 0], float(found[0][1][0])
        return Decisions(coef, constant, values_of(self._K, coef) + constant)

    def held_out(
        self, now: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> np.ndarray:
        """Return leave-one-out decisions: exact ones of the regression that is the last step."""
        problem = Problem(alpha, self._intercept, leave_one_out=True)
        found = solve_kernel(self._K, targets[:, None], problem, weights)
        assert found.left_out is not None
        self.degrees_of_freedom = float(found.degrees_of_freedom[0])
        return np.asarray(targets - found.left_out[:, 0])


@dataclass(frozen=True)
class LogisticFit:
    """The best decision function of some ridge parameters and Newton steps.

    Attributes
    ----------
    decisions : Decisions
        Of all rows, learnt from those that are not held out.
    alpha : float
        Its ridge parameter.
    held_out : array of shape (n_held_out,)
        Its decisions for held-out rows.
    loss : float
        What the judge says of them.
    n_steps : int
        Newton steps of all candidates; 0 if there was no time for one, and the decisions are those
        of the start.
    alphas, losses : list of float
        The candidates that were tried, and the best that the judge said of each.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all was tried, else empty.
    """

    decisions: Decisions = field(repr=False)
    alpha: float
    held_out: np.ndarray = field(repr=False)
    loss: float
    n_steps: int
    alphas: list[float]
    losses: list[float]
    stopped: str


@dataclass(frozen=True)
class NewtonOptions:
    """How Newton steps are taken and judged.

    Attributes
    ----------
    most : int
        Steps for each ridge parameter, at most.
    tolerance : float
        The largest change of a decision in the last step.
    every_step : bool
        Judge every step, and not only the last one of each ridge parameter: where decisions for
        held-out rows cost nothing. A step that they do not like is the last one.
    deadline : float
        Value of ``time.perf_counter()`` after which no step starts.
    """

    most: int = 30
    tolerance: float = 1e-8
    every_step: bool = False
    deadline: float = np.inf


class _Search:
    """The steps of all ridge parameters, and the best of them."""

    def __init__(
        self,
        system: WeightedRidge,
        loss: LogisticLoss,
        judge: Callable[[np.ndarray], float],
        options: NewtonOptions,
    ) -> None:
        self._system, self._loss, self._judge, self._options = system, loss, judge, options
        self.best: tuple[float, float, Decisions, np.ndarray] | None = None
        self.tried: dict[float, float] = {}
        self.n_steps, self.stopped = 0, ""

    def run(self, alphas: list[float], here: Decisions) -> None:
        """Try the ridge parameters from the largest one down, until one is worse than before."""
        for alpha in sorted(alphas, reverse=True):
            before = min(self.tried.values(), default=np.inf)
            here = self._steps(alpha, here)
            if self.stopped or self.tried[alpha] >= before:
                return

    def _steps(self, alpha: float, here: Decisions) -> Decisions:
        options = self._options
        for now in newton_steps(
            self._system, self._loss, alpha, here, options.most, options.tolerance
        ):
            here, self.n_steps = now, self.n_steps + 1
            if time.perf_counter() > options.deadline:
                self.stopped = "time"
            if self.stopped or (options.every_step and not self._improved(alpha, here)):
                break
        if self._system.stopped in ENDED:
            self.stopped = self._system.stopped
        if self.stopped or alpha not in self.tried:
            self._improved(alpha, here)
        return here

    def _improved(self, alpha: float, now: Decisions) -> bool:
        """Judge a function, and return whether it is the best of its ridge parameter."""
        held_out = self._system.held_out(now, *self._loss.regression(now.values), alpha)
        error, known = self._judge(held_out), self.tried.get(alpha, np.inf)
        self.tried[alpha] = min(error, known)
        if self.best is None or error < self.best[0]:
            self.best = error, alpha, now, held_out
        return error < known


def best_logistic(
    system: WeightedRidge,
    loss: LogisticLoss,
    alphas: list[float],
    start: Decisions,
    held_out: np.ndarray,
    judge: Callable[[np.ndarray], float],
    options: NewtonOptions | None = None,
) -> LogisticFit:
    """Return the best of some ridge parameters, and of their Newton steps, by held-out rows.

    From the largest one down each begins with the function of the one before. Without time for a
    step, or interrupted before it is done, the start is returned.

    Parameters
    ----------
    system : WeightedRidge
        Solves the steps.
    loss : LogisticLoss
        What is minimised.
    alphas : list of float
        The ridge parameters.
    start : Decisions
        Where to begin, such as the function of the squared error, times a scale.
    held_out : array of shape (n_held_out,)
        Its decisions for held-out rows.
    judge : callable
        Gives the held-out error of decisions for held-out rows.
    options : NewtonOptions, default=None
        How steps are taken.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)
    >>> K, zero = np.exp(-abs(x[:, None] - x)), np.zeros(20)
    >>> loss = LogisticLoss(np.sign(x), np.ones(20))
    >>> judge = lambda values: float(np.logaddexp(0.0, -loss.signs * values).mean())
    >>> start = Decisions(zero, 0.0, zero)
    >>> found = best_logistic(DenseRidge(K), loss, [10.0, 0.1], start, zero, judge)
    >>> found.alpha, bool(found.loss < 0.2)
    (0.1, True)
    """
    search = _Search(system, loss, judge, options or NewtonOptions())
    size = float(np.sqrt(np.mean(start.values[loss.weights > 0] ** 2)))
    begin = start.scaled(min(1.0, LARGEST_START / max(size, 1e-300)))
    try:
        search.run(alphas, begin)
    except KeyboardInterrupt:
        search.stopped = "interrupted"
    best = search.best or (judge(held_out), max(alphas), start, held_out)
    tried = search.tried or {best[1]: best[0]}
    return LogisticFit(
        decisions=best[2],
        alpha=best[1],
        held_out=best[3],
        loss=best[0],
        n_steps=search.n_steps if search.best else 0,
        alphas=list(tried),
        losses=list(tried.values()),
        stopped=search.stopped,
    )
