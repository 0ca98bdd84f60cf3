"""How rows become features: a fitted transformer, or the columns as they are."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from .._array import as_floating, dtype_name, floating_name, is_foreign, is_sparse, to_numpy
from .._random import Stream
from .._registry import storable
from .._sklearn import check_rows
from ..engine.blocks import NonFiniteError, take
from ..engine.cluster import Partitions
from ..engine.streams import rows_between
from ..features import FeatureMap, PackedFeatures
from ..preprocessing import TableEncoder


@storable
class FeatureRows:
    """Blocks of rows as dense float features.

    Parameters
    ----------
    fitted : fitted transformer or None
        What makes the features; ``None`` for the columns as they are.
    width : int
        Columns of the features.
    """

    fitted: Any
    width: int
    is_packed: bool

    def __init__(self, fitted: Any, width: int) -> None:
        self.fitted, self.width, self.is_packed = fitted, width, False

    @classmethod
    def learnt(cls, features: Any, X: Any) -> FeatureRows:
        """Return the features of a transformer that is cloned and fitted on checked rows.

        Examples
        --------
        >>> FeatureRows.learnt(None, np.eye(3)).width
        3
        """
        if isinstance(X, Partitions):
            fitted, X = fitted_on_cluster(features, X), checked_example(features, X)
        elif features is None:
            fitted = None
        elif isinstance(features, FeatureMap):
            fitted = clone(features).fit_checked(X)
        else:
            made = clone(features)
            fitted = made if isinstance(made, FrozenEstimator) else made.fit(X)
        rows = cls(fitted, 0)
        one = rows.gathered(rows_between(X, 0, 1))
        rows.width, rows.is_packed = int(one.shape[1]), isinstance(one, PackedFeatures)
        return rows

    @property
    def overwritable(self) -> bool:
        """Whether blocks are ours alone; another transformer may hand out views of the input."""
        return isinstance(self.fitted, FeatureMap)

    def block(self, X: Any, n_before: int = 0) -> np.ndarray:
        """Return the features of a block of checked rows as a dense NumPy array of floats.

        Whether the rows are finite is seen here, once; an error names the row, of which
        ``n_before`` others stand before the block.
        """
        return to_numpy(self.dense(X, n_before))

    def dense(self, X: Any, n_before: int = 0) -> Any:
        """Return the features of a block as dense floats, on the device where the rows are."""
        Z = self.gathered(X, n_before)
        return Z.unpack(np.float32) if isinstance(Z, PackedFeatures) else Z

    def gathered(self, X: Any, n_before: int = 0) -> Any:
        """Return the features of a block for accumulators: packed, or as ``dense`` does."""
        try:
            Z = self._made(X)
        except NonFiniteError as error:
            raise error.below(n_before) from None
        if isinstance(Z, PackedFeatures):
            return Z
        if is_sparse(Z):
            Z = Z.toarray()
        elif hasattr(Z, "to_numpy"):
            Z = Z.to_numpy()
        Z = Z if is_foreign(Z) else to_numpy(Z)
        return Z if dtype_name(Z) in ("float32", "float64") else as_floating(Z, floating_name(Z))

    def _made(self, X: Any) -> Any:
        """Return what the transformer makes of a block."""
        if self.fitted is None:
            packed = isinstance(X, PackedFeatures)
            return X if packed else take(X, 0, X.shape[0], floating_name(X))
        if isinstance(self.fitted, FeatureMap):
            return self.fitted.transform_checked(X)
        return self.fitted.transform(X)


def checked_rows(X: Any, features: Any, *, owner: Any, reset: bool) -> Any:
    """Return rows that can be sliced; a transformer of another library checks its own.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The rows.
    features : transformer or None
        What they go into.
    owner : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` to set or to compare with.
    reset : bool
        Set them instead of comparing.
    """
    if isinstance(X, PackedFeatures):
        return _checked_packed(X, features, owner, reset)
    if features is None or isinstance(features, FeatureMap):
        return check_rows(X, owner=owner, reset=reset)
    return X if hasattr(X, "shape") else np.asarray(X)


def checked_example(features: Any, parts: Partitions) -> Any:
    """Return a checked row of the kind that the blocks of a cluster hold."""
    X = parts.example.X
    return check_rows(X) if features is None or isinstance(features, FeatureMap) else X


def fitted_on_cluster(features: Any, parts: Partitions) -> Any:
    """Return a transformer that is cloned and fitted on the rows of a cluster.

    Parameters
    ----------
    features : transformer or None
        A feature map, a :class:`~mercer.TableEncoder`, a pipeline of these, or one that is frozen.
    parts : Partitions
        The rows.
    """
    if features is None:
        return None
    steps = [step for _, step in features.steps] if isinstance(features, Pipeline) else [features]
    able = (FeatureMap, TableEncoder)
    wrong = [s for s in steps if not (isinstance(s, able) or s in (None, "passthrough"))]
    if wrong and not isinstance(features, FrozenEstimator):
        raise TypeError(
            f"features={type(wrong[0]).__name__}(...) cannot be fitted on a cluster, as only "
            "feature maps, TableEncoder and pipelines of these can; fit it on a sample of the rows "
            "and pass sklearn.frozen.FrozenEstimator(it)."
        )
    made = clone(features)
    return made if isinstance(features, FrozenEstimator) else made.fit(parts)


def _checked_packed(X: PackedFeatures, features: Any, owner: Any, reset: bool) -> PackedFeatures:
    """Return packed features that are given in place of rows, or say what is wrong with them."""
    if features is not None:
        raise ValueError(
            "X holds packed features already, of which no others can be made: give features=None, "
            "or the rows that they come from."
        )
    if reset:
        owner.n_features_in_ = X.shape[1]
        owner.__dict__.pop("feature_names_in_", None)
    elif owner.n_features_in_ != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, but {type(owner).__name__} was fitted on "
            f"{owner.n_features_in_}."
        )
    return X


def warn_of_first_block(features: Any, n_rows: int) -> None:
    """Warn if the features of a stream depend on the rows of its first block."""
    if features is None or (isinstance(features, FeatureMap) and not features.needs_data()):
        return
    warnings.warn(
        f"The features learn from data and were fitted on the first block only ({n_rows} rows); "
        "if later blocks differ, shuffle them, or take a kernel whose lengthscale is a number, "
        "from kernel.fitted_to(sample) for example, and RandomFourier.",
        UserWarning,
        stacklevel=5,
    )


def same_features(first: Any, second: Any) -> bool:
    """Return whether two fitted transformers do the same.

    They are tried on a few random rows; those that do not take numbers are compared whole.

    Examples
    --------
    >>> same_features(None, None)
    True
    """
    if first is None or second is None:
        return first is second
    width = getattr(first, "n_features_in_", None)
    if width != getattr(second, "n_features_in_", None):
        return False
    if width is not None:
        probe = Stream(0).child("probe").generator().standard_normal((3, width))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, other = (np.asarray(part.transform(probe)) for part in (first, second))
            return np.array_equal(one, other)
        except (TypeError, ValueError):
            pass
    return pickle.dumps(first) == pickle.dumps(second)
