"""The front door's frame: encode, choose, learn in one pass, report."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ..._array import joined_rows
from ..._random import seed_of
from ..._sklearn import RANDOM_STATE, HasMethods, Interval, StrOptions, check_columns
from ...engine.blocks import cut
from ...engine.cluster import Partitions, on_cluster
from ...engine.progress import Job
from ...engine.streams import (
    Block,
    is_stream,
    learning_rows,
    refuse_beside_stream,
    rows_between,
)
from ...kernels import Kernel
from ...solvers.cost import FOLDS
from ..estimator import ALPHA, Machine, Values, adopt
from ..report import FitReport
from ..targets import Targets
from .choice import choose_kernel, refuse_dropped_pixels
from .cluster_source import source_on_cluster
from .learnt import SAMPLE_ROWS, is_searchable, learnt_state
from .pilot import AUTO, PILOT_ROWS, Pilot, has_feature_map
from .plan import choose_method, refuse_what_does_not_fit
from .preparation import (
    finished,
    learn_columns,
    measured_features,
    sample_and_linear_model,
)
from .source import ENCODED, RowsAtHand, Source, StreamOfBlocks, raw_blocks
from .state import AutoState
from .transformer import as_given, new_encoder

CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [Kernel, str, None],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "approximation": [StrOptions({"auto", "exact", "features"})],
    "alpha": ALPHA,
    "encoder": [HasMethods(["fit", "transform"]), None],
    "effort": [StrOptions({"quick", "default", "thorough"})],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    "random_state": RANDOM_STATE,
}
#: Seconds that the last solve may take, however long the search was: a model of no iteration at all
#: would be of no use.
LEAST_SOLVE = 1.0
#: What a long fit tells of, one after the other.
STAGES = ("columns", "search", "solve")


class KernelMachine(Machine):
    """What :class:`KernelRegressor` and :class:`KernelClassifier` share.

    Three passes over the rows: what the columns hold; a sample to compare kernels on, and a
    linear model; the features. A subclass says which machines learn, and knows the targets.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray

    _state: AutoState | None = None
    #: ``"regression"`` or ``"classification"``.
    _task: str

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        *,
        n_components: Any = "auto",
        approximation: str = "auto",
        alpha: Any = None,
        encoder: Any = None,
        effort: str = "default",
        time_limit: float | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.approximation = approximation
        self.alpha = alpha
        self.encoder = encoder
        self.effort = effort
        self.time_limit = time_limit
        self.verbose = verbose
        self.random_state = random_state

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return targets of which nothing is known yet."""

    @abstractmethod
    def _ridge(self, targets: Any, **parameters: Any) -> tuple[Any, dict[str, Any]]:
        """Return a ridge machine on features that is not fitted yet, and keywords of its fit."""

    @abstractmethod
    def _exactly(self, targets: Any, **parameters: Any) -> Any:
        """Return an exact kernel machine that is not fitted yet."""

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None and self._state.report is not None

    def _fitted(self) -> Any:
        if self._state is not None and self._state.report is None:
            raise NotFittedError(f"This {type(self).__name__} has not learnt from all rows yet.")
        return super()._fitted()

    @property
    def targets_(self) -> Any:
        """What is known of the targets."""
        return self._fitted().machine.targets_

    @property
    def report_(self) -> FitReport:
        """What was chosen, why, and what to expect."""
        return self._fitted().report

    def _chosen(self) -> list[tuple[str, str]]:
        known = self._state is not None and self._state.report is not None
        return self.report_.lines() if known else []

    @property
    def kernel_(self) -> Kernel:
        """The kernel."""
        return self._fitted().kernel

    @property
    def encoder_(self) -> Any:
        """The fitted encoder."""
        return as_given(self._fitted().encoder)

    @property
    def machine_(self) -> Any:
        """The fitted machine on encoded rows."""
        return self._fitted().machine

    @property
    def target_name_(self) -> str | None:
        """The name of the target, where the data had one."""
        return self._fitted().target_name

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from rows or a stream; only a fit that succeeds replaces what was there."""
        fresh = clone(self)
        for _ in fresh.fit_in_steps(X, y, sample_weight):
            pass
        return adopt(self, fresh)

    def fit_in_steps(
        self, stream: Any, y: Any = None, sample_weight: Any = None, *, skip: int = 0
    ) -> Iterator[int]:
        """Learn, and yield after each block how many are done.

        Unlike ``fit`` it learns in place: what is learnt so far is there after every step, for
        checkpoints (:func:`mercer.io.fit_resumable`).

        Parameters
        ----------
        stream : iterable of (X, y) or (X, y, sample_weight), or rows
            The blocks; they are read three times, unless it is an iterator.
        y, sample_weight : arrays or None
            Targets and sample weights of rows; ``None`` for a stream.
        skip : int, default=0
            Blocks that were learnt before.

        Yields
        ------
        n_blocks : int
            Blocks that are done; 0 when everything is chosen.
        """
        X = stream
        start = time.perf_counter()
        targets = self._new_targets()
        name = _target_name(X, y)
        source: Source
        if on_cluster(X):
            parts = Partitions.of(X, y, sample_weight)
            featured = has_feature_map(self.kernel)
            source = source_on_cluster(parts, targets, self, new_encoder(self.encoder), featured)
        elif is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            source = StreamOfBlocks(X, targets)
        else:
            source = RowsAtHand(X, y, sample_weight, targets, new_encoder(self.encoder))
        blocks: Iterable[Block] = source
        with Job(type(self).__name__, list(STAGES), verbose=int(self.verbose)) as job:
            if self._state is None:
                blocks = self._prepare(source, targets, name, job)
                yield 0
            state = self._state
            assert state is not None
            with job.stage("solve") as stage:
                encoded: Any = _Encoded(blocks, state.encoder)
                if isinstance(blocks, Partitions):
                    encoded = state.encoder.transform(blocks)
                elif isinstance(blocks, Iterator):
                    # What can be read once stays so.
                    encoded = iter(encoded)
                if state.method.name in ("exact", "landmarks"):
                    if self.time_limit is not None:
                        left = start + self.time_limit - time.perf_counter()
                        state.machine.set_params(time_limit=max(left, LEAST_SOLVE))
                    state = _solved(state, encoded)
                elif isinstance(encoded, Partitions):
                    state.machine.fit_partitions(encoded, **state.options)
                    yield len(encoded.blocks)
                elif state.method.name == "features":
                    yield from state.machine.fit_in_steps(encoded, skip=skip, **state.options)
                stage.note(f"alpha = {float(np.mean(state.machine.alpha_)):.3g}")
                state = state.better_of_both()
        seconds = time.perf_counter() - start
        self._state = state.reported(self._task, self.n_features_in_, self.alpha, seconds)

    def _prepare(self, source: Source, targets: Any, name: str | None, job: Job) -> Iterable[Block]:
        """Learn the columns, compare kernels on a sample, and set up the machine."""
        seed, featured = seed_of(self.random_state), has_feature_map(self.kernel)
        refuse_what_does_not_fit(source.n_rows, self.n_components, self.approximation, source.near)
        with job.stage("columns") as stage:
            first, blocks, same = source.preview()
            free = self.encoder is None
            columns = learn_columns(first, new_encoder(self.encoder), free, targets, source.whole)
            self.n_features_in_ = columns.encoder.n_features_in_
            if hasattr(columns.encoder, "feature_names_in_"):
                self.feature_names_in_ = columns.encoder.feature_names_in_
            # A stream that is seen once has more rows than its first block.
            known = columns.n_rows if same else None
            method = choose_method(known, self.n_components, self.approximation, featured)
            width = len(columns.encoder.get_feature_names_out())
            refuse_dropped_pixels(self.kernel, self.n_features_in_, width)
            asked = self.kernel is not None or self.n_components != "auto"
            named = self.kernel not in (None, AUTO) or self.n_components != "auto"
            left = free and not asked and self.approximation == "auto"
            dense = getattr(columns.encoder, "centered_", True)
            learns = left and dense and is_searchable(known, width)
            stage.note(f"{columns.n_rows:,} rows, {self.n_features_in_:,} columns")
        with job.stage("search") as stage:
            ridge, options = self._ridge(targets, selection=FOLDS)
            size = SAMPLE_ROWS[self.effort] if learns else PILOT_ROWS
            sample, linear = sample_and_linear_model(
                first, columns, clone(ridge), options, targets, size, learns, source.bring
            )
            if learns:
                labels = targets.encode(sample.y)
                Y, weights = targets.expand(labels), sample.weights
                weights = None if (weights == 1).all() else weights
                weights = targets.weights(labels, weights, whole=True)
                exactly = partial(self._exactly, targets)
                self._state = learnt_state(self, sample, Y, weights, exactly, linear, stage.note)
                if self._state is not None:
                    self._state.target_name = name
                    return blocks
            able = len(sample.y) >= 2 * FOLDS and sample.target_codes().any()
            pilot = Pilot(sample, ridge if able else None, options, method.n_components, seed)
            chosen, reason = choose_kernel(self.kernel, pilot)
            error: float | None = None
            if method.n_components is None:
                machine = self._exactly(targets, kernel=chosen.kernel, alpha=self.alpha)
            else:
                rows = sample.rows(chosen.scaling, chosen.constant)
                features, why, error = measured_features(
                    chosen.kernel, method.n_components, seed, rows, whole=known == len(sample.y)
                )
                method = replace(method, reason=f"{method.reason}; {why}")
                machine = clone(ridge).set_params(features=features, alpha=self.alpha)
            stage.note(f"{chosen.kernel!r}: {reason}")
        self._state = AutoState(
            seed=seed,
            target_name=name,
            encoder=finished(columns.encoder_for(chosen.scaling, chosen.constant)),
            kernel=chosen.kernel,
            kernel_reason=reason,
            method=method,
            machine=machine,
            options=options,
            linear_score=None if linear is None else linear.score,
            approximation_error=error,
            repeated_rows=sample.repeated_share(),
            # What is asked for is not replaced; nor has a part of the rows taught a model of all.
            rival=None if named or self.approximation != "auto" or not same else linear,
        )
        return blocks

    def raw_predict(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions for raw rows, block by block, and their variances."""
        state = self._fitted()
        X = check_columns(X, owner=self)
        spans = cut(X.shape[0], learning_rows(X.shape[1] + ENCODED, 8))
        parts = []
        for span in spans:
            encoded = state.encoder.transform(rows_between(X, *span))
            parts.append(state.machine.raw_predict(encoded, with_variance))
        values = joined_rows([part[0] for part in parts])
        variances = [part[1] for part in parts if part[1] is not None]
        return values, joined_rows(variances) if variances else None

    def _blocks(self, stream: Iterable[Any]) -> Iterator[Any]:
        return iter(raw_blocks(stream))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class _Encoded:
    """Blocks of encoded rows; iterable as often as the raw ones are."""

    def __init__(self, blocks: Iterable[Block], encoder: Any) -> None:
        self._blocks, self._encoder = blocks, encoder

    def __iter__(self) -> Iterator[Block]:
        return (Block(self._encoder.transform(X), y, w) for X, y, w in self._blocks)


def _solved(state: AutoState, encoded: Iterable[Block]) -> AutoState:
    """Return the state with its exact machine fitted; an early interruption leaves a linear one."""
    try:
        state.machine.fit(encoded)
    except KeyboardInterrupt:
        if state.rival is None:
            raise
        warnings.warn(
            "Interrupted before the first iteration of the solver; the linear model is kept.",
            UserWarning,
            stacklevel=2,
        )
        return state.as_linear(state.rival)
    return state


def _target_name(X: Any, y: Any) -> str | None:
    """Return the name of the target, where the data has one."""
    if on_cluster(X):
        # The name of a Dask array is that of its task.
        return getattr(y, "name", None) if hasattr(y, "npartitions") and y.ndim == 1 else None
    name = getattr(X, "target", None) if is_stream(X) else getattr(y, "name", None)
    return ", ".join(name) if isinstance(name, list) else name
