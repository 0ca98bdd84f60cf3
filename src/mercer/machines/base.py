"""What ridge regression and classification on features share: one pass, merging, a lazy solve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .._array import dtype_name, empty_like_library, floating_name, is_foreign, namespace
from .._frame import is_frame
from .._sklearn import HasMethods, Interval, StrOptions, unchanged_on_error
from ..engine.cluster import Partitions, on_cluster
from ..engine.streams import (
    Block,
    as_weights,
    device_rows,
    from_stream,
    is_stream,
    learning_rows,
    refuse_beside_stream,
    sliced,
    stream_names,
)
from ..engine.threads import allowed_threads
from ..features.growth import GrowthPath, is_automatic
from ..solvers import Problem
from .device_rows import beside_features, learns_on_device, sent_blocks, sent_rows
from .estimator import ALPHA, Values, adopt, checked_alpha
from .feature_rows import (
    FeatureRows,
    checked_rows,
    same_features,
    warn_of_first_block,
)
from .growth import grown_state
from .ridge_on_cluster import RidgeOnCluster
from .ridge_state import RidgeState
from .targets import Targets

CONSTRAINTS: dict[str, list[Any]] = {
    "features": [HasMethods(["fit", "transform"]), None],
    "alpha": ALPHA,
    "selection": [Interval(Integral, 2, None, closed="left"), StrOptions({"gcv", "loo"})],
    "per_target": ["boolean"],
    "tolerance": [Interval(Real, 0, 1, closed="neither")],
    "fit_intercept": ["boolean"],
}

#: A block has at least one row for so many features, in each fold: adding its products to the sums
#: is then a small part of computing them.
FEATURES_EACH = 8


class RidgeMachine(RidgeOnCluster):
    """Ridge regression on features, through statistics of one pass over the rows."""

    def __init__(
        self,
        features: Any = None,
        *,
        alpha: Any = None,
        selection: Any = "gcv",
        per_target: bool = False,
        fit_intercept: bool = True,
        tolerance: float = 0.01,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.selection = selection
        self.per_target = per_target
        self.fit_intercept = fit_intercept
        self.tolerance = tolerance

    @property
    def features_(self) -> Any:
        """The fitted features, or ``None`` for the columns as they are."""
        return self._fitted().rows.fitted

    @property
    def growth_(self) -> GrowthPath:
        """How the features grew, where their ``n_components`` is ``"auto"``."""
        path = self._fitted().growth
        if path is None:
            raise AttributeError("growth_ is there where features have n_components='auto'.")
        return path

    def merge(self, other: Self) -> Self:
        """Add what another machine with the same features has learnt.

        The solution is computed lazily, when it is first needed: a thousand merges solve once. A
        merge that is refused leaves both machines as they were.

        Parameters
        ----------
        other : machine of the same class
            Fitted on other rows, with equal parameters and the same random features.

        Returns
        -------
        self
        """
        if type(self) is not type(other):
            raise ValueError(
                f"Cannot merge a {type(self).__name__} with a {type(other).__name__}: both must be "
                "of one class."
            )
        states = []
        for machine, name in ((self, "this machine"), (other, "the other machine")):
            if machine._state is None:
                raise ValueError(f"Nothing to merge: {name} is not fitted.")
            machine._refuse_second_looks()
            states.append(machine._state)
        mine, theirs = states
        for name, value in self.get_params(deep=False).items():
            if name != "features" and not _same(value, other.get_params(deep=False)[name]):
                raise ValueError(
                    f"The two machines have different parameters: {name}={value!r} and "
                    f"{other.get_params(deep=False)[name]!r}."
                )
        if not same_features(mine.rows.fitted, theirs.rows.fitted):
            raise ValueError(
                "The two machines have different features; give their maps the same kernel, a "
                "lengthscale that is a number, and the same integer random_state."
            )
        mine.merge(theirs)
        mine.problem = self._problem()
        return self

    def _problem(self) -> Problem:
        alpha = checked_alpha(self.alpha)
        return Problem(alpha, self.fit_intercept, self.per_target, self.selection == "loo")

    def _folds(self) -> int:
        return int(self.selection) if isinstance(self.selection, Integral) else 0

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Learn from scratch; only a fit that succeeds replaces what was learnt before."""
        fresh = clone(self)
        if on_cluster(X):
            fresh.fit_partitions(Partitions.of(X, y, sample_weight), classes)
        elif is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            for _ in fresh.fit_in_steps(X, classes=classes):
                pass
        else:
            fresh._fit_rows(X, y, sample_weight, classes)
        return adopt(self, fresh)

    @allowed_threads()
    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        """Learn from rows that are all there are."""
        problem = self._problem()
        X = checked_rows(X, self.features, owner=self, reset=True)
        targets = self._new_targets(classes)
        checked = targets.check(y, X.shape[0], beside=X)
        targets.observe(checked)
        encoded = targets.encode(checked, beside=X)
        counts = as_weights(sample_weight, X.shape[0], beside=X)
        weights = targets.weights(encoded, counts, whole=True)
        if weights is not None and not bool(namespace(weights).any(weights > 0)):
            raise ValueError(
                "sample_weight is zero for every row; at least one weight must be positive."
            )
        if is_automatic(self.features):

            def again_from(state: RidgeState) -> Iterator[Any]:
                yield from _parts(state, X, encoded, weights, counts)

            empty = partial(RidgeState, targets, problem=problem, n_folds=self._folds())
            self._state = grown_state(self.features, X, empty, again_from, self.tolerance)
            return
        rows = FeatureRows.learnt(self.features, X)
        state = RidgeState(targets, rows, problem, self._folds())
        if X.shape[0] < rows.width and not self._folds():
            state.keep(sent_rows(X, self.features), targets.expand(encoded), weights, counts)
            state.solve()
        else:
            for part in _parts(state, X, encoded, weights, counts):
                state.add(*part)

            def again() -> Iterator[Any]:
                for part in _parts(state, X, encoded, weights, counts):
                    yield state.features_again(*part)

            state.solve(again)
        self._state = state

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Learn from one more block."""
        self._problem()
        self._refuse_second_looks()
        if self._state is not None:
            self._state.refuse_compact("partial_fit")
        with unchanged_on_error(self):
            # A block is learnt whole or not at all.
            state = self._state
            self._state = None if state is None else state.snapshot()
            self._learn(Block(X, y, sample_weight), classes)
        return self

    def fit_in_steps(
        self, stream: Iterable[Any], *, skip: int = 0, classes: Any = None
    ) -> Iterator[int]:
        """Learn from a stream, and yield after each block how many are done.

        Unlike ``fit`` it learns in place: what is learnt so far is there after every step, for
        checkpoints (:func:`mercer.io.fit_resumable`) and for progress of one's own.

        Parameters
        ----------
        stream : iterable of (X, y) or (X, y, sample_weight)
            The blocks; where the solver asks for it they are read a second time.
        skip : int, default=0
            Blocks that were learnt before.
        classes : array of shape (n_classes,), default=None
            All labels there are, for a classifier whose first block lacks some.

        Yields
        ------
        n_blocks : int
            Blocks that are done.
        """
        once = isinstance(stream, Iterator)
        self._problem()
        if once or is_automatic(self.features):
            self._refuse_second_looks()
        new = islice(from_stream(stream), skip, None)
        for number, block in enumerate(sent_blocks(new, self.features), start=skip + 1):
            self._learn(Block(*block), classes)
            yield number
        state = self._fitted()

        def again() -> Iterator[Any]:
            for block in from_stream(stream):
                X = checked_rows(block.X, self.features, owner=self, reset=False)
                yield from self._learnt_again(state, X, block)

        state.solve(None if once else again)
        names = stream_names(stream)
        if names is not None:
            # Not before: the blocks themselves have none.
            self.feature_names_in_ = names

    @allowed_threads()
    def _learn(self, block: Block, classes: Any) -> None:
        """Add a block of rows."""
        first = self._state is None
        X = checked_rows(block.X, self.features, owner=self, reset=first)
        targets = self._new_targets(classes) if self._state is None else self._state.targets
        if first:
            targets.observe(targets.check(block.y, X.shape[0], beside=X))
        parts = _encoded(targets, Block(X, block.y, block.weights))
        state = self._state
        if state is None:
            rows = FeatureRows.learnt(self.features, X)
            warn_of_first_block(self.features, X.shape[0])
            state = RidgeState(targets, rows, self._problem(), self._folds())
        # Parameters may have been set since the last block.
        state.problem = self._problem()
        for part in _parts(state, X, *parts):
            state.add(*part)
        self._state = state

    def _learnt_again(self, state: RidgeState, X: Any, block: Block) -> Iterator[Any]:
        """Yield features, targets and weights of checked rows that were added before."""
        for part in _parts(state, X, *_encoded(state.targets, block)):
            yield state.features_again(*part)

    def _refuse_second_looks(self) -> None:
        if is_automatic(self.features):
            raise ValueError(
                "n_components='auto' needs several passes over the rows, which streams, "
                "partial_fit and merge do not allow; give fit arrays, or a number of components."
            )
        if self.selection == "loo":
            raise ValueError(
                "selection='loo' needs a second pass over the rows, which streams, partial_fit and "
                "merge do not allow; use 'gcv' (generalised cross-validation) or a number of folds."
            )

    def raw_predict(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions of shape (n_rows, n_targets), and their variances.

        They are where the rows are: also of rows on the host that are sent to a device.
        """
        state = self._fitted()
        X = checked_rows(X, self.features, owner=self, reset=False)
        shape = (int(X.shape[0]), int(state.solve().coef.shape[1]))
        rows = _rows_at_once(X, state.rows.width + shape[1], 8)
        outputs: list[Any] = [None, None]
        start = 0
        for part, *_ in sent_blocks(
            ((block.X,) for block in sliced(X, X, None, rows)), self.features
        ):
            stop = start + part.shape[0]
            for place, found in enumerate(state.values(part, with_variance, start)):
                if found is None:
                    continue
                found = beside_features(X if is_foreign(X) else np.empty(0), found)
                if outputs[place] is None:
                    outputs[place] = empty_like_library(found, shape, dtype_name(found))
                outputs[place][start:stop, :] = found
            start = stop
        return outputs[0], outputs[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _parts(state: RidgeState, X: Any, encoded: Any, weights: Any, counts: Any) -> Iterator[Any]:
    """Yield blocks to learn from: rows, expanded targets, weights, sample weights, rows before."""
    blocks = _cut(X, encoded, weights, counts, _block_rows(state, X))
    start = 0
    for X_part, y, w, own in sent_blocks(blocks, state.rows.fitted):
        yield X_part, state.targets.expand(y), w, own, start
        start += int(X_part.shape[0])


def _cut(X: Any, encoded: Any, weights: Any, counts: Any, rows: int) -> Iterator[tuple[Any, ...]]:
    """Yield rows, encoded targets, weights and sample weights of so many rows at a time."""
    start = 0
    for block in sliced(X, encoded, weights, rows):
        stop = start + block.X.shape[0]
        yield *block, None if counts is None else counts[start:stop]
        start = stop


def _block_rows(state: RidgeState, X: Any) -> int:
    """Return how many rows to learn from at a time."""
    width = state.rows.width + state.targets.n_columns
    # Of packed features a block takes an eighth of the memory or less, also where it is unpacked.
    itemsize = 1 if state.rows.is_packed else 8
    worthwhile = max(256, max(1, state.n_folds) * width // FEATURES_EACH)
    return _rows_at_once(X, width, itemsize, worthwhile)


def _rows_at_once(X: Any, width: int, itemsize: int, worthwhile: int = 256) -> int:
    """Return how many rows to take at a time, for where they are computed."""
    if not learns_on_device(X):
        return learning_rows(width, itemsize, worthwhile)
    single = not is_frame(X) and floating_name(X) == "float32"
    return device_rows(width, 4 if single else 8, X)


def _encoded(targets: Targets, block: Block) -> tuple[Any, Any, Any]:
    """Return encoded targets of a block of a stream, its weights and its sample weights."""
    n_rows = block.X.shape[0] if hasattr(block.X, "shape") else len(block.X)
    encoded = targets.encode(targets.check(block.y, n_rows, beside=block.X), beside=block.X)
    counts = as_weights(block.weights, n_rows, beside=block.X)
    return encoded, targets.weights(encoded, counts, whole=False), counts


def _same(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are equal, arrays entry by entry."""
    if isinstance(one, dict) or isinstance(other, dict):
        return bool(one == other)
    return bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))
