"""The choice of alpha with many features: a few Cholesky factorisations bracket it.

A tridiagonal reduction scores every candidate, but half of it is bound by memory: beyond the
caches it takes the time of some ten factorisations, for all rows and once more for each fold.
The error is a smooth function of log(alpha), mostly with one minimum, so that some seven of 31
candidates are enough to find it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._array import is_numpy, to_numpy
from .cost import LARGE
from .problem import KNOWN, TRUSTED, Problem, choose, generalised_error, over_targets
from .statistics import Moments, RidgeStatistics
from .symmetric_sums import largest_eigenvalue, solved, trace
from .systems import (
    GivenSystem,
    PrimalSystem,
    System,
    residual_freedom,
)

#: Rows to hold out at least, if there are as many: with fewer of them the choice depends on which.
HELD_OUT = 4000
#: Candidates to start from.
FIRST = 3
#: An error that is larger by this share on both sides of a candidate is as good as the same.
FLAT = 0.005
#: Folds of which one outweighs another this many times do not stand for each other.
UNEVEN = 2.0


@dataclass(frozen=True)
class Bracket:
    """A choice of alpha.

    Attributes
    ----------
    system : System
        All rows, solved at the chosen alpha.
    problem : Problem
        The problem, its candidates those that were evaluated.
    held_out : pair of str and array
        The criterion, and its scores of these candidates.
    """

    system: System
    problem: Problem
    held_out: tuple[str, np.ndarray]


def bracketed(statistics: RidgeStatistics, totals: Moments, problem: Problem) -> Bracket | None:
    """Return the choice of one alpha for all targets, or nothing where it needs the whole path.

    That is: few features, an alpha for each target, a single candidate, or candidates so small
    that the factorisation may fail for the rounding of the sums.

    Parameters
    ----------
    statistics : RidgeStatistics
        Sums by folds, or without folds for generalised cross-validation.
    totals : Moments
        Their total.
    problem : Problem
        What is asked.
    """
    many = problem.alpha is None or np.unique(problem.alpha).size > 1
    few = totals.n_features < LARGE and not problem.briefly
    if few or problem.per_target or not many:
        return None
    # Two folds at least, or there is nothing to learn from; the other way says so.
    if statistics.n_folds and sum(fold.weight > 0 for fold in statistics.folds) < 2:
        return None
    gram, cross, squares = totals.centred(problem.intercept)
    mean, largest = trace(gram) / totals.n_features, largest_eigenvalue(gram)
    alphas = problem.candidates(mean, KNOWN * totals.rounding * largest)
    if len(alphas) == 1 or not alphas[0] > max(TRUSTED, totals.rounding) * mean:
        return None

    def solved(alpha: float) -> GivenSystem:
        return GivenSystem(gram, cross, squares, alpha, largest)

    if statistics.n_folds:
        held_out = HeldOut(statistics, totals, problem.intercept)
        tried, scores = searched(alphas, held_out.score, totals.n_targets)
        del held_out
        chosen = choose(scores, tried, per_target=False)[0]
        try:
            system: System = solved(float(chosen))
        except np.linalg.LinAlgError:
            system = PrimalSystem(gram, cross, squares)
        return Bracket(system, _among(problem, tried), ("cv", scores))

    systems: dict[float, GivenSystem] = {}
    counted = problem.counted(totals.weight, totals.n_positive)

    def generalised(alpha: float) -> np.ndarray:
        systems[alpha] = own = solved(alpha)
        left = residual_freedom(own, alpha, totals, problem)
        return generalised_error(own.residual_squares(alpha) / totals.weight, left, counted)

    tried, scores = searched(alphas, generalised, totals.n_targets)
    chosen = choose(scores, tried, per_target=False)[0]
    if chosen not in systems:
        return None
    return Bracket(systems[chosen], _among(problem, tried), ("gcv", scores))


def _among(problem: Problem, alphas: np.ndarray) -> Problem:
    """Return the problem with these candidates and no others."""
    return replace(problem, alpha=alphas, above_rounding=False)


def searched(
    alphas: np.ndarray, score: Callable[[float], np.ndarray], n_targets: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates that were evaluated on the way to the best, and their scores.

    From a few that are spread evenly, the gaps beside the best one are halved until there are
    none, or the error is flat.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        The candidates, ascending.
    score : callable
        Returns the error of every target at an alpha. A candidate that cannot be factorised,
        or whose error is no number, counts as infinitely bad.
    n_targets : int
        Columns of the targets.

    Examples
    --------
    >>> tried, _ = searched(np.arange(1.0, 32.0), lambda alpha: np.array([abs(alpha - 7)]), 1)
    >>> tried
    array([ 3.,  6.,  7.,  8.,  9., 11., 16., 26.])
    """
    found: dict[int, np.ndarray] = {}
    spread = ((np.arange(FIRST) + 0.5) * len(alphas) / FIRST).astype(int)
    waiting = list(dict.fromkeys(spread.tolist()))
    while waiting:
        for place in waiting:
            found[place] = _safe(score, float(alphas[place]), n_targets)
        places = sorted(found)
        tried, scores = alphas[places], np.array([found[place] for place in places])
        waiting = _beside_the_best(np.array(places), tried, scores, len(alphas))
    return tried, scores


def _safe(score: Callable[[float], np.ndarray], alpha: float, n_targets: int) -> np.ndarray:
    """Return the score, infinite where there is none."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = score(alpha)
    except np.linalg.LinAlgError:
        return np.full(n_targets, np.inf)
    return np.where(np.isnan(found), np.inf, found)


def _beside_the_best(
    places: np.ndarray, tried: np.ndarray, scores: np.ndarray, size: int
) -> list[int]:
    """Return the place to evaluate next, among the untried ones beside the best; or none."""
    best = int(np.flatnonzero(tried == choose(scores, tried, per_target=False)[0])[0])
    place = int(places[best])
    first, last = best == 0, best == len(places) - 1
    low = -1 if first else int(places[best - 1])
    high = size if last else int(places[best + 1])
    below, above = place - low - 1, high - place - 1
    if below + above == 0:
        return []
    if not first and not last:
        errors = over_targets(scores)[best - 1 : best + 2]
        if np.isfinite(errors[1]) and max(errors) - errors[1] <= FLAT * abs(errors[1]):
            return []
    # Nothing is known beyond the outermost: the end itself is looked at before its neighbours.
    if first and below:
        return [0 if below <= 2 else (low + place) // 2]
    if last and above:
        return [size - 1 if above <= 2 else (high + place + 1) // 2]
    return [(place + high) // 2 if above >= below else (low + place + 1) // 2]


@dataclass(frozen=True)
class _Split:
    """The sums of the rows outside a fold, centred, and the fold."""

    gram: Any
    cross: Any
    z_mean: Any
    y_mean: Any
    fold: Moments


class HeldOut:
    """The mean squared error on held-out rows, one alpha at a time.

    One fold is held out if it has rows enough, otherwise as many as needed: every fold costs a
    factorisation for every alpha.

    Parameters
    ----------
    statistics : RidgeStatistics
        Sums by folds, at least two of them with rows.
    totals : Moments
        Their total.
    intercept : bool
        Whether a constant is fitted.

    Examples
    --------
    >>> statistics = RidgeStatistics(1, 1, n_folds=2)
    >>> statistics.add(np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.ones((4, 1)))
    >>> HeldOut(statistics, statistics.total(), intercept=True).score(1.0)
    array([0.])
    """

    def __init__(self, statistics: RidgeStatistics, totals: Moments, intercept: bool) -> None:
        self._splits = []
        for number in _folds_to_hold_out(statistics):
            rest = statistics.without(number, totals)
            means = rest.means(intercept)
            rest = rest.about(*means)
            self._splits.append(_Split(rest.gram, rest.cross, *means, statistics.folds[number]))
        self._weight = sum(split.fold.weight for split in self._splits)
        self._work = np.empty_like(totals.gram) if is_numpy(totals.gram) else None

    def score(self, alpha: float) -> np.ndarray:
        """Return the mean squared error of every target."""
        squares = [self._squared_error(split, alpha) for split in self._splits]
        return np.sum(squares, axis=0) / self._weight

    def _squared_error(self, split: _Split, alpha: float) -> np.ndarray:
        coef = solved(split.gram, alpha, split.cross, self._work)
        fold = split.fold
        # The fold's sums are about a point of their own, where the prediction is off by this;
        # moving them would copy them.
        shift = fold.y_reference - split.y_mean - (fold.z_reference - split.z_mean) @ coef
        sums = fold.y_sum - fold.z_sum @ coef
        squares = fold.squared_error(coef) + 2 * shift * sums + fold.weight * shift**2
        return np.maximum(to_numpy(squares), 0.0)


def _folds_to_hold_out(statistics: RidgeStatistics) -> list[int]:
    """Return the folds to hold out: as few as have rows enough, the most usual ones first."""
    weights = np.array([fold.weight for fold in statistics.folds])
    filled = np.flatnonzero(weights > 0)
    if weights[filled].max() > UNEVEN * weights[filled].min():
        return [int(number) for number in filled]
    order = filled[np.argsort(np.abs(weights[filled] - weights[filled].mean()), kind="stable")]
    rows = np.cumsum([statistics.folds[number].n_positive for number in order])
    return [int(number) for number in order[: np.searchsorted(rows, HELD_OUT) + 1]]
