"""What a ridge machine has learnt: targets, features, what was gathered, and the solution of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._registry import storable
from ..engine.sample import RowSample
from ..engine.threads import allowed_threads
from ..solvers import DualPosterior, FewRows, Posterior, Problem, RidgeStatistics, Solution
from ..solvers.ridge import Blocks, solve_ridge
from .calibration import SAMPLE_ROWS, HeldOut
from .feature_rows import FeatureRows
from .report import CRITERIA, Expectation
from .targets import LabelTargets, Targets

#: One minus a leverage below which a row carries its fit alone, as far as rounding tells.
ALONE = 1e-6


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
        self.gathered: RidgeStatistics | FewRows | None = RidgeStatistics(
            rows.width, targets.n_columns, n_folds
        )
        self.n_folds = n_folds
        self.sample = RowSample(SAMPLE_ROWS) if isinstance(targets, LabelTargets) else None
        self.n_rows = 0
        self._solution: Solution | None = None
        self._scale: float | None = None
        self._posteriors: dict[float, Any] = {}
        self._kept_counts = np.empty(0)

    def add(
        self, X: Any, Y: np.ndarray, weights: np.ndarray | None, counts: np.ndarray | None
    ) -> None:
        """Add a block of checked rows with expanded targets, weights and sample weights."""
        Z = self.rows.block(X)
        self._observe(Z, Y, weights, counts)
        self.statistics().add(Z, Y, weights, self.rows.overwritable)

    def keep(
        self, X: Any, Y: np.ndarray, weights: np.ndarray | None, counts: np.ndarray | None
    ) -> None:
        """Keep rows that are fewer than the features as they are, and solve in their space."""
        Z = np.array(self.rows.block(X), dtype=float)
        self._observe(Z, Y, weights, counts)
        self.gathered = FewRows(Z, Y, weights)
        ones = np.ones(len(Y))
        known = slice(None) if weights is None else weights > 0
        self._kept_counts = (ones if counts is None else counts)[known]

    def _observe(
        self, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, counts: np.ndarray | None
    ) -> None:
        self._forget()
        self.n_rows += len(Z)
        if self.sample is not None:
            ones = np.ones(len(Y))
            own = ones if counts is None else counts
            self.sample.add(Z, Y, ones if weights is None else weights, own)

    def statistics(self) -> RidgeStatistics:
        """Return the sums, to which rows can be added."""
        if isinstance(self.gathered, FewRows):
            self.gathered = self.gathered.gathered(self.n_folds)
        assert self.gathered is not None
        return self.gathered

    def merge(self, other: RidgeState) -> None:
        """Add what another state has gathered; nothing changes if it does not fit."""
        self.targets.refuse_other(other.targets)
        for state, name in ((self, "this machine"), (other, "the other machine")):
            state.refuse_compact(f"merge of {name}")
        theirs = other.gathered
        if isinstance(theirs, FewRows):
            theirs = theirs.gathered(other.n_folds)
        assert theirs is not None
        self.statistics().merge(theirs)
        self._forget()
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
            gathered = self.gathered
            total = gathered.total() if isinstance(gathered, RidgeStatistics) else gathered
            if total is None or total.weight <= 0:
                raise ValueError(
                    "sample_weight is zero for every row so far; more rows are needed."
                )
            self._solution = solve_ridge(gathered, self.problem, again)
        return self._solution

    def refuse_compact(self, what: str) -> None:
        """Raise an error if the model was saved without its sums."""
        if self.gathered is None:
            raise ValueError(
                f"{what} needs the sums of the training rows, which this model was saved without; "
                "save it with compact=False."
            )

    def expected_error(self) -> float:
        """Return the mean squared error to expect of new rows, over the targets' variance."""
        solution, gathered = self.solve(), self.gathered
        self.refuse_compact("The expected error")
        total = gathered.total() if isinstance(gathered, RidgeStatistics) else gathered
        assert total is not None
        variance = total.variance()
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

    def values(self, X: Any, with_variance: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """Return predictions for a block of checked rows, and their variances."""
        solution = self.solve()
        Z = self.rows.block(X)
        values = Z @ solution.coef.astype(Z.dtype) + solution.intercept
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
        few, intercept = self.gathered, self.problem.intercept
        if not isinstance(few, FewRows):
            if alpha not in self._posteriors:
                total = self.statistics().total()
                self._posteriors[alpha] = Posterior(total, alpha, intercept)
            return np.asarray(self._posteriors[alpha].quadratic(Z))
        centre = few.centre(intercept)
        rows, new = few.Z - centre, np.asarray(Z, dtype=float) - centre
        if alpha not in self._posteriors:
            K = rows @ rows.T
            self._posteriors[alpha] = DualPosterior(K, few.weights, alpha, intercept)
        own = np.einsum("ij,ij->i", new, new)
        return np.asarray(self._posteriors[alpha].quadratic(new @ rows.T, own))

    def held_out(self) -> HeldOut:
        """Return exact leave-one-out predictions of a sample of the training rows."""
        solution = self.solve()
        assert self.sample is not None
        if isinstance(self.gathered, FewRows) and solution.left_out is not None:
            few = self.gathered
            weights = np.ones(len(few.Y)) if few.weights is None else few.weights
            return HeldOut(few.Y - solution.left_out, few.Y, weights, self._kept_counts)
        Z, Y, weights, counts = self.sample.columns
        fitted = Z @ solution.coef + solution.intercept
        left_out = np.empty_like(fitted)
        for alpha in np.unique(solution.alpha):
            own = solution.alpha == alpha
            rest = 1 - (weights * self._quadratic(float(alpha), Z))[:, None]
            found = Y[:, own] - (Y - fitted)[:, own] / np.maximum(rest, ALONE)
            # Of a row that carries its fit alone nothing is known without it but the mean.
            mean = np.average(Y[:, own], axis=0, weights=weights if weights.any() else None)
            left_out[:, own] = np.where(rest > ALONE, found, mean)
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
            state.update(gathered=None, sample=None, _kept_counts=np.empty(0))
        return state
