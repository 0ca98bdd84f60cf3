"""The frame of feature-learning machines: which columns, or directions, matter."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from ..._array import as_floating, brought, joined_rows
from ..._random import Stream, seed_of
from ..._sklearn import (
    RANDOM_STATE,
    Interval,
    StrOptions,
    TransformerMixin,
    check_rows,
    fit_context,
)
from ..._words import shortened
from ...engine.cluster import Partitions, answered, on_cluster
from ...engine.progress import Job
from ...engine.sample import RowSample
from ...engine.streams import Block, learning_rows, stream_names
from ...engine.threads import allowed_threads
from ...kernels import Kernel
from ..estimator import ALPHA, adopt
from ..targets import LabelTargets, Targets
from .batches import fresh_blocks, landmark_rows, probed, repeated, sample_size
from .choices import ENOUGH_ROWS, Choices, choose_alphas, choose_kernel, choose_solver
from .cluster_rows import rows_of_cluster, rows_on_cluster
from .data import Data, Scales, Standardized, scales_of, standardized_batches
from .iterative_step import IterativeStep
from .loop import Iterate, iterate, learnt_from_all
from .report import EXPECTED_BY, NAMED, LearnerReport
from .rows import Rows, checked_block, known, where_computed, where_given
from .state import LearnerState, LearntAttributes
from .steps import ExactStep, Fit, FourierStep, NystromStep, Step
from .weights import Rule, Weights

CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [Kernel, None],
    "mixing": [Interval(Real, 0, 1, closed="both")],
    "safeguard": [Interval(Real, 0, None, closed="neither")],
    "n_iterations": [Interval(Integral, 0, None, closed="left"), None],
    "alpha": ALPHA,
    "negative": [StrOptions({"clip", "shift"})],
    "solver": [StrOptions({"auto", "exact", "iterative", "features", "nystrom"})],
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
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    "random_state": RANDOM_STATE,
}


class FeatureLearner(TransformerMixin, LearntAttributes):
    """The loop of :class:`IRKMRegressor` and its like; a subclass knows targets and weights."""

    n_features_in_: int

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS
    #: Iterations by default, and the share of rows that is held out.
    _iterations: int = 10
    _share: float | None = None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        mixing: float = 0.5,
        safeguard: float = 3e-3,
        n_iterations: int | None = None,
        alpha: Any = None,
        negative: str = "clip",
        solver: str = "auto",
        n_components: int = 2048,
        fresh: bool = False,
        batch_size: int | None = None,
        patience: int | None = 5,
        validation_fraction: Any = "auto",
        standardize: bool = True,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.mixing = mixing
        self.safeguard = safeguard
        self.n_iterations = n_iterations
        self.alpha = alpha
        self.negative = negative
        self.solver = solver
        self.n_components = n_components
        self.fresh = fresh
        self.batch_size = batch_size
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.standardize = standardize
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return targets of which nothing is known yet."""

    @abstractmethod
    def _equal_weights(self, n_features: int) -> Weights:
        """Return the weights before anything is known."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn weights and a function.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), a list of blocks, or a sampler
            Rows; or blocks ``(X, y)`` that can be read again; or, with ``fresh=True``,
            a sampler. Dask arrays, data frames and delayed blocks are learnt where they are
            with random features or landmarks, and brought together if they are few.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets, or labels; ``None`` where X brings them.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights; leave-one-out drops a row entirely, whatever its weight.

        Returns
        -------
        self
        """
        # Only a fit that succeeds replaces what was learnt before.
        fresh = clone(self)
        if on_cluster(X):
            X, y, sample_weight = rows_of_cluster(Partitions.of(X, y, sample_weight), self)
        before = self if self.warm_start and self._state is not None else None
        with Job(type(self).__name__, ["columns", "iterations"], verbose=int(self.verbose)) as job:
            fresh._learn(X, y, sample_weight, seed_of(self.random_state), before, job)
        return adopt(self, fresh)

    def _steps(self) -> int:
        """Return how often weights are updated, at most."""
        return self._iterations if self.n_iterations is None else self.n_iterations

    @allowed_threads()
    def _learn(
        self, X: Any, y: Any, sample_weight: Any, seed: int, before: Self | None, job: Job
    ) -> None:
        """Run the loop on rows, a stream, or what gives fresh rows."""
        start = time.perf_counter()
        stream, names, targets = Stream(seed), stream_names(X), self._new_targets()
        source: Iterator[Rows] | None = None

        def check(block: Block, first: bool, streaming: bool) -> Rows:
            return checked_block(block, self, targets, first, streaming)

        with job.stage("columns"):
            sample = RowSample(sample_size(self.n_components), stream.child("landmarks"))
            whole: Data
            if isinstance(X, Partitions):
                targets, scales, whole = rows_on_cluster(X, self, targets, sample)
            else:
                if self.fresh:
                    seeds = stream.child("fresh")
                    source = fresh_blocks(
                        X, y, sample_weight, check, self._steps(), self.batch_size, seeds
                    )
                    blocks = known(next(source))
                else:
                    blocks = repeated(X, y, sample_weight, check)
                scales, n_rows, weight = scales_of(blocks(), self.standardize, sample)
                whole = Standardized(blocks, scales, n_rows, weight)
        if self.fresh and not scales.n_varying:
            raise ValueError(
                "The targets of the first fresh rows are all equal, so that their scale cannot be "
                "estimated; use a larger first block, or a larger batch_size."
            )
        weights = self._equal_weights(self.n_features_in_)
        if before is not None:
            weights = self._resumed(before, scales, names)
        if whole.n_rows < 2:
            raise ValueError(
                f"At least two rows are needed, but n_samples={whole.n_rows} have weight."
            )
        share, data, held = self._parts(whole, stream.child("aside"))
        fit, about = self._step_of(whole, scales, sample, stream.seed, weights.matrix)
        rule = Rule(self.mixing, self.safeguard, self.negative)
        batches = repeat(data) if source is None else standardized_batches(data, source, scales)

        def update(weights: Any, result: Fit) -> Weights:
            return weights.updated(result.E, result.D, rule) if scales.n_varying else weights

        # No call is larger than a decomposition of the kernel matrix, or of the metric.
        largest = 4 / 3 * max(whole.n_rows, self.n_features_in_) ** 3
        with job.stage("iterations") as stage, allowed_threads(largest):
            steps = self._steps()
            best, history = iterate(fit, weights, batches, held, update, steps, self.patience)
            if held is not None:
                best = learnt_from_all(fit, whole, best)
            stage.note(f"iteration {best.step} of {len(history) - 1} kept")
        if names is not None:
            # Not before: the blocks themselves have none.
            self.feature_names_in_ = names
        probe = scales.rows(probed(sample, fit.n_components))
        score, scale = self._expected(best.result, targets, scales)
        how = EXPECTED_BY.get(about.solver, "generalised cross-validation")
        report = LearnerReport(
            n_rows=whole.n_rows,
            n_columns=self.n_features_in_,
            n_components=fit.n_components,
            iteration=best.step,
            n_iterations=len(history) - 1,
            importances=self._largest(best),
            alpha=best.result.alpha,
            score_name=targets.score_name,
            score=score,
            score_reason=how if share is None else f"{share:.0%} of the rows held out",
            error=best.result.error,
            plain_error=history[0]["error"],
            approximation_error=fit.approximation_error(probe, best.weights),
            seconds=time.perf_counter() - start,
            kernel=shortened(repr(about.kernel)),
            kernel_reason=about.kernel_reason,
            solver=about.solver,
            solver_reason=about.solver_reason,
            alpha_reason=about.alpha_reason,
        )
        self._state = LearnerState(
            seed=seed,
            targets=targets,
            scales=scales,
            standardized=self.standardize,
            weights=best.weights,
            function=best.result.function.on_host(),
            kernel=about.kernel,
            solver=report.solver,
            solver_reason=report.solver_reason,
            alpha=best.result.alpha,
            error=best.result.error,
            best_iteration=best.step,
            history=history,
            validation_fraction=share,
            probability_scale=scale,
            report=report,
        )

    def _resumed(self, machine: Self, scales: Scales, names: Any) -> Weights:
        """Return the weights to begin with; their columns keep the scales that they had."""
        before: LearnerState = machine._fitted()
        known: Any = getattr(machine, "feature_names_in_", None)
        names = getattr(self, "feature_names_in_", names)
        if machine.n_features_in_ != self.n_features_in_ or not np.array_equal(known, names):
            raise ValueError(
                "warm_start=True resumes from the columns of the last fit, but X has others, or in "
                "another order; use warm_start=False."
            )
        if before.standardized != self.standardize:
            raise ValueError(
                f"warm_start=True resumes with standardize={before.standardized}; use "
                "warm_start=False to change it."
            )
        scales.keep_columns(before.scales)
        return before.weights

    def _parts(self, whole: Data, stream: Stream) -> tuple[float | None, Data, Data | None]:
        """Return the share that is held out, the rows to learn from, and the held-out rows."""
        share = self.validation_fraction
        if share == "auto":
            enough = self._steps() and not self.fresh and whole.n_rows >= ENOUGH_ROWS
            share = self._share if enough else None
        if share is None:
            return None, whole, None
        if self.fresh:
            raise ValueError(
                "validation_fraction must be None with fresh=True: iterations are compared by the "
                "leave-one-out error of their fresh rows."
            )
        data, held = whole.parts(share, stream)
        if min(data.n_rows, held.n_rows) < 2:
            raise ValueError(
                f"validation_fraction={share} leaves {data.n_rows} rows to learn from and holds "
                f"{held.n_rows} out; both must be two at least: give more rows, or "
                "validation_fraction=None."
            )
        return share, data, held

    def _step_of(
        self, data: Data, scales: Scales, sample: RowSample, seed: int, matrix: bool
    ) -> tuple[Step, Choices]:
        """Return what does a step, and what was chosen for it."""
        kernel, why = choose_kernel(self.kernel, scales, matrix)
        solver, size, reason = choose_solver(
            self.solver, self.n_components, data.n_rows, kernel, data.place
        )
        alphas, how = choose_alphas(self.alpha, kernel, scales, solver)
        about = Choices(kernel, why, solver, reason, how)
        if solver == "iterative":
            return IterativeStep(kernel, alphas, seed, getattr(self, "mixing", 0.0) > 0), about
        if size is None or solver == "exact":
            return ExactStep(kernel, alphas), about
        if solver == "features":
            return FourierStep(kernel, alphas, self.n_features_in_, size, seed), about
        landmarks = landmark_rows(sample, size, data.n_rows, scales, kernel, Stream(seed))
        return NystromStep(kernel, alphas, landmarks), about

    def _expected(self, result: Fit, targets: Targets, scales: Scales) -> tuple[float, float]:
        """Return the score to expect on new rows, and the scale of probabilities."""
        if not isinstance(targets, LabelTargets):
            return 1 - result.error, 1.0
        found = result.held_out()
        held_out = replace(
            found,
            predicted=scales.original(found.predicted),
            targets=scales.original(found.targets),
        )
        return held_out.accuracy(), held_out.scale()

    def _largest(self, best: Iterate) -> dict[str, float]:
        """Return the names and shares of the most important columns."""
        names, shares = getattr(self, "feature_names_in_", None), best.weights.importances()
        order = np.argsort(-shares, kind="stable")[:NAMED]
        return {f"x{k}" if names is None else str(names[k]): float(shares[k]) for k in order}

    def transform(self, X: Any) -> Any:
        """Return rows with the columns (or directions) weighted as they were learnt.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
            Standardised and reweighted: distances between them are those of the machine. In the
            library and on the device of ``X``.
        """
        if on_cluster(X):
            return answered(self, "transform", X)
        X = check_rows(X, owner=self)
        return where_given(X, joined_rows(list(self._reweighted(X))))

    def _reweighted(self, X: Any) -> Iterator[Any]:
        """Yield blocks of checked rows as the kernel sees them, where they are computed."""
        for block in where_computed(X, learning_rows(2 * X.shape[1], 8)):
            yield self.reweighted(block)

    def raw_predict(self, X: Any, with_variance: bool = False) -> tuple[Any, Any]:
        """Return predictions of shape (n_rows, n_targets), and their variances."""
        state = self._fitted()
        X = check_rows(X, owner=self)
        blocks = [as_floating(rows, "float64") for rows in self._reweighted(X)]
        values = joined_rows([state.scales.original(state.function(block)) for block in blocks])
        if not with_variance:
            return where_given(X, values), None
        variances = joined_rows([state.function.variances(block) for block in blocks])
        squares = brought(variances, state.scales.target_scale) ** 2
        return where_given(X, values), where_given(X, variances * squares)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the reweighted columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        self._fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{k}" for k in range(self.n_features_in_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
