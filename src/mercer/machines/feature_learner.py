"""Kernel machines that learn which columns, or directions, matter: the loop they share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from .._random import Stream, seed_of
from .._sklearn import (
    RANDOM_STATE,
    Interval,
    StrOptions,
    check_is_fitted,
    check_rows,
    checked,
    fit_context,
)
from ..engine.config import settings
from ..engine.progress import Progress
from ..engine.sample import RowSample
from ..engine.streams import learning_rows, sliced
from ..kernels import Gaussian, Kernel, Laplace
from ..kernels.derivatives import has_slopes
from .learner_rows import fresh_blocks, repeated
from .left_out import validated
from .merging import take_over
from .standardized import Standardized, dense_block, scales_of, size_of
from .weighted_fits import ExactFit, Fit, FourierFit, NystromFit
from .weights import Rule

#: Rows up to which the kernel matrix of all of them is affordable.
EXACT_ROWS = 5000
#: Rows from which some can be kept aside.
ASIDE_ROWS = 50
#: Arrays of the size of the kernel matrix that an exact step holds.
COPIES = 4
#: Features, or landmarks, for more rows.
COMPONENTS = 2048
#: Candidates for the ridge parameter, for kernels that are 1 at distance 0. A larger one would
#: smooth away the traces of columns that only interact, as long as nothing else is learnt.
RIDGES = np.logspace(-6, 0, 7)

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


class Iterate(NamedTuple):
    """An iteration: its number, its weights, and what was learnt with them."""

    step: int
    weights: Any
    result: Fit


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
        n_components=COMPONENTS,
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
            How many times each row counts.

        Returns
        -------
        self
        """
        # Only a fit that succeeds replaces what was learnt before.
        fresh = clone(self)
        if self.warm_start and hasattr(self, "_weights"):
            fresh._scales, fresh._weights = self._scales, self._weights
        return take_over(self, fresh._learn(X, y, sample_weight))

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

    def _learn(self, X, y, sample_weight):
        """Run the loop on rows, a stream, or what gives fresh rows."""
        stream = Stream(seed_of(self.random_state))
        source = None
        if self.fresh:
            options = self._steps(), self.batch_size, stream.child("fresh")
            source = fresh_blocks(X, y, sample_weight, self._checked_block, *options)
            blocks = _known(next(source))
        else:
            blocks = repeated(X, y, sample_weight, self._checked_block)
        scales, *size = scales_of(blocks(), self.standardize)
        weights = self._weights_class.equal(self.n_features_in_)
        if hasattr(self, "_weights"):
            scales, weights = self._scales, self._weights
            if len(scales.scale) != self.n_features_in_:
                raise ValueError(
                    f"warm_start=True goes on with {len(scales.scale)} columns, but X has "
                    f"{self.n_features_in_}; use warm_start=False."
                )
        whole = Standardized(blocks, scales, *size)
        if whole.n_rows < 2:
            raise ValueError(
                f"At least two rows are needed, but n_samples={whole.n_rows} have weight."
            )
        data, held = self._parts(whole, stream.child("aside"))
        fit, kernel = self._fit_of(whole, scales, stream)
        rule = Rule(self.alpha, self.safeguard, self.negative)
        history, best, since, last = [], None, 0, None
        with Progress("learning features", self._steps() + 1) as progress:
            for step in range(self._steps() + 1):
                if step and source is not None:
                    blocks = _known(next(source))
                    data = Standardized(blocks, scales, *size_of(blocks()))
                result = fit.run(data, weights, last)
                last = result.lam
                if held is not None:
                    error, left_out = validated(result.predictor, weights, held)
                    result = result._replace(error=error, left_out=left_out)
                history.append(_entry(step, result, weights))
                progress.advance(1)
                progress.show()
                since += 1
                if best is None or result.error < best.result.error:
                    best, since = Iterate(step, weights, result), 0
                if self.patience is not None and since >= self.patience:
                    break
                if step < self._steps() and scales.n_varying:
                    weights = weights.updated(result.E, result.D, rule)
        if held is not None:
            # The rows kept aside have chosen the iteration; now they are learnt from, too.
            again = fit.run(whole, best.weights, best.result.lam)
            kept = best.result._replace(predictor=again.predictor, lam=again.lam)
            best = best._replace(result=kept)
        self._keep(kernel, scales, best, history)
        return self

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

    def _keep(self, kernel, scales, best, history):
        self.kernel_, self._scales, self._weights = kernel, scales, best.weights
        self._predictor = best.result.predictor
        self.ridge_, self.left_out_error_ = best.result.lam, best.result.error
        self.best_iteration_, self.n_iter_ = best.step, len(history) - 1
        self.history_ = history
        self.feature_importances_ = best.weights.importances()

    def _fit_of(self, data, scales, stream):
        """Return what does a step, and its kernel."""
        d = self.n_features_in_
        kernel = self._known_kernel(scales)
        lams = RIDGES * _at_zero(kernel, scales) if self.ridge == "loo" else [self.ridge]
        self.solver_, self.solver_reason_ = self._chosen(data.n_rows, kernel)
        if self.solver_ == "exact":
            return ExactFit(kernel, lams), kernel
        if self.solver_ == "features":
            return FourierFit(kernel, lams, d, self.n_components, stream.seed), kernel
        sample = RowSample(self.n_components)
        for X, _, _ in data.blocks(d):
            sample.add(X)
        return NystromFit(kernel, lams, sample.columns[0].astype(float)), kernel

    def _known_kernel(self, scales):
        if self.kernel is None:
            # As wide as typical rows are long: √d for standardised columns.
            total = float(np.sqrt(np.sum(scales.spread**2)))
            return Laplace(total if total > 0 else 1.0)
        kernel = checked(self.kernel)
        if kernel._needs_data():
            raise ValueError(
                f"kernel={kernel!r} takes its lengthscale from data; give a number (rows are "
                "standardised, so that √d is a typical one), or None for that."
            )
        if not has_slopes(kernel):
            raise ValueError(
                f"kernel={kernel!r} has no known derivatives; use Laplace, Gaussian, Matern, "
                "Exponential, Polynomial or NTK."
            )
        return kernel

    def _chosen(self, n_rows, kernel):
        if self.solver == "features" and not isinstance(kernel, Gaussian):
            raise ValueError(
                f"solver='features' needs a Gaussian kernel, but kernel={kernel!r}: gradients of "
                "its random features have no finite variance; use solver='nystrom'."
            )
        if self.solver != "auto":
            return self.solver, "as you asked for"
        fits = COPIES * 8 * n_rows**2 <= settings().memory
        if n_rows <= EXACT_ROWS and fits:
            return "exact", f"{n_rows:,} rows have an affordable kernel matrix"
        why = f"{n_rows:,} rows are more than {EXACT_ROWS:,}"
        if n_rows <= EXACT_ROWS:
            why = f"the kernel matrix of {n_rows:,} rows does not fit the memory budget"
        if isinstance(kernel, Gaussian):
            return "features", f"{why}, and the kernel is Gaussian"
        return "nystrom", f"{why}, and random features suit the Gaussian kernel only"

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


def _entry(step, result, weights):
    """Return what is kept of an iteration."""
    return {
        "iteration": step,
        "error": result.error,
        "ridge": result.lam,
        "importances": weights.importances(),
    }


def _at_zero(kernel, scales):
    """Return k(x, x) of a typical row, the unit of ridge parameters."""
    typical = np.where(scales.spread > 0, scales.spread, 0.0)[None, :]
    return float(kernel.diag(typical if typical.any() else np.ones_like(typical))[0])
