"""What the front door does before it learns: columns, a sample, a linear model, the kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._array import is_sparse
from ...engine.sample import RowSample
from ...engine.streams import Block
from ...features.approximation import approximation_error
from ...features.for_kernel import features_for, has_features
from ...kernels import Kernel
from ...preprocessing import TableEncoder
from ...preprocessing.table_summary import NUMBER, as_matrix
from ...solvers.cost import FOLDS
from ..targets import Targets
from .pilot import PILOT_ROWS, Candidate, Pilot, choose_kernel, named_kernel

#: The widest encoded rows that a linear model is fitted to for comparison.
LINEAR_WIDTH = 2048
#: The relative distance of features from their kernel above which users are warned.
FAR = 0.3
#: Makes a ridge machine from parameters, and its ``fit`` keywords.
MakeMachine = Callable[..., tuple[Any, dict[str, Any]]]


@dataclass
class Columns:
    """What the first pass over the rows learns: the columns, the targets, how many rows."""

    encoder: Any
    n_rows: int

    @property
    def is_numeric(self) -> bool:
        """Whether all columns hold numbers: then the sample can be encoded again and again."""
        # Decided once: a block may have nothing but missing entries in a column of categories.
        return set(getattr(self.encoder, "kinds_", [NUMBER])) == {NUMBER}


def learn_columns(blocks: Iterable[Block], encoder: Any, targets: Targets) -> Columns:
    """Return what the columns hold, and let targets be observed."""
    n_rows = 0
    for block in blocks:
        encoder.partial_fit(block.X)
        targets.observe(block.y)
        n_rows += block.X.shape[0]
    width = len(encoder.get_feature_names_out())
    if width == int(getattr(encoder, "constant", None) is not None):
        raise ValueError(
            f"All {encoder.n_features_in_} column(s) of X are constant (n_samples={n_rows}): "
            "there is nothing to learn from; check that the right columns were passed."
        )
    return Columns(encoder, n_rows)


def asked_kernel(kernel: Kernel | str | None) -> Kernel | None:
    """Return the kernel that was asked for, or ``None`` if it is to be found."""
    return named_kernel(kernel) if isinstance(kernel, str) else kernel


def has_feature_map(kernel: Kernel | str | None) -> bool:
    """Return whether what was asked for can be approximated by features."""
    known = asked_kernel(kernel)
    return known is None or has_features(known)


def sample_and_linear_score(
    blocks: Iterable[Block], columns: Columns, make: MakeMachine
) -> tuple[RowSample, float | None]:
    """Return a sample of the rows, and the score of a linear model that is fitted on the way."""
    sample, linear = RowSample(PILOT_ROWS), None
    encoder = plain = columns.encoder
    if len(encoder.get_feature_names_out()) <= LINEAR_WIDTH and columns.n_rows >= 2 * FOLDS:
        linear, options = make(alpha=None, selection=FOLDS)
        if isinstance(encoder, TableEncoder):
            # Soft clipping is not linear.
            plain = encoder.rescaled(limit=None)
        learning = linear.fit_in_steps(_encoded(blocks, plain, encoder, columns, sample), **options)
        for _ in learning:
            pass
        return sample, linear.expectation().score
    for _ in _encoded(blocks, plain, encoder, columns, sample):
        pass
    return sample, None


def _encoded(
    blocks: Iterable[Block], plain: Any, encoder: Any, columns: Columns, sample: RowSample
) -> Iterable[tuple[Any, Any, Any]]:
    """Yield blocks for a linear model, and add their rows to the sample."""
    for X, y, w in blocks:
        encoded = encoder.transform(X)
        raw = as_matrix(X) if columns.is_numeric else encoded
        sample.add(raw, y, np.ones(X.shape[0]) if w is None else w)
        yield encoded if plain is encoder else plain.transform(X), y, w


@dataclass
class Choice:
    """The kernel and its encoder, why, and the encoded rows of the sample."""

    kernel: Kernel
    reason: str
    encoder: Any
    rows: Any


def choose(
    kernel: Kernel | str | None,
    columns: Columns,
    sample: RowSample,
    free: bool,
    learn: Callable[[Any, Any], Any] | None,
    n_components: int | None,
    seed: int,
) -> Choice:
    """Return the kernel and encoding that suit the sample best.

    Parameters
    ----------
    kernel : Kernel, str or None
        What was asked for.
    columns : Columns
        What is known of the columns.
    sample : RowSample
        Rows, targets and weights.
    free : bool
        Whether the encoder is ours to change.
    learn : callable or None
        Learns from the sample with features, as :class:`Pilot` wants it.
    n_components : int or None
        Features that the machine will have.
    seed : int
        Of random features.
    """
    raw = sample.columns[0]

    def encoder_for(scaling: str, constant: float | None) -> Any:
        if not free:
            return columns.encoder
        return columns.encoder.rescaled(scaling=scaling, constant=constant)

    def encode(scaling: str, constant: float | None) -> Any:
        if columns.is_numeric:
            with warnings.catch_warnings():
                # The sample has lost the names of its columns, after they were compared.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                return encoder_for(scaling, constant).transform(raw)
        if constant is None:
            return raw
        return np.column_stack([raw, np.full(len(raw), constant, dtype=raw.dtype)])

    several = free and columns.is_numeric and not is_sparse(raw) and raw.shape[1] > 1
    scalings = ["each", "common"] if several else [getattr(columns.encoder, "scaling", "each")]
    pilot = Pilot(learn, encode, n_components, seed)
    chosen, reason = choose_kernel(kernel, pilot, scalings, free)
    return Choice(chosen.kernel, reason, _finished(encoder_for, chosen), _rows_of(encode, chosen))


def _finished(encoder_for: Callable[[str, float | None], Any], chosen: Candidate) -> Any:
    encoder = encoder_for(chosen.scaling, chosen.constant)
    # The summary holds counts of the data, which must not be stored in a model file.
    return encoder.without_summary() if hasattr(encoder, "without_summary") else encoder


def _rows_of(encode: Callable[[str, float | None], Any], chosen: Candidate) -> Any:
    return encode(chosen.scaling, chosen.constant)


def repeated_share(sample: RowSample) -> float:
    """Return the share of sampled rows that occur more than once, target included.

    Examples
    --------
    >>> sample = RowSample(10)
    >>> sample.add(np.asarray([[1.0], [1.0], [2.0], [3.0]]), np.asarray([5, 5, 6, 7]))
    >>> repeated_share(sample)
    0.5
    """
    X, y = sample.columns[0], np.asarray(sample.columns[1])
    rows = X.toarray() if is_sparse(X) else np.asarray(X)
    _, codes = np.unique(y, axis=0, return_inverse=True)
    table = np.column_stack([rows, codes.ravel()])
    _, counts = np.unique(table, axis=0, return_counts=True)
    return float(counts[counts > 1].sum() / len(table))


def measured_features(kernel: Kernel, n_components: int, seed: int, rows: Any) -> tuple[Any, float]:
    """Return features for a kernel, and how far they are from it on the rows of a sample."""
    features = features_for(kernel, n_components, seed)
    error = approximation_error(clone(features).fit(rows), rows).relative
    if error > FAR:
        warnings.warn(
            f"{n_components:,} features are {error:.0%} from the kernel {kernel!r}: the machine "
            "learns with another kernel than this one; give more n_components, or "
            "approximation='exact'.",
            UserWarning,
            stacklevel=8,
        )
    return features, error
