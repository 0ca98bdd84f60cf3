"""What a ridge machine has learnt: targets, features, what was gathered, and the solution of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from .._array import (
    as_floating,
    device_of,
    dtype_name,
    is_foreign,
    like,
    moved,
    namespace,
    ones_for_rows,
    to_numpy,
)
from .._devices import algebra_of, placed
from .._registry import storable
from .._words import one_line
from ..engine.sample import RowSample
from ..engine.threads import allowed_threads
from ..features.growth import GrowthPath
from ..solvers import (
    Accumulator,
    FewRows,
    Gathered,
    Problem,
    RidgeStatistics,
    Solution,
    accumulator_for,
    gathered_beside,
    on_host,
    posterior_of,
)
from ..solvers.posterior import Form
from ..solvers.ridge import Blocks, solve_ridge
from .calibration import SAMPLE_ROWS, HeldOut, without_own_row
from .described import Described, described
from .device_rows import beside_features
from .estimator import Values
from .feature_rows import FeatureRows
from .report import CRITERIA, Expectation
from .targets import LabelTargets, Targets

#: Coefficients that float32 may not hold.
LARGE = 1e30


@storable
class RidgeState:
    """The state of :class:`FeatureRidge` and :class:`FeatureRidgeClassifier`.

    Rows are added, and states merged, without solving; the first question solves.

    Parameters
    ----------
    targets : Targets
        Numbers or labels.
    rows : FeatureRows
        How rows become features.
    problem : Problem
        What is asked of the solver.
    n_folds : int
        Folds to keep apart; 0 keeps none.
    """

    targets: Targets
    rows: FeatureRows
    problem: Problem

    #: Whether coefficients are beyond float32, once it is known.
    _large: bool | None = None
    #: What draws the folds of rows that stand below others.
    _draws: np.random.Generator | None = None

    def __init__(self, targets: Targets, rows: FeatureRows, problem: Problem, n_folds: int) -> None:
        self.targets, self.rows, self.problem = targets, rows, problem
        self.gathered: Gathered | None = None
        self.n_folds = n_folds
        self.sample: RowSample | None = (
            RowSample(SAMPLE_ROWS) if isinstance(targets, LabelTargets) else None
        )
        self.n_rows: int = 0
        self.is_compact = False
        #: How the features grew, if they did.
        self.growth: GrowthPath | None = None
        self._kept: HeldOut | None = None
        self._solution: Solution | None = None
        self._scale: float | None = None
        self._posteriors: dict[Any, Form] = {}

    def below(self, n_rows: int, draws: np.random.Generator | None) -> RidgeState:
        """Return an empty state for rows that stand below others.

        Parameters
        ----------
        n_rows : int
            Rows above.
        draws : Generator or None
            What draws the folds from there on, where there are folds.
        """
        other = RidgeState(self.targets, self.rows, self.problem, self.n_folds)
        other._draws = draws
        if other.sample is not None:
            other.sample.skip(n_rows)
        return other

    def add(self, X: Any, Y: Any, weights: Any, counts: Any, n_before: int = 0) -> None:
        """Add a block of checked rows with expanded targets, weights and sample weights."""
        Z = placed(self.rows.gathered(X, n_before))
        Y, weights = beside_features(Z, Y), beside_features(Z, weights)
        self.observe(Z, Y, weights, counts)
        square = self.rows.width**2
        with allowed_threads(Z.shape[0] * square, total=self.n_rows * square):
            self._accumulator(Z).add(Z, Y, weights, self.rows.overwritable)

    def features_again(
        self, X: Any, Y: Any, weights: Any, counts: Any, n_before: int = 0
    ) -> tuple[Any, Any, Any]:
        """Return features, targets and weights of a block that was added, where the sums are."""
        Z = placed(self.rows.dense(X, n_before))
        return Z, beside_features(Z, Y), beside_features(Z, weights)

    def keep(self, X: Any, Y: Any, weights: Any, counts: Any) -> None:
        """Keep rows that are fewer than the features as they are, and solve in their space."""
        Z = as_floating(placed(self.rows.dense(X)), "float64")
        if not self.rows.overwritable:
            # What is kept must not change with the user's own array.
            Z = namespace(Z).asarray(Z, copy=True)
        Y, weights, counts = (
            None if part is None else moved(part) for part in (Y, weights, counts)
        )
        self.observe(Z, Y, weights, counts)
        few = FewRows(Z, Y, weights)
        known = slice(None) if weights is None else weights > 0
        own = _ones(few.Y) if few.weights is None else few.weights
        self._kept = HeldOut(few.Y, few.Y, own, (_ones(Y) if counts is None else counts)[known])
        self.gathered = few

    def observe(self, Z: Any, Y: Any, weights: Any, counts: Any) -> None:
        """Count rows whose features are added up elsewhere, and keep a sample of them."""
        self._forget()
        self.n_rows += int(Z.shape[0])
        if self.sample is not None:
            own = _ones(Y) if weights is None else weights
            self.sample.add(Z, Y, own, _ones(Y) if counts is None else counts)

    def _accumulator(self, Z: Any) -> Accumulator:
        """Return what rows are added to; the first block says of which kind it is."""
        if self.gathered is None:
            size = self.rows.width, self.targets.n_columns, self.n_folds
            made = accumulator_for(Z, *size)
            if self._draws is not None and isinstance(made, RidgeStatistics):
                made.draw_from(self._draws)
            self.gathered = made
        # Sums go where the rows are.
        self.gathered = found = gathered_beside(self.gathered.accumulator(), Z)
        self._kept = None
        return found

    def snapshot(self) -> RidgeState:
        """Return a copy that more rows can be added to without a change in this state."""
        other = copy.copy(self)
        other.gathered, other.sample = copy.deepcopy((self.gathered, self.sample))
        return other

    def merge(self, other: RidgeState) -> None:
        """Add what another state has gathered; nothing changes if it does not fit."""
        self.targets.refuse_other(other.targets)
        for state, name in ((self, "this machine"), (other, "the other machine")):
            state.refuse_compact(f"merge of {name}")
        if self.gathered is None or other.gathered is None:
            raise ValueError("Nothing to merge: a machine has not learnt from any row.")
        mine = self.gathered.accumulator()
        mine.merge(gathered_beside(other.gathered.accumulator(), mine.place))
        self._forget()
        self.gathered, self._kept = mine, None
        self.n_rows += other.n_rows
        if self.sample is not None and other.sample is not None:
            self.sample.merge(other.sample)

    def _forget(self) -> None:
        """Forget what follows from the rows so far, before more are added."""
        self._solution, self._scale, self._posteriors, self._large = None, None, {}, None

    @allowed_threads()
    def solve(self, again: Blocks | None = None, problem: Problem | None = None) -> Solution:
        """Return the solution, made once; ``again()`` yields the training rows once more.

        With a ``problem`` that is asked of the solver from now on.
        """
        if problem is not None and problem is not self.problem:
            self._forget()
            self.problem = problem
        if self._solution is None:
            if self.gathered is None or self.gathered.weight <= 0:
                raise ValueError(
                    "sample_weight is zero for every row so far; more rows are needed."
                )
            self._solution = solve_ridge(self.gathered, self.problem, again)
        return self._solution

    def refuse_compact(self, what: str) -> None:
        """Raise an error if the model was saved without its sums."""
        if self.is_compact:
            raise ValueError(
                f"{what} needs the sums of the training rows, which this model was saved without; "
                "save it with compact=False."
            )

    def expected_error(self) -> float:
        """Return the mean squared error to expect of new rows, over the targets' variance."""
        solution = self.solve()
        self.refuse_compact("The expected error")
        assert self.gathered is not None
        variance = self.gathered.variance()
        known = variance > 0
        return float(np.mean(solution.expected[known] / variance[known])) if known.any() else 0.0

    def expectation(self) -> Expectation:
        """Return what to expect on new rows, and by what criterion."""
        error = self.expected_error()
        score, reason = 1 - error, CRITERIA[self.solve().expected_by]
        if self.sample is not None:
            held_out = self.held_out()
            score = held_out.accuracy()
            reason = f"leave-one-out of {len(held_out.targets):,} rows"
        return Expectation(self.targets.score_name, score, error, reason, self.n_rows)

    def values(self, X: Any, with_variance: bool, n_before: int = 0) -> Values:
        """Return predictions for a block of checked rows, and their variances, where it is."""
        solution = self.solve()
        Z = placed(self.rows.dense(X, n_before))
        # Coefficients beyond float32 keep their own precision.
        if is_foreign(Z):
            made = as_floating(Z, "float64") if self._is_large() else Z
            values = algebra_of(made).product(made, like(made, solution.coef))
            values = as_floating(values + moved(solution.intercept, Z), dtype_name(Z))
        else:
            own = solution.coef.astype(float if self._is_large() else Z.dtype)
            with allowed_threads(2 * Z.shape[0] * own.size):
                values = Z @ own + solution.intercept
        if not with_variance:
            return values, None
        xp = namespace(Z)
        alphas, place = np.unique(solution.alpha, return_inverse=True)
        forms = xp.stack([1 + self._quadratic(float(alpha), Z) for alpha in alphas], axis=1)
        variances = xp.take(forms, beside_features(Z, place), axis=1)
        return values, variances * beside_features(Z, solution.noise)

    def _is_large(self) -> bool:
        """Return whether coefficients are beyond float32, and keep their own precision."""
        if self._large is None:
            coef = self.solve().coef
            self._large = bool(coef.itemsize > 4 and np.abs(coef).max(initial=0.0) > LARGE)
        return self._large

    def _quadratic(self, alpha: float, Z: Any) -> Any:
        """Return the variance of the predictions for rows over that of the noise."""
        self.refuse_compact("The standard deviation of predictions")
        assert self.gathered is not None
        key = alpha, device_of(Z)
        # Blocks of rows are asked for one after the other.
        with allowed_threads(max(Z.shape) * self.rows.width**2, total=np.inf):
            if key not in self._posteriors:
                gathered = gathered_beside(self.gathered, Z)
                self._posteriors[key] = posterior_of(gathered, alpha, self.problem.intercept)
            return self._posteriors[key].quadratic(Z)

    def held_out(self) -> HeldOut:
        """Return exact leave-one-out predictions of a sample of the training rows."""
        solution = self.solve()
        assert self.sample is not None
        if self._kept is not None and solution.left_out is not None:
            return replace(self._kept, predicted=self._kept.targets - solution.left_out)
        Z, Y, weights, counts = self.sample.columns
        assert self.gathered is not None
        there = beside_features(self.gathered.place, Z)
        fitted = Z @ solution.coef + solution.intercept
        left_out = np.empty_like(fitted)
        for alpha in np.unique(solution.alpha):
            own = solution.alpha == alpha
            leverages = weights * to_numpy(self._quadratic(float(alpha), there))
            left_out[:, own] = without_own_row(fitted[:, own], Y[:, own], leverages, weights)
        return HeldOut(left_out, Y, weights, counts)

    def scale(self) -> float:
        """Return the scale of the softmax of decisions, fitted once."""
        if self._scale is None:
            self._scale = self.held_out().scale()
        return self._scale

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, what predictions need and no more."""
        state = {**self.__dict__, "_posteriors": {}, "gathered": on_host(self.gathered)}
        if compact:
            if self.sample is not None and self._scale is None:
                state["_scale"] = self.scale()
            state["_solution"] = replace(self.solve(), left_out=None)
            state.update(gathered=None, sample=None, _kept=None, is_compact=True)
        return state


@described.register
def _described(state: RidgeState) -> Described | None:
    """Return the rows and the features; nothing before the solution is asked for."""
    if state._solution is None:
        return None
    fitted = state.rows.fitted
    made = "the columns as they are" if fitted is None else one_line(fitted)
    lines = [
        ("data", f"{state.n_rows:,} rows"),
        ("features", f"{state.rows.width:,} columns: {made}"),
    ]
    # The accuracy of labels takes a factorisation.
    return Described(lines, knows_score=state.sample is None and not state.is_compact)


def _ones(Y: Any) -> Any:
    """Return a weight of one for every row."""
    return ones_for_rows(Y)
