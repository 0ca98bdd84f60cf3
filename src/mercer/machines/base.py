"""What regression and classification share: features, one pass, a solve, and merging."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone

from .._array import floating_name, is_sparse, to_numpy
from .._sklearn import BaseEstimator, HasMethods, Interval, StrOptions, check_rows
from ..engine.blocks import take
from ..engine.streams import (
    Block,
    as_weights,
    from_stream,
    is_stream,
    learning_rows,
    rows_between,
    sliced,
)
from ..features import FeatureMap
from ..solvers import DualSystem, OrthogonalSystem, PrimalSystem, Problem, RidgeStatistics
from ..solvers.posterior import DualPosterior, LeaveOneOut, Posterior
from ..solvers.ridge import solve, solve_primal

CONSTRAINTS = {
    "features": [HasMethods(["fit", "transform"]), None],
    "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    "selection": [Interval(Integral, 2, None, closed="left"), StrOptions({"gcv", "loo"})],
    "per_target": ["boolean"],
    "fit_intercept": ["boolean"],
}


class RidgeMachine(BaseEstimator):
    """Ridge regression on features, through statistics of one pass over the rows.

    A subclass turns targets into numbers (``_encode``) and predictions back.
    """

    def __init__(
        self, features=None, *, alpha=None, selection="gcv", per_target=False, fit_intercept=True
    ):
        self.features = features
        self.alpha = alpha
        self.selection = selection
        self.per_target = per_target
        self.fit_intercept = fit_intercept

    @abstractmethod
    def _encode(self, y, n_rows, first):
        """Return targets as a float array of shape (n_rows, n_targets)."""

    def merge(self, other):
        """Add what another machine with the same features has learnt, and solve again.

        Parameters
        ----------
        other : machine of the same class
            Fitted on other rows, with equal parameters and the same random features.

        Returns
        -------
        self
        """
        for machine, name in ((self, "this machine"), (other, "the other machine")):
            if not hasattr(machine, "solution_"):
                raise ValueError(f"Nothing to merge: {name} is not fitted.")
            machine._gather_few_rows()
        self._assert_same_features(other)
        self._merge_targets(other)
        self._statistics.merge(other._statistics)
        self._solve()
        return self

    def _merge_targets(self, other):
        """Take over what a subclass keeps of the targets."""

    def _problem(self):
        alpha = self.alpha
        if alpha is not None and np.ndim(alpha) > 0:
            alpha = np.asarray(alpha, dtype=float)
            if alpha.ndim != 1 or alpha.size == 0 or not (alpha > 0).all():
                raise ValueError(f"alpha must hold positive numbers, but {self.alpha!r} came.")
        return Problem(alpha, self.fit_intercept, self.per_target)

    def _fit(self, X, y, sample_weight):
        """Learn from rows or from a stream of blocks, starting over."""
        self._problem()
        for name in ("_statistics", "_posteriors", "_few_rows", "_n_columns", "features_"):
            self.__dict__.pop(name, None)
        if is_stream(X):
            if y is not None:
                raise ValueError(
                    "y must be None when X is a stream of blocks: each block brings its own "
                    "targets, as (X, y)."
                )
            self._learn(from_stream(X))
            return self._solve()
        X = self._check(X, reset=True)
        weights = as_weights(sample_weight, X.shape[0])
        Y = self._encode(y, X.shape[0], first=True)
        self._fit_features(X)
        width = self._width(X)
        rows = learning_rows(width, 8)
        if X.shape[0] < width and not isinstance(self.selection, Integral):
            return self._solve_dual(X, Y, weights)
        self._learn_encoded(sliced(X, Y, weights, rows))
        self._solve(lambda: sliced(X, Y, weights, rows))
        return self

    def _partial_fit(self, X, y, sample_weight):
        """Learn from one more block."""
        self._problem()
        self._gather_few_rows()
        self._learn([Block(X, y, sample_weight)])
        return self._solve()

    def _learn(self, blocks):
        """Add blocks whose targets are still to be encoded."""

        def encoded():
            for block in blocks:
                first = not hasattr(self, "features_")
                X = self._check(block.X, reset=first)
                Y = self._encode(block.y, X.shape[0], first=first)
                if first:
                    self._fit_features(X)
                yield from sliced(
                    X,
                    Y,
                    as_weights(block.weights, X.shape[0]),
                    learning_rows(self._width(X), 8),
                )

        self._learn_encoded(encoded())

    def _learn_encoded(self, blocks):
        """Add blocks of rows to the statistics."""
        for X, Y, weights in blocks:
            Z = self._transform(X)
            if getattr(self, "_statistics", None) is None:
                n_folds = self.selection if isinstance(self.selection, Integral) else 0
                self._statistics = RidgeStatistics(Z.shape[1], Y.shape[1], n_folds)
            self._observe(Z, Y, weights)
            self._statistics.add(Z, Y, weights, overwrite=self.features_ is not None)

    def _observe(self, Z, Y, weights):
        """Let a subclass see a block of features and targets."""

    def _solve(self, again=None):
        """Solve from the statistics; ``again()`` yields the training rows once more."""
        problem = self._problem()
        self._posteriors = {}
        if self.selection == "loo":
            solution = self._solve_leaving_one_out(problem, again)
        else:
            solution = solve_primal(self._statistics, problem)
        if not solution.trusted and again is not None:
            solution = self._solve_by_qr(problem, again, solution)
        return self._finish(solution)

    def _solve_leaving_one_out(self, problem, again):
        if again is None:
            raise ValueError(
                "selection='loo' must see the rows twice, which a stream does not allow; use 'gcv' "
                "(generalised cross-validation) or a number of folds."
            )
        totals = self._statistics.total()
        system = PrimalSystem(*totals.centred(problem.intercept))
        lams = problem.candidates(system.eigenvalues, totals.z_sum.size, totals.rounding)
        errors = LeaveOneOut(totals, lams, problem)
        for X, Y, weights in again():
            errors.add(self._transform(X), Y, weights)
        return solve(system, totals, problem, ("loo", errors.scores()))

    def _solve_by_qr(self, problem, again, primal):
        """Return the solution from the triangular factor of all rows, one block at a time."""
        totals = self._statistics.total()
        z_mean, y_mean = totals.means(problem.intercept)
        width = z_mean.size + y_mean.size
        triangle = np.zeros((0, width))
        for X, Y, weights in again():
            rows = np.concatenate([self._transform(X) - z_mean, Y - y_mean], axis=1)
            if weights is not None:
                rows *= np.sqrt(weights)[:, None]
            triangle = np.linalg.qr(np.concatenate([triangle, rows]), mode="r")
        missing = np.zeros((max(0, width - len(triangle)), width))
        triangle = np.concatenate([triangle, missing])
        held_out = (
            None
            if primal.criterion in ("given", "gcv")
            else (
                primal.criterion,
                primal.scores,
            )
        )
        system = OrthogonalSystem(triangle, y_mean.size)
        return solve(system, totals, problem, held_out)

    def _solve_dual(self, X, Y, weights):
        """Solve in the space of the rows, which are fewer than the features."""
        Z = np.array(self._transform(X), dtype=float)
        self._observe(Z, Y, weights)
        self._few_rows = Z, Y, np.ones(len(Z)) if weights is None else weights
        self._posteriors = {}
        Z, Y, totals = self._centred_rows()
        return self._finish(solve(DualSystem(Z, Y), totals, self._problem()))

    def _centred_rows(self):
        """Return centred and weighted rows of a dual solve, and what is known of their sums."""
        Z, Y, w = self._few_rows
        z_mean, y_mean = np.zeros(Z.shape[1]), np.zeros(Y.shape[1])
        if self.fit_intercept:
            z_mean, y_mean = np.average(Z, axis=0, weights=w), np.average(Y, axis=0, weights=w)
        root = np.sqrt(w)[:, None]
        totals = _Means(float(w.sum()), z_mean, y_mean)
        return root * (Z - z_mean), root * (Y - y_mean), totals

    def _gather_few_rows(self):
        """Turn the rows of a dual solve into statistics, which more rows can be added to."""
        if getattr(self, "_few_rows", None) is not None:
            Z, Y, weights = self._few_rows
            self._few_rows = None
            self._statistics = RidgeStatistics(Z.shape[1], Y.shape[1])
            self._statistics.add(Z, Y, weights)

    def _finish(self, solution):
        """Keep what was solved for."""
        self.solution_ = solution
        self.alpha_ = solution.lam if self.per_target else float(solution.lam[0])
        self.noise_variance_ = solution.noise
        return self

    def _posterior(self, lam):
        """Return the posterior for one λ, made once."""
        if lam not in self._posteriors:
            if getattr(self, "_few_rows", None) is not None:
                Z, _, totals = self._centred_rows()
                constant = 1 / totals.weight if self.fit_intercept else 0.0
                self._posteriors[lam] = DualPosterior(Z, totals.z_sum, lam, constant)
            else:
                totals = self._statistics.total()
                self._posteriors[lam] = Posterior(totals, lam, self.fit_intercept)
        return self._posteriors[lam]

    def _predictions(self, X, with_variance=False):
        """Return predictions of shape (n_rows, n_targets), and their variances."""
        X = self._check(X, reset=False)
        solution = self.solution_
        values = np.empty((X.shape[0], solution.coef.shape[1]))
        variances = np.empty_like(values) if with_variance else None
        start = 0
        rows = learning_rows(solution.coef.shape[0], 8)
        for block in sliced(X, values, None, rows):
            Z = self._transform(block.X)
            stop = start + Z.shape[0]
            values[start:stop] = Z @ solution.coef.astype(Z.dtype) + solution.intercept
            if with_variance:
                for lam in np.unique(solution.lam):
                    chosen = solution.lam == lam
                    spread = 1 + self._posterior(lam).quadratic(Z)
                    variances[start:stop, chosen] = spread[:, None] * solution.noise[chosen]
            start = stop
        return values, variances

    def _check(self, X, reset):
        """Return rows that can be sliced; those for other transformers are left to them."""
        if self.features is None or isinstance(self.features, FeatureMap):
            return check_rows(X, owner=self, reset=reset)
        return X

    def _fit_features(self, X):
        self.features_ = None if self.features is None else clone(self.features).fit(X)

    def _transform(self, X):
        """Return the features of a block as a dense NumPy array of floats."""
        if self.features_ is None:
            Z = take(X, 0, X.shape[0], floating_name(X))
        else:
            Z = self.features_.transform(X)
        Z = Z.toarray() if is_sparse(Z) else to_numpy(np.asarray(Z) if hasattr(Z, "iloc") else Z)
        return Z if Z.dtype in (np.float32, np.float64) else Z.astype(float)

    def _width(self, X):
        if not hasattr(self, "_n_columns"):
            self._n_columns = self._transform(rows_between(X, 0, 1)).shape[1]
        return self._n_columns

    def _assert_same_features(self, other):
        if type(self) is not type(other):
            raise ValueError(f"Only machines of one class merge, not with {type(other).__name__}.")
        seeds = [getattr(machine.features_, "seed_", None) for machine in (self, other)]
        if seeds[0] != seeds[1]:
            raise ValueError(
                "The two machines have different random features; give their maps the same "
                "integer random_state."
            )


class _Means:
    """What a dual solve knows of the sums over all rows."""

    def __init__(self, weight, z_mean, y_mean):
        self.weight, self.rounding = weight, float(np.finfo(float).eps)
        self.z_sum, self.y_sum = z_mean, y_mean

    def means(self, intercept):
        """Return the means that the rows were centred at."""
        return self.z_sum, self.y_sum
