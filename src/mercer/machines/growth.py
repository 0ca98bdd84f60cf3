"""Ridge machines whose features grow: doubled until the held-out score hardly rises any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from ..engine.config import matrix_memory
from ..features.growth import FIRST, GrowthPath, Parts, made_of, new_part
from ..solvers import Problem, RidgeStatistics
from ..solvers.cost import LARGE, solve_memory
from ..solvers.extension import Extension
from .feature_rows import FeatureRows
from .ridge_state import RidgeState

#: Rows for each feature, at least: with fewer the exact kernel costs no more.
ROWS_EACH = 2
#: The share of a gain that the next doubling is taken to bring, where nothing is known yet, and at
#: most: gains shrink, if slowly.
NEXT, SLOWEST = 0.5, 0.7

#: Called as ``blocks(state)``: yields the arguments of ``state.add``, as often as it is called.
Passes = Callable[[RidgeState], Iterator[Any]]


def grown_state(
    features: Any,
    X: Any,
    empty: Callable[[FeatureRows], RidgeState],
    blocks: Passes,
    tolerance: float,
) -> RidgeState:
    """Return the state of a ridge machine whose features have grown.

    Each step draws as many features as there are, computes their products with all others in one
    pass, and solves; nothing that was computed before is computed again but the features.

    Parameters
    ----------
    features : FeatureMap
        With ``n_components="auto"``.
    X : array of shape (n_rows, n_features)
        Checked rows.
    empty : callable
        ``empty(rows)`` gives the state of a machine on such features that has seen no row.
    blocks : callable
        ``blocks(state)`` yields all rows as arguments of ``state.add``.
    tolerance : float
        What further doublings may promise to add to the score.
    """
    n_rows = int(X.shape[0])
    size = max(1, min(FIRST, n_rows // ROWS_EACH))
    template = clone(features).set_params(n_components=size).fit_checked(X)
    kernel, seed = template.kernel_, template.seed_
    maps = [new_part(features, kernel, seed, 0, size, X)]
    state = empty(_rows(features, kernel, seed, maps))
    for block in blocks(state):
        state.add(*block)
    problem = state.problem
    sizes, scores = [state.rows.width], [_score(state, problem, blocks)]
    while True:
        total = sizes[-1]
        if 2 * total * ROWS_EACH > n_rows:
            stopped = f"more than {total:,} features for {n_rows:,} rows would not be worth it"
            break
        if solve_memory(2 * total, state.n_folds) > matrix_memory():
            stopped = f"the memory budget does not allow {2 * total:,} features"
            break
        if promise(scores) <= tolerance:
            stopped = f"further doublings promise {promise(scores):.2g}, at most {tolerance:g}"
            break
        maps.append(new_part(features, kernel, seed, len(maps), total, X))
        rows = _rows(features, kernel, seed, maps)
        state = widened(state, rows, blocks(empty(rows)))
        sizes.append(state.rows.width)
        scores.append(_score(state, problem, blocks))
    if state.problem.briefly:
        # Once more, with all candidates for alpha.
        scores[-1] = _solved(state, problem, blocks)
    state.growth = GrowthPath(tuple(sizes), tuple(scores), "held-out R2", stopped)
    return state


def widened(state: RidgeState, rows: FeatureRows, blocks: Iterable[Any]) -> RidgeState:
    """Return the state of more features of the same rows, of which its own are the first.

    Parameters
    ----------
    state : RidgeState
        What was learnt with the first features.
    rows : FeatureRows
        All features; the first ones are the present ones times a number.
    blocks : iterable
        The arguments of ``state.add``, block by block as they were added.
    """
    other = RidgeState(state.targets, rows, state.problem, state.n_folds)
    gathered = state.gathered
    if type(gathered) is not RidgeStatistics:
        # On a device, or of few bits: products cost little beside what they are made of.
        for block in blocks:
            other.add(*block)
        return other
    first = state.rows.width
    extension = Extension(gathered, (first / rows.width) ** 0.5, rows.width - first)
    for X, Y, weights, counts, n_before in blocks:
        Z = rows.gathered(X, n_before)
        other.observe(Z, Y, weights, counts)
        extension.add(Z, Y, weights)
    other.gathered = extension.joined()
    return other


def _score(state: RidgeState, problem: Problem, blocks: Passes) -> float:
    """Return the held-out score of a state that may not be the last one."""
    if state.rows.width < LARGE:
        # A reduction for all candidates, and for each fold, takes longer than all sums.
        problem = replace(problem, briefly=True)
    return _solved(state, problem, blocks)


def _solved(state: RidgeState, problem: Problem, blocks: Passes) -> float:
    """Return the held-out score of a state that has seen all rows, solved here."""

    def again() -> Iterator[Any]:
        for block in blocks(state):
            yield state.features_again(*block)

    state.solve(again, problem)
    return 1 - state.expected_error()


def promise(scores: list[float]) -> float:
    """Return what further doublings promise to add to the last score, all together.

    The last gains are continued as a geometric series, up to a score of 1.

    Examples
    --------
    >>> promise([0.5]), round(promise([0.5, 0.7, 0.8]), 3), promise([0.5, 0.5])
    (inf, 0.1, 0.0)
    >>> round(promise([0.5, 0.99]), 3)
    0.01
    """
    if len(scores) < 2:
        return float("inf")
    gain = scores[-1] - scores[-2]
    if gain <= 0:
        return 0.0
    ratio = NEXT
    if len(scores) > 2 and scores[-2] > scores[-3]:
        ratio = gain / (scores[-2] - scores[-3])
    ratio = min(ratio, SLOWEST)
    return min(gain * ratio / (1 - ratio), max(0.0, 1 - scores[-1]))


def _rows(features: Any, kernel: Any, seed: int, maps: list[Any]) -> FeatureRows:
    """Return the features of maps side by side."""
    made = made_of(features, kernel, seed, Parts(maps))
    return FeatureRows(made, made.n_features_out_)
