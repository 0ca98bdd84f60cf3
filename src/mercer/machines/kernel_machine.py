"""The front door's frame: encode, choose, learn in one pass, report."""

from __future__ import annotations

import copy
import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from itertools import chain
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone

from .._array import is_sparse, to_numpy
from .._random import seed_of
from .._sklearn import (
    RANDOM_STATE,
    BaseEstimator,
    HasMethods,
    Interval,
    StrOptions,
    check_columns,
    check_is_fitted,
)
from ..engine.blocks import cut
from ..engine.sample import RowSample
from ..engine.streams import (
    Block,
    as_weights,
    from_stream,
    is_stream,
    learning_rows,
    refuse_beside_stream,
    rows_between,
    sliced,
)
from ..features import KernelColumns
from ..features.approximation import approximation_error
from ..features.base import stored_random_state
from ..features.for_kernel import features_for, has_features
from ..kernels import Kernel
from ..preprocessing import TableEncoder
from ..preprocessing.table_summary import CATEGORY, DATE, NUMBER, as_matrix
from .choosing import (
    FOLDS,
    PILOT_ROWS,
    Pilot,
    choose_kernel,
    choose_method,
    named_kernel,
)
from .merging import take_over
from .report import FitReport, shortened

CONSTRAINTS = {
    "kernel": [Kernel, str, None],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "approximation": [StrOptions({"auto", "exact", "features"})],
    "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    "encoder": [HasMethods(["partial_fit", "transform", "get_feature_names_out"]), None],
    "random_state": RANDOM_STATE,
}
#: The widest encoded rows that a linear model is fitted to for comparison.
LINEAR_WIDTH = 2048


class KernelMachine(BaseEstimator):
    """What :class:`KernelRegressor` and :class:`KernelClassifier` share.

    Three passes over the rows: what the columns hold; a sample to compare kernels on, and a
    linear model; the features. A subclass says which ridge machine learns, and checks targets.
    """

    def __init__(
        self,
        kernel=None,
        *,
        n_components="auto",
        approximation="auto",
        alpha=None,
        encoder=None,
        random_state=0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.approximation = approximation
        self.alpha = alpha
        self.encoder = encoder
        self.random_state = random_state

    #: ``"regression"`` or ``"classification"``.
    _task: str

    @abstractmethod
    def _machine(self, **parameters):
        """Return a ridge machine that is not fitted yet."""

    @abstractmethod
    def _check_y(self, y, n_rows):
        """Return checked targets, a row each."""

    @abstractmethod
    def _see_targets(self, y):
        """Note what must be known of all targets before learning."""

    def _fit(self, X, y, sample_weight):
        """Learn from rows or a stream; only a fit that succeeds replaces what was there."""
        fresh = clone(self)
        for _ in fresh._learning(X, y, sample_weight):
            pass
        return take_over(self, fresh)

    def _learning(self, X, y=None, sample_weight=None, skip=0) -> Iterator[int]:
        """Learn, telling after each block how many are done; the first ``skip`` were before."""
        start = time.perf_counter()
        source = self._source(X, y, sample_weight)
        if not hasattr(self, "encoder_"):
            source = self._prepare(source)
            yield 0
        blocks = (Block(self.encoder_.transform(X), y, w) for X, y, w in source)
        machine = self.machine_
        if isinstance(machine.features, KernelColumns):
            parts = [tuple(block) for block in blocks]
            rows = np.concatenate([_dense(part[0]) for part in parts])
            targets = np.concatenate([part[1] for part in parts])
            weights = np.concatenate([_counted(part[2], len(part[1])) for part in parts])
            machine._fit(rows, targets, weights)
        else:
            yield from machine._learning(blocks, skip)
        self._conclude(time.perf_counter() - start)

    def _source(self, X, y, sample_weight):
        """Return blocks of raw rows with checked targets, to be iterated as often as needed."""
        name = getattr(X, "target", None) if is_stream(X) else getattr(y, "name", None)
        self.target_name_ = ", ".join(name) if isinstance(name, list) else name
        if is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            return _Stream(X, self._check_y)
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        X = check_columns(X, owner=encoder, reset=True)
        targets = self._check_y(y, X.shape[0])
        weights = as_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero for every row; at least one must not be.")
        rows = learning_rows(X.shape[1] + 512, 8)
        return _Rows(X, targets, weights, rows)

    def _prepare(self, source):
        """Learn the columns, compare kernels on a sample, and set up the machine."""
        self._seed = seed_of(self.random_state)
        known = self._kernel_asked()
        first_only, source = source.preview()
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        n_rows = 0
        for block in first_only:
            encoder.partial_fit(block.X)
            self._see_targets(block.y)
            n_rows += block.X.shape[0]
        self._refuse_constant(encoder, n_rows)
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        featured = known is None or has_features(known)
        # A stream that is seen once has more rows than its first block.
        known_rows = n_rows if first_only is source else None
        self._method = choose_method(known_rows, self.n_components, self.approximation, featured)
        sample = self._look_again(first_only, encoder, n_rows)
        self._settle(encoder, sample)
        return source

    def _kernel_asked(self):
        """Return the kernel that was asked for, or ``None`` if it is to be found."""
        return named_kernel(self.kernel) if isinstance(self.kernel, str) else self.kernel

    def _refuse_constant(self, encoder, n_rows):
        width = len(encoder.get_feature_names_out())
        if width == int(getattr(encoder, "constant", None) is not None):
            raise ValueError(
                f"All {encoder.n_features_in_} column(s) of X are constant (n_samples={n_rows}): "
                "there is nothing to learn from; check that the right columns were passed."
            )

    def _look_again(self, source, encoder, n_rows):
        """Return a sample of the rows, and fit a linear model on the way."""
        sample = RowSample(PILOT_ROWS)
        self._linear = None
        plain = encoder
        # Decided once: a block may have nothing but gaps in a column of categories.
        self._sample_is_raw = set(getattr(encoder, "kinds_", [NUMBER])) == {NUMBER}
        if len(encoder.get_feature_names_out()) <= LINEAR_WIDTH and n_rows >= 2 * FOLDS:
            self._linear = self._machine(alpha=None, selection=FOLDS)
            if isinstance(encoder, TableEncoder):
                # Drawing in far values is not linear.
                plain = copy.copy(encoder).set_params(limit=None)._settle()
        for X, y, w in source:
            encoded = encoder.transform(X)
            raw = as_matrix(X) if self._sample_is_raw else encoded
            sample.add(raw, y, _counted(w, X.shape[0]))
            if self._linear is not None:
                linear = encoded if plain is encoder else plain.transform(X)
                self._linear._learn([Block(linear, y, w)])
        if self._linear is not None:
            self._linear = self._linear._solve()._expected_score()
        return sample

    def _settle(self, encoder, sample):
        """Choose kernel and encoding on the sample, and make the machine of them."""
        raw, y, weights = sample.columns
        free = self.encoder is None

        def encode(scaling, constant):
            if free:
                encoder.set_params(scaling=scaling, constant=constant)._settle()
            if self._sample_is_raw:
                with warnings.catch_warnings():
                    # The sample has lost the names of its columns, after they were compared.
                    warnings.filterwarnings("ignore", "X does not have valid feature names")
                    return encoder.transform(raw)
            if constant is None:
                return raw
            return np.column_stack([raw, np.full(len(raw), constant, dtype=raw.dtype)])

        several = free and self._sample_is_raw and not is_sparse(raw) and raw.shape[1] > 1
        scalings = ["each", "common"] if several else [getattr(encoder, "scaling", "each")]
        machine = self._machine(alpha=None, selection=FOLDS) if self._comparable(y) else None
        pilot = Pilot(machine, encode, y, weights, self._seed)
        chosen, self._kernel_reason = choose_kernel(self.kernel, pilot, scalings, free)
        rows = encode(chosen.scaling, chosen.constant)
        method = self._method
        if method.name == "exact":
            features, selection = KernelColumns(chosen.kernel), "loo"
        else:
            features = features_for(chosen.kernel, method.n_components, self._seed)
            selection = FOLDS
        self.kernel_, self.encoder_ = chosen.kernel, encoder
        # The summary holds counts of the data, which have no business in a model file.
        encoder.__dict__.pop("_summary", None)
        self.machine_ = self._machine(features=features, alpha=self.alpha, selection=selection)
        self._error = None
        if method.name == "features":
            self._error = approximation_error(clone(features).fit(rows), rows).relative

    def _comparable(self, y):
        """Return whether the sample can tell kernels apart."""
        return len(y) >= 2 * FOLDS

    def _stored(self, compact):
        """Return the state for a model file, where a generator is the seed it has given."""
        return {**self.__dict__, "random_state": stored_random_state(self, "_seed")}

    def _conclude(self, seconds):
        machine, method = self.machine_, self._method
        candidates = len(machine.solution_.lams)
        chosen = machine.solution_.criterion
        how = {
            "cv": f"{FOLDS}-fold cross-validation over {candidates} candidates",
            "loo": f"leave-one-out over {candidates} candidates",
            "gcv": f"generalised cross-validation over {candidates} candidates",
            "given": "as you asked for",
        }[chosen]
        n_rows = machine._n_learnt()
        self.report_ = FitReport(
            task=self._task,
            n_rows=n_rows,
            n_columns=self.n_features_in_,
            encoding=self._encoding(),
            kernel=shortened(repr(self.kernel_)),
            kernel_reason=self._kernel_reason,
            method=method.name,
            method_reason=method.reason,
            n_components=method.n_components,
            alpha=float(np.mean(machine.alpha_)),
            alpha_reason=how,
            score_name=machine._score_name,
            score=machine._expected_score(),
            score_reason=machine._score_reason(),
            linear_score=self._linear,
            approximation_error=self._error,
            seconds=seconds,
            memory=method.memory,
        )

    def _encoding(self):
        encoder = self.encoder_
        if not isinstance(encoder, TableEncoder):
            return f"{type(encoder).__name__}"
        kinds = encoder.kinds_
        categories = kinds.count(CATEGORY)
        dates = kinds.count(DATE)
        parts = [f"{len(kinds) - categories - dates:,} of numbers"]
        parts += [f"{dates:,} of dates"] if dates else []
        parts += [f"{categories:,} of categories"] if categories else []
        text = ", ".join(parts) + f"; {encoder._n_features_out:,} once encoded"
        gaps = len(encoder._gaps)
        text += f", {gaps:,} with missing entries" if gaps else ""
        dropped = len(kinds) - len(encoder._numbers) - len(encoder.categories_)
        return text + (f", {dropped:,} constant ones left out" if dropped > 0 else "")

    def _by_blocks(self, method, X):
        """Return what a method of the machine says of the rows of ``X``, block by block."""
        check_is_fitted(self, "report_")
        X = check_columns(X, owner=self.encoder_)
        rows = learning_rows(X.shape[1] + 512, 8)
        spans = cut(X.shape[0], rows)
        parts = [method(self.encoder_.transform(rows_between(X, *span))) for span in spans]
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        return np.concatenate(parts)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class _Rows:
    """Rows at hand, as blocks."""

    def __init__(self, X, y, weights, rows):
        self._parts = X, y, weights, rows

    def preview(self):
        return self, self

    def __iter__(self):
        return sliced(*self._parts)


class _Stream:
    """A stream of blocks, with their targets checked; an iterator can be looked at once."""

    def __init__(self, stream, check_y):
        # Tables on disk offer their columns as they are, categories and gaps included.
        self._stream = stream.tables() if hasattr(stream, "tables") else stream
        self._check_y = check_y

    def preview(self):
        if not isinstance(self._stream, Iterator):
            return self, self
        blocks = iter(self)
        first = next(blocks)
        warnings.warn(
            "A stream that can be seen once only: columns, kernel and lengthscale are those of "
            f"its first block ({first.X.shape[0]} rows); give a list of blocks or a TableStream to "
            "have them from all rows.",
            UserWarning,
            stacklevel=5,
        )
        return [first], chain([first], blocks)

    def __iter__(self):
        for X, y, weights in from_stream(self._stream):
            X = X if hasattr(X, "shape") else np.asarray(X)
            yield Block(X, self._check_y(y, X.shape[0]), as_weights(weights, X.shape[0]))


def _counted(weights, n_rows):
    """Return how many times each row counts."""
    return np.ones(n_rows) if weights is None else weights


def _dense(X):
    return X.toarray() if is_sparse(X) else to_numpy(X)
