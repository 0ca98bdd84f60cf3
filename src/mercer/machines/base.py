"""What regression and classification share: features, one pass, a solve, and merging."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone

from .._array import floating_name, is_sparse, to_numpy
from .._sklearn import BaseEstimator, HasMethods, Interval, StrOptions, check_rows
from ..engine.blocks import take
from ..engine.rows import visit_rows
from ..engine.streams import (
    Block,
    as_weights,
    from_stream,
    is_stream,
    learning_rows,
    refuse_beside_stream,
    rows_between,
    sliced,
    stream_names,
)
from ..engine.threads import allowed_threads
from ..features import FeatureMap, KernelColumns
from ..solvers import RidgeStatistics
from ..solvers.posterior import DualPosterior, Posterior
from ..solvers.ridge import Problem
from .merging import same_features, take_over
from .solving import (
    FewRows,
    KernelRows,
    left_out_error,
    solve_again,
    solve_few_rows,
    solve_gathered,
)

CONSTRAINTS = {
    "features": [HasMethods(["fit", "transform"]), None],
    "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    "selection": [Interval(Integral, 2, None, closed="left"), StrOptions({"gcv", "loo"})],
    "per_target": ["boolean"],
    "fit_intercept": ["boolean"],
}


class RidgeMachine(BaseEstimator):
    """Ridge regression on features, through statistics of one pass over the rows.

    A subclass turns targets into numbers (``_encode``, ``_expand``) and predictions back.
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
        """Return checked targets, with a row for each row of the block."""

    @abstractmethod
    def _n_outputs(self):
        """Return the columns of expanded targets."""

    def _expand(self, encoded):
        """Return encoded targets as a float array of shape (n_rows, n_targets)."""
        return encoded

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
            machine._refuse_compact("merge")
            machine._gather_few_rows()
        self._refuse_second_looks()
        if type(self) is not type(other):
            raise ValueError(f"Only machines of one class merge, not with {type(other).__name__}.")
        if not same_features(self.features_, other.features_):
            raise ValueError(
                "The two machines have different features; give their maps the same kernel, a "
                "lengthscale that is a number, and the same integer random_state."
            )
        self._statistics.merge(other._statistics)
        self._merge_targets(other)
        return self._solve()

    def _merge_targets(self, other):
        """Take over what a subclass keeps of the targets."""

    def _problem(self):
        alpha = self.alpha
        if alpha is not None and np.ndim(alpha) > 0:
            alpha = np.asarray(alpha, dtype=float)
            if alpha.ndim != 1 or alpha.size == 0 or not (alpha > 0).all():
                raise ValueError(f"alpha must hold positive numbers, but {self.alpha!r} came.")
        return Problem(alpha, self.fit_intercept, self.per_target)

    def _fit_anew(self, X, y, sample_weight, **start):
        """Learn from scratch; only a fit that succeeds replaces what was learnt before."""
        fresh = clone(self)
        fresh._start(**start)
        fresh._fit(X, y, sample_weight)
        return take_over(self, fresh)

    def _start(self):
        """Set what must be known before the first row."""

    @allowed_threads()
    def _fit(self, X, y, sample_weight):
        """Learn from rows or from a stream of blocks."""
        self._problem()
        if is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            for _ in self._learning(X):
                pass
            names = stream_names(X)
            if names is not None:
                self.feature_names_in_ = names
            return self
        X = self._checked(X, reset=True)
        encoded = self._encode(y, X.shape[0], first=True)
        weights = as_weights(self._weights(y, sample_weight), X.shape[0])
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero for every row; at least one must not be.")
        self._fit_features(X)
        few = X.shape[0] < self._width(X) and not isinstance(self.selection, Integral)
        if few or isinstance(self.features_, KernelColumns):
            return self._fit_few_rows(X, self._expand(encoded), weights)
        rows = self._block_rows(X)

        def again():
            for block in sliced(X, encoded, weights, rows):
                yield self._transform(block.X), self._expand(block.y), block.weights

        self._add(sliced(X, encoded, weights, rows))
        return self._solve(again)

    def _partial_fit(self, X, y, sample_weight):
        """Learn from one more block."""
        self._problem()
        self._refuse_second_looks()
        self._refuse_compact("partial_fit")
        self._gather_few_rows()
        self._learn([Block(X, y, sample_weight)])
        return self._solve()

    def _learning(self, stream, skip=0):
        """Learn from a stream, telling after each block how many are done.

        The first ``skip`` blocks were learnt before. A stream that can be iterated again is
        seen a second time where the solver asks for it.
        """
        once = isinstance(stream, Iterator)
        if once:
            self._refuse_second_looks()
        for number, block in enumerate(from_stream(stream), start=1):
            if number > skip:
                self._learn([block])
                yield number

        def again():
            for block in from_stream(stream):
                X = self._checked(block.X, reset=False)
                encoded = self._encode(block.y, X.shape[0], first=False)
                weights = self._weights(block.y, block.weights, streaming=True)
                weights = as_weights(weights, X.shape[0])
                for part in sliced(X, encoded, weights, self._block_rows(X)):
                    yield self._transform(part.X), self._expand(part.y), part.weights

        self._solve(None if once else again)

    @allowed_threads()
    def _learn(self, blocks):
        """Add blocks; each is checked as a whole before any of its rows is added."""
        for block in blocks:
            first = not hasattr(self, "features_")
            X = self._checked(block.X, reset=first)
            encoded = self._encode(block.y, X.shape[0], first=first)
            weights = as_weights(self._weights(block.y, block.weights, streaming=True), X.shape[0])
            if first:
                self._fit_features(X)
                self._tell_what_one_block_decides(X.shape[0])
            self._add(sliced(X, encoded, weights, self._block_rows(X)))

    def _block_rows(self, X):
        """Return how many rows to learn from at a time."""
        return learning_rows(self._width(X) + self._n_outputs(), 8)

    def _add(self, blocks):
        """Add checked blocks to the statistics."""
        for X, encoded, weights in blocks:
            Z, Y = self._transform(X), self._expand(encoded)
            if not hasattr(self, "_statistics"):
                n_folds = self.selection if isinstance(self.selection, Integral) else 0
                self._statistics = RidgeStatistics(Z.shape[1], Y.shape[1], n_folds)
            self._observe(Z, Y, weights)
            # Features of a map are ours alone; another transformer may hand out views.
            self._statistics.add(Z, Y, weights, isinstance(self.features_, FeatureMap))

    def _observe(self, Z, Y, weights):
        """Let a subclass see a block of features and targets."""

    def _weights(self, y, sample_weight, streaming=False):
        """Return the weights of a block."""
        return sample_weight

    @allowed_threads()
    def _solve(self, again=None):
        """Solve from the statistics; ``again()`` yields the training rows once more."""
        if self._statistics.total().weight <= 0:
            raise ValueError("sample_weight is zero for every row so far; more rows are needed.")
        problem = self._problem()
        solution = solve_gathered(self._statistics, problem, self.selection, again)
        if not solution.trusted and again is not None:
            solution = solve_again(self._statistics.total(), problem, solution, again)
        return self._finish(solution)

    def _fit_few_rows(self, X, Y, weights):
        """Solve in the space of the rows, which are fewer than the features."""
        Z = np.array(self._transform(X), dtype=float)
        self._observe(Z, Y, weights)
        exact = isinstance(self.features_, KernelColumns)
        self._few_rows = (KernelRows if exact else FewRows)(Z, Y, weights, self.fit_intercept)
        return self._finish(solve_few_rows(self._few_rows, self._problem(), self.selection))

    def _gather_few_rows(self):
        """Turn the rows of a dual solve into statistics, which more rows can be added to."""
        few = self.__dict__.pop("_few_rows", None)
        if few is not None:
            self._statistics = RidgeStatistics(few.Z.shape[1], few.Y.shape[1])
            self._statistics.add(few.Z, few.Y, few.weights)

    def _refuse_second_looks(self):
        if isinstance(self.features, KernelColumns):
            raise ValueError(
                "An exact kernel must have all rows at once: use fit(X, y), or a feature map."
            )
        if self.selection == "loo":
            raise ValueError(
                "selection='loo' must see the rows twice, which streams, partial_fit and merge do "
                "not allow; use 'gcv' (generalised cross-validation) or a number of folds."
            )

    def _finish(self, solution):
        """Keep what was solved for."""
        self._posteriors = {}
        self.solution_ = solution
        self.alpha_ = solution.lam if self.per_target else float(solution.lam[0])
        self.noise_variance_ = solution.noise
        return self

    def _posterior(self, lam):
        """Return the posterior for one λ, made once."""
        if lam not in self._posteriors:
            self._refuse_compact("The spread of predictions")
            if hasattr(self, "_few_rows"):
                posterior = DualPosterior(self._few_rows, lam)
            else:
                posterior = Posterior(self._statistics.total(), lam, self.fit_intercept)
            self._posteriors[lam] = posterior
        return self._posteriors[lam]

    def _stored(self, compact):
        """Return the state for a model file; if compact, what predictions need and no more."""
        state = dict(self.__dict__)
        caches = state.pop("_posteriors", {})
        if "solution_" in state:
            if compact:
                self._before_compact(caches)
                for name in ("_statistics", "_few_rows", "_sample"):
                    state.pop(name, None)
            state["_posteriors"] = {k: v for k, v in caches.items() if isinstance(k, str)}
        return state

    def _before_compact(self, caches):
        """Compute what would need what a compact model leaves out."""

    def _refuse_compact(self, what):
        if hasattr(self, "solution_") and not self._has_sums():
            raise ValueError(
                f"{what} needs the sums of the training rows, which this model was saved without; "
                "save it with compact=False."
            )

    def _has_sums(self):
        return hasattr(self, "_statistics") or hasattr(self, "_few_rows")

    def _n_learnt(self):
        """Return how many rows were learnt from."""
        return getattr(self, "_few_rows", getattr(self, "_statistics", None)).n_rows

    def _expected_error(self):
        """Return the mean squared error of left-out rows, as a share of the variance."""
        few = getattr(self, "_few_rows", None)
        totals = self._statistics.total() if few is None else few
        return left_out_error(self.solution_, totals, self.fit_intercept)

    def _predictions(self, X, with_variance=False):
        """Return predictions of shape (n_rows, n_targets), and their variances."""
        X = self._checked(X, reset=False)
        solution = self.solution_
        values = np.empty((X.shape[0], solution.coef.shape[1]))
        variances = np.empty_like(values) if with_variance else None
        start = 0
        for block in sliced(X, values, None, learning_rows(sum(solution.coef.shape), 8)):
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

    def _checked(self, X, reset):
        """Return rows that can be sliced, known to be finite; or leave them to a transformer."""
        if self.features is None or isinstance(self.features, FeatureMap):
            X = check_rows(X, owner=self, reset=reset)
            visit_rows(lambda block: None, X, label="checking rows")
            return X
        return X if hasattr(X, "shape") else np.asarray(X)

    def _fit_features(self, X):
        self.features_ = None if self.features is None else clone(self.features).fit(X)

    def _tell_what_one_block_decides(self, n_rows):
        """Warn if the features of a stream depend on the rows of its first block."""
        if self.features is None:
            return
        if isinstance(self.features, FeatureMap):
            kernel = self.features._kernel()
            if not kernel.needs_data() and not self.features._looks_at_rows(kernel):
                return
        warnings.warn(
            f"The features learn from data and were fitted on the first block alone ({n_rows} "
            "rows); if later blocks differ, shuffle them, or take a kernel whose lengthscale is "
            "a number, from kernel.fitted_to(sample) for example, and RandomFourier.",
            UserWarning,
            stacklevel=4,
        )

    def _transform(self, X):
        """Return the features of a block as a dense NumPy array of floats."""
        if self.features_ is None:
            Z = take(X, 0, X.shape[0], floating_name(X))
        else:
            Z = self.features_.transform(X)
        if is_sparse(Z):
            Z = Z.toarray()
        elif hasattr(Z, "to_numpy"):
            Z = Z.to_numpy()
        Z = to_numpy(Z)
        return Z if Z.dtype in (np.float32, np.float64) else Z.astype(float)

    def _width(self, X):
        if not hasattr(self, "_n_columns"):
            self._n_columns = self._transform(rows_between(X, 0, 1)).shape[1]
        return self._n_columns
