"""What a ridge machine has learnt: targets, features, what was gathered, and the solution of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from .._registry import storable
from ..engine.sample import RowSample
from ..engine.threads import allowed_threads
from ..solvers import (
    Accumulator,
    FewRows,
    Gathered,
    Problem,
    Solution,
    accumulator_for,
    posterior_of,
)
from ..solvers.posterior import Form
from ..solvers.ridge import Blocks, solve_ridge
from .calibration import SAMPLE_ROWS, HeldOut, without_own_row
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

    def __init__(self, targets: Targets, rows: FeatureRows, problem: Problem, n_folds: int) -> None:
        self.targets, self.rows, self.problem = targets, rows, problem
        self.gathered: Gathered | None = None
        self.n_folds = n_folds
        self.sample = RowSample(SAMPLE_ROWS) if isinstance(targets, LabelTargets) else None
        self.n_rows = 0
        self.is_compact = False
        self._kept: HeldOut | None = None
        self._solution: Solution | None = None
        self._scale: float | None = None
        self._posteriors: dict[float, Form] = {}

    def add(
        self,
        X: Any,
        Y: np.ndarray,
        weights: np.ndarray | None,
        counts: np.ndarray | None,
        n_before: int = 0,
    ) -> None:
        """Add a block of checked rows with expanded targets, weights and sample weights."""
        Z = self.rows.gathered(X, n_before)
        self._observe(Z, Y, weights, counts)
        self._accumulator(Z).add(Z, Y, weights, self.rows.overwritable)

    def keep(
        self, X: Any, Y: np.ndarray, weights: np.ndarray | None, counts: np.ndarray | None
    ) -> None:
        """Keep rows that are fewer than the features as they are, and solve in their space."""
        Z = np.array(self.rows.block(X), dtype=float)
        self._observe(Z, Y, weights, counts)
        few = FewRows(Z, Y, weights)
        known = slice(None) if weights is None else weights > 0
        own = _ones(few.Y) if few.weights is None else few.weights
        self._kept = HeldOut(few.Y, few.Y, own, (_ones(Y) if counts is None else counts)[known])
        self.gathered = few

    def _observe(
        self, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, counts: np.ndarray | None
    ) -> None:
        self._forget()
        self.n_rows += len(Z)
        if self.sample is not None:
            own = _ones(Y) if weights is None else weights
            self.sample.add(Z, Y, own, _ones(Y) if counts is None else counts)

    def _accumulator(self, Z: Any) -> Accumulator:
        """Return what rows are added to; the first block says of which kind it is."""
        if self.gathered is None:
            size = self.rows.width, self.targets.n_columns, self.n_folds
            self.gathered = accumulator_for(Z, *size)
        found = self.gathered.accumulator()
        self.gathered, self._kept = found, None
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
        mine.merge(other.gathered.accumulator())
        self._forget()
        self.gathered, self._kept = mine, None
        self.n_rows += other.n_rows
        if self.sample is not None and other.sample is not None:
            self.sample.merge(other.sample)

    def _forget(self) -> None:
        """Forget what follows from the rows so far, before more are added."""
        self._solution, self._scale, self._posteriors = None, None, {}

    @allowed_threads()
    def solve(self, again: Blocks | None = None) -> Solution:
        """Return the solution, made once; ``again()`` yields the training rows once more."""
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

    def values(
        self, X: Any, with_variance: bool, n_before: int = 0
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return predictions for a block of checked rows, and their variances."""
        solution = self.solve()
        Z = self.rows.block(X, n_before)
        # Coefficients beyond float32 keep their own precision.
        coef = solution.coef
        large = coef.itemsize > 4 and np.abs(coef).max(initial=0.0) > LARGE
        values = Z @ coef.astype(float if large else Z.dtype) + solution.intercept
        if not with_variance:
            return values, None
        variances = np.empty(values.shape)
        for alpha in np.unique(solution.alpha):
            own = solution.alpha == alpha
            form = 1 + self._quadratic(float(alpha), Z)
            variances[:, own] = form[:, None] * solution.noise[own]
        return values, variances

    def _quadratic(self, alpha: float, Z: np.ndarray) -> np.ndarray:
        """Return the variance of the predictions for rows over that of the noise."""
        self.refuse_compact("The standard deviation of predictions")
        if alpha not in self._posteriors:
            self._posteriors[alpha] = posterior_of(self.gathered, alpha, self.problem.intercept)
        return self._posteriors[alpha].quadratic(Z)

    def held_out(self) -> HeldOut:
        """Return exact leave-one-out predictions of a sample of the training rows."""
        solution = self.solve()
        assert self.sample is not None
        if self._kept is not None and solution.left_out is not None:
            return replace(self._kept, predicted=self._kept.targets - solution.left_out)
        Z, Y, weights, counts = self.sample.columns
        fitted = Z @ solution.coef + solution.intercept
        left_out = np.empty_like(fitted)
        for alpha in np.unique(solution.alpha):
            own = solution.alpha == alpha
            leverages = weights * self._quadratic(float(alpha), Z)
            left_out[:, own] = without_own_row(fitted[:, own], Y[:, own], leverages, weights)
        return HeldOut(left_out, Y, weights, counts)

    def scale(self) -> float:
        """Return the scale of the softmax of decisions, fitted once."""
        if self._scale is None:
            self._scale = self.held_out().scale()
        return self._scale

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, what predictions need and no more."""
        state = {**self.__dict__, "_posteriors": {}}
        if compact:
            if self.sample is not None and self._scale is None:
                state["_scale"] = self.scale()
            state["_solution"] = replace(self.solve(), left_out=None)
            state.update(gathered=None, sample=None, _kept=None, is_compact=True)
        return state


def _ones(Y: np.ndarray) -> np.ndarray:
    """Return a weight of one for every row."""
    return np.ones(len(Y))
