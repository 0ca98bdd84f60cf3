"""What machines without targets share: a default map, checked rows, one state object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._random import stored_random_state
from .._sklearn import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ..engine.streams import as_weights
from ..features import FeatureMap, PackedFeatures, RandomFourier
from ..kernels import Gaussian
from .feature_rows import checked_rows
from .row_streams import row_blocks


class UnsupervisedMachine(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator on features of rows whose fitted state is one object, ``None`` before."""

    n_features_in_: int

    _state: Any = None

    features: Any
    random_state: Any

    @property
    def features_(self) -> Any:
        """The fitted features."""
        return self._fitted().rows.fitted

    def _map(self, seed: int, X: Any) -> Any:
        """Return the transformer that makes the features, not fitted; packed ones need none."""
        if self.features is None:
            if isinstance(X, PackedFeatures):
                return None
            return RandomFourier(Gaussian("median"), random_state=seed)
        return self.features

    def _checked(
        self, X: Any, sample_weight: Any = None, *, reset: bool = False
    ) -> tuple[Any, np.ndarray | None]:
        """Return checked rows and sample weights."""
        features = self._map(0, X)
        X = checked_rows(X, features, owner=self, reset=reset)
        if reset and not isinstance(features, FeatureMap):
            # Its own check counts the columns.
            self.n_features_in_ = int(X.shape[1])
        return X, as_weights(sample_weight, X.shape[0])

    def _stream_rows(self, stream: Iterable[Any], fresh: bool) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield checked rows of the blocks of a stream, and their weights."""
        for X, weights in row_blocks(stream):
            X, own = self._checked(X, weights, reset=fresh)
            fresh = False
            yield X, np.ones(X.shape[0]) if own is None else own

    def _fitted(self) -> Any:
        """Return the state, or say that there is none."""
        if self._state is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; a generator is the seed that it has given."""
        seed = getattr(self._state, "seed", None)
        return {**self.__dict__, "random_state": stored_random_state(self.random_state, seed)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
