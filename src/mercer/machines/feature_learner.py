"""Kernel machines that learn which columns, or directions, matter: the frame they share."""

from __future__ import annotations

import time
from itertools import repeat
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from .._random import Stream, seed_of
from .._sklearn import (
    RANDOM_STATE,
    Interval,
    StrOptions,
    check_is_fitted,
    check_rows,
    fit_context,
)
from ..engine.sample import RowSample
from ..engine.streams import learning_rows, sliced, stream_names
from ..engine.threads import allowed_threads
from ..features.base import stored_random_state
from ..kernels import Kernel
from .learner_choices import choose_kernel, choose_ridge, choose_solver
from .learner_loop import iterate, learnt_from_all
from .learner_report import NAMED, LearnerReport
from .learner_rows import PROBED, fresh_blocks, landmark_rows, probed, repeated
from .merging import take_over
from .report import shortened
from .standardized import Standardized, dense_block, scales_of, size_of
from .weighted_fits import ExactFit, FourierFit, NystromFit
from .weights import Rule

#: Rows from which some can be kept aside.
ASIDE_ROWS = 50

CONSTRAINTS = {
    "kernel": [Kernel, None],
    "alpha": [Interval(Real, 0, 1, closed="both")],
    "safeguard": [Interval(Real, 0, None, closed="neither")],
    "n_iterations": [Interval(Integral, 0, None, closed="left"), None],
    "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"loo"})],
    "negative": [StrOptions({"clip", "shift"})],
    "solver": [StrOptions({"auto", "exact", "features", "nystrom"})],
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "fresh": ["boolean"],
    "batch_size": [Interval(Integral, 2, None, closed="left"), None],
    "patience": [Interval(Integral, 1, None, closed="left"), None],
    "validation_fraction": [
        Interval(Real, 0, 1, closed="neither"),
        StrOptions({"auto"}),
        None,
    ],
    "standardize": ["boolean"],
    "warm_start": ["boolean"],
    "random_state": RANDOM_STATE,
}


class FeatureLearner(TransformerMixin, BaseEstimator):
    """The loop of :class:`IRKMRegressor` and its like; a subclass knows targets and weights."""

    _parameter_constraints: dict = CONSTRAINTS
    _weights_class: type
    #: Iterations by default, and the share of rows that is kept aside.
    _iterations: int = 10
    _aside: float | None = None

    def __init__(
        self,
        kernel=None,
        *,
        alpha=0.5,
        safeguard=3e-3,
        n_iterations=None,
        ridge="loo",
        negative="clip",
        solver="auto",
        n_components=2048,
        fresh=False,
        batch_size=None,
        patience=5,
        validation_fraction="auto",
        standardize=True,
        warm_start=False,
        random_state=None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.safeguard = safeguard
        self.n_iterations = n_iterations
        self.ridge = ridge
        self.negative = negative
        self.solver = solver
        self.n_components = n_components
        self.fresh = fresh
        self.batch_size = batch_size
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn weights and a function.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), a list of blocks, or a sampler
            Rows; or blocks ``(X, y)`` that can be read again; or with ``fresh=True`` what
            gives fresh rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets, or labels; ``None`` where X brings them.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts; where it is left out, it is left out whole.

        Returns
        -------
        self
        """
        # Only a fit that succeeds replaces what was learnt before.
        fresh = clone(self)
        before = self if self.warm_start and hasattr(self, "_weights") else None
        seed = seed_of(self.random_state)
        return take_over(self, fresh._learn(X, y, sample_weight, seed, before))

    def _passed(self, y):
        """Return targets, or say that they are missing."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        return y

    def _steps(self):
        """Return how often weights are updated, at most."""
        return self._iterations if self.n_iterations is None else self.n_iterations

    @allowed_threads()
    def _learn(self, X, y, sample_weight, seed, before):
        """Run the loop on rows, a stream, or what gives fresh rows."""
        start = time.perf_counter()
        self._seed, stream, names = seed, Stream(seed), stream_names(X)
        source = None
        if self.fresh:
            options = self._steps(), self.batch_size, stream.child("fresh")
            source = fresh_blocks(X, y, sample_weight, self._checked_block, *options)
            blocks = _known(next(source))
        else:
            blocks = repeated(X, y, sample_weight, self._checked_block)
        sample = RowSample(self.n_components + PROBED, stream.child("landmarks"))
        scales, *size = scales_of(blocks(), self.standardize, sample)
        if self.fresh and not scales.n_varying:
            raise ValueError(
                "The targets of the first fresh rows are all equal, and their scale is that of all "
                "others: let the first block, or batch_size, be larger."
            )
        weights = self._weights_class.equal(self.n_features_in_)
        if before is not None:
            weights = self._gone_on(before, scales, names)
        whole = Standardized(blocks, scales, *size)
        if whole.n_rows < 2:
            raise ValueError(
                f"At least two rows are needed, but n_samples={whole.n_rows} have weight."
            )
        data, held = self._parts(whole, stream.child("aside"))
        fit = self._fit_of(whole, scales, sample, stream.seed)
        rule = Rule(self.alpha, self.safeguard, self.negative)
        batches = repeat(data) if source is None else _batches(data, source, scales)

        def update(weights, result):
            return weights.updated(result.E, result.D, rule) if scales.n_varying else weights

        best, history = iterate(fit, weights, batches, held, update, self._steps(), self.patience)
        if held is not None:
            best = learnt_from_all(fit, whole, best)
        self._keep(scales, best, history)
        if names is not None:
            # Not before: the blocks themselves have none.
            self.feature_names_in_ = names
        probe = scales.rows(probed(sample, fit.n_components))
        self._report(
            n_rows=whole.n_rows,
            n_components=fit.n_components,
            score=self._expected_score(best.result),
            approximation_error=fit.approximation_error(probe, best.weights),
            seconds=time.perf_counter() - start,
        )
        return self

    def _gone_on(self, before, scales, names):
        """Return the weights to begin with; their columns keep the scales that they had."""
        known = getattr(before, "feature_names_in_", None)
        names = getattr(self, "feature_names_in_", names)
        if before.n_features_in_ != self.n_features_in_ or not np.array_equal(known, names):
            raise ValueError(
                "warm_start=True goes on with the columns of the last fit, but X has others, or in "
                "another order; use warm_start=False."
            )
        if before._standardized != self.standardize:
            raise ValueError(
                f"warm_start=True goes on with standardize={before._standardized}; use "
                "warm_start=False to change it."
            )
        scales.keep_columns(before._scales)
        return before._weights

    def _parts(self, whole, stream):
        """Return the rows to learn from, and those that are kept aside, if any."""
        share = self.validation_fraction
        if share == "auto":
            enough = self._steps() and not self.fresh and whole.n_rows >= ASIDE_ROWS
            share = self._aside if enough else None
        self.validation_fraction_ = share
        if share is None:
            return whole, None
        if self.fresh:
            raise ValueError(
                "validation_fraction must be None with fresh=True: the left-out error of fresh "
                "rows needs no others."
            )
        parts = whole.parts(share, stream)
        if min(part.n_rows for part in parts) < 2:
            raise ValueError(
                f"validation_fraction={share} leaves {parts[0].n_rows} rows to learn from and "
                f"keeps {parts[1].n_rows} aside; both must be two at least: give more rows, or "
                "validation_fraction=None."
            )
        return parts

    def _stored(self, compact):
        """Return the state for a model file, where a generator is the seed it has given."""
        return {**self.__dict__, "random_state": stored_random_state(self, "_seed")}

    def _keep(self, scales, best, history):
        self._scales, self._weights = scales, best.weights
        self._standardized = self.standardize
        self._predictor = best.result.predictor
        self.ridge_, self.left_out_error_ = best.result.lam, best.result.error
        self.best_iteration_, self.n_iter_ = best.step, len(history) - 1
        self.history_ = history
        self.feature_importances_ = best.weights.importances()

    def _report(self, **measured):
        names = getattr(self, "feature_names_in_", None)
        order = np.argsort(-self.feature_importances_, kind="stable")[:NAMED]
        how = "generalised cross-validation"
        if self.validation_fraction_ is not None:
            how = f"{self.validation_fraction_:.0%} of the rows kept aside"
        elif self.solver_ == "exact":
            how = "leave-one-out"
        self.report_ = LearnerReport(
            n_columns=self.n_features_in_,
            kernel=shortened(repr(self.kernel_)),
            kernel_reason=self._reasons["kernel"],
            solver=self.solver_,
            solver_reason=self.solver_reason_,
            iteration=self.best_iteration_,
            n_iterations=self.n_iter_,
            importances={
                f"x{k}" if names is None else str(names[k]): float(self.feature_importances_[k])
                for k in order
            },
            ridge=self.ridge_,
            ridge_reason=self._reasons["ridge"],
            score_name=self._score_name,
            score_reason=how,
            error=self.left_out_error_,
            plain_error=self.history_[0]["error"],
            **measured,
        )

    def _fit_of(self, data, scales, sample, seed):
        """Return what does a step."""
        self.kernel_, why = choose_kernel(self.kernel, scales)
        asked = self.solver, self.n_components
        self.solver_, size, self.solver_reason_ = choose_solver(*asked, data.n_rows, self.kernel_)
        lams, how = choose_ridge(self.ridge, self.kernel_, scales, self.solver_)
        self._reasons = {"kernel": why, "ridge": how}
        if self.solver_ == "exact":
            return ExactFit(self.kernel_, lams)
        if self.solver_ == "features":
            return FourierFit(self.kernel_, lams, self.n_features_in_, size, seed)
        landmarks = scales.rows(landmark_rows(sample, size, data.n_rows))
        return NystromFit(self.kernel_, lams, landmarks.astype(float))

    def _checked_block(self, block, first, streaming):
        X = check_rows(block[0], owner=self, reset=first)
        Y = self._encode(block[1], X.shape[0], first=first)
        return X, Y, self._row_weights(block[1], block[2], streaming)

    def transform(self, X):
        """Return rows with the columns (or directions) weighted as they were learnt.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
            Standardised and reweighted: distances between them are those of the machine.
        """
        check_is_fitted(self, "history_")
        X = check_rows(X, owner=self)
        found = [self._weighted(block.X) for block in self._cut(X)]
        return np.concatenate(found)

    def _cut(self, X):
        return sliced(X, np.empty(X.shape[0]), None, learning_rows(2 * X.shape[1], 8))

    def _weighted(self, block):
        return self._weights.reweighted(self._scales.rows(dense_block(block)))

    def _predicted(self, X):
        """Return predictions of shape (n_rows, n_targets), in the unit of the targets."""
        check_is_fitted(self, "history_")
        X = check_rows(X, owner=self)
        found = [self._predictor(self._weighted(block.X).astype(float)) for block in self._cut(X)]
        return self._scales.original(np.concatenate(found))

    def get_feature_names_out(self, input_features=None):
        """Return the names of the reweighted columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self, "history_")
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{k}" for k in range(self.n_features_in_)], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _known(block):
    return lambda: iter([block])


def _batches(first, source, scales):
    """Yield the rows of every iteration."""
    yield first
    for block in source:
        yield Standardized(_known(block), scales, *size_of([block]))
