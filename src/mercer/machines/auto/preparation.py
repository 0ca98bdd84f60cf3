"""What the front door does before it learns: columns, a sample, a linear model, features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...engine.cluster import Partitions
from ...engine.sample import RowSample
from ...engine.streams import Block
from ...features import GegenbauerFeatures, NystromFeatures
from ...features.approximation import approximation_error
from ...features.choosing import choose_map, chosen_map
from ...kernels import Kernel
from ...preprocessing import TableEncoder
from ...preprocessing.columns import as_matrix
from ...solvers.cost import FOLDS
from ..targets import Targets
from .on_cluster import columns_on_cluster, sample_on_cluster
from .pilot import PILOT_ROWS, Columns, EncodedSample

#: The widest encoded rows that a linear model is fitted to for comparison.
LINEAR_WIDTH = 2048
#: The relative distance of features from their kernel above which users are warned.
FAR = 0.3
#: The share of a sample that landmarks are chosen from; the error is measured on the rest.
LANDMARK_SHARE = 0.75


def learn_columns(
    blocks: Iterable[Block], encoder: Any, free: bool, targets: Targets, whole: Any = None
) -> Columns:
    """Return what the columns hold, and let targets be observed.

    Parameters
    ----------
    blocks : iterable of Block
        Raw rows with checked targets.
    encoder : transformer
        Learns the columns.
    free : bool
        Whether it is ours to change.
    targets : Targets
        Observe what is predicted.
    whole : table, default=None
        All rows, where they are at hand: not every transformer learns block by block.
    """
    if isinstance(blocks, Partitions):
        columns = columns_on_cluster(blocks, encoder, free, targets)
    else:
        n_rows = 0
        at_once = whole is not None and not getattr(encoder, "is_incremental", True)
        if at_once:
            encoder.fit(whole)
        for block in blocks:
            if not at_once:
                encoder.partial_fit(block.X)
            targets.observe(block.y)
            n_rows += block.X.shape[0]
        columns = Columns(encoder, n_rows, free)
    width = len(encoder.get_feature_names_out())
    if width == int(getattr(encoder, "constant", None) is not None):
        raise ValueError(
            f"All {encoder.n_features_in_} column(s) of X are constant "
            f"(n_samples={columns.n_rows}): there is nothing to learn from; check that the right "
            "columns were passed."
        )
    return columns


@dataclass(frozen=True)
class LinearModel:
    """A fitted linear model, the encoder of its rows, and the score that it expects."""

    machine: Any
    encoder: Any
    score: float


def sample_and_linear_model(
    blocks: Iterable[Block],
    columns: Columns,
    linear: Any,
    options: dict[str, Any],
    targets: Targets,
    n_rows: int = PILOT_ROWS,
    searched: bool = False,
    bring: Callable[[np.ndarray], Any] = np.asarray,
) -> tuple[EncodedSample, LinearModel | None]:
    """Return a sample of the rows, and a linear model that is fitted on the way.

    Parameters
    ----------
    blocks : iterable of Block
        Raw rows with checked targets.
    columns : Columns
        What is known of the columns.
    linear : estimator
        A ridge machine without features, not fitted yet.
    options : dict
        Further arguments of its fit.
    targets : Targets
        Check those of blocks on a cluster.
    n_rows : int
        Rows of the sample, at most.
    searched : bool, default=False
        Whether encodings are to be compared on it.
    bring : callable
        Gives rows of the sample where they are compared.
    """
    sample = RowSample(n_rows)
    model: LinearModel | None = None
    views = columns.views(searched)
    encoder = plain = columns.encoder
    if len(encoder.get_feature_names_out()) <= LINEAR_WIDTH and columns.n_rows >= 2 * FOLDS:
        if isinstance(encoder, TableEncoder):
            # Soft clipping is not linear.
            plain = encoder.rescaled(limit=None)
        model = LinearModel(linear, finished(plain), 0.0)
    if isinstance(blocks, Partitions):
        sample = sample_on_cluster(blocks, _add_block, (columns, views, targets), n_rows)
        if model is not None:
            linear.fit_partitions(plain.transform(blocks), **options)
    else:
        rows = _sampled(blocks, plain, columns, sample, views)
        for _ in rows if model is None else linear.fit_in_steps(rows, **options):
            pass
    if model is not None:
        model = replace(model, score=linear.expectation().score)
    return EncodedSample(columns, sample, views, bring), model


def _sampled(
    blocks: Iterable[Block],
    plain: Any,
    columns: Columns,
    sample: RowSample,
    views: dict[str, Any],
) -> Iterable[tuple[Any, Any, Any]]:
    """Yield blocks for a linear model, and add their rows to the sample."""
    encoder = columns.encoder
    for X, y, w in blocks:
        encoded = encoder.transform(X)
        _add_rows(sample, X, y, w, columns, views, encoded)
        yield encoded if plain is encoder else plain.transform(X), y, w


def _add_rows(
    sample: RowSample,
    X: Any,
    y: Any,
    w: Any,
    columns: Columns,
    views: dict[str, Any],
    encoded: Any = None,
) -> None:
    """Add rows with their targets to a sample: raw ones, or in each of some encodings."""
    if len(views) > 1:
        raw = np.hstack([view.transform(X) for view in views.values()])
    elif columns.is_numeric:
        raw = as_matrix(X)
    else:
        raw = columns.encoder.transform(X) if encoded is None else encoded
    sample.add(raw, y, np.ones(X.shape[0]) if w is None else w)


def _add_block(shared: Any, block: Block, sample: RowSample) -> None:
    """Add the rows of a block of a cluster to a sample."""
    columns, views, targets = shared
    checked = targets.check(block.y, block.X.shape[0])
    _add_rows(sample, block.X, checked, block.weights, columns, views)


def measured_features(
    kernel: Kernel, n_components: int, seed: int, rows: Any, whole: bool = True
) -> tuple[Any, str, float]:
    """Return features for a kernel, why these, and their error on the rows of a sample.

    Parameters
    ----------
    kernel : Kernel
        What they approximate.
    n_components, seed : int
        How many, and the seed of them.
    rows : array of shape (n_rows, n_features)
        The sample.
    whole : bool, default=True
        Whether it holds all rows.
    """
    choice = choose_map(kernel, rows, n_components, seed)
    if choice.situation.sphere and not whole:
        # Some rows cannot tell that all of them have the same norm.
        choice = chosen_map(kernel, replace(choice.situation, sphere=False), seed)
    if _too_far(choice.features, rows):
        choice = chosen_map(kernel, replace(choice.situation, furthest=np.inf), seed)
    features = choice.features
    if isinstance(features, GegenbauerFeatures):
        # The first block of a stream may be another one than that of the next machine.
        features.set_params(domain=clone(features).fit(rows).region_)
    if isinstance(features, NystromFeatures):
        # Landmarks are exact: the error is that of other rows.
        stop = max(1, int(LANDMARK_SHARE * rows.shape[0]))
        landmarks = clone(features).fit(rows[:stop]).landmarks_
        features = clone(features).set_params(landmarks=landmarks)
        rows = rows[stop:]
    error = approximation_error(clone(features).fit(rows), rows).relative
    if error > FAR:
        warnings.warn(
            f"The kernel matrix of {n_components:,} features has a relative error of {error:.0%} "
            f"({kernel!r}); increase n_components, or use approximation='exact'.",
            UserWarning,
            stacklevel=8,
        )
    return features, choice.reason, error


def _too_far(features: Any, rows: Any) -> bool:
    """Return whether some rows are beyond the degrees that polynomials have room for."""
    if not isinstance(features, GegenbauerFeatures):
        return False
    fitted = clone(features).fit(rows)
    guard = fitted.traits_.guard
    return bool(guard is not None and guard.radius is None and fitted.region_.largest > guard.reach)


def finished(encoder: Any) -> Any:
    """Return an encoder without counts of the data, which must not be stored in a model file."""
    return encoder.without_summary() if hasattr(encoder, "without_summary") else encoder
