"""Any transformer as the encoder of the front door: frames of its library in, numbers out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ..._array import is_foreign, is_sparse
from ..._frame import column, column_names, common_library, in_library, is_frame
from ..._registry import storable
from ..._sklearn import BaseEstimator, canonical_rows, check_columns
from ...engine.streams import rows_between
from ...preprocessing import TableEncoder

#: Rows that tell how wide what a transformer makes is.
FEW_ROWS = 2


@storable
class AnyTransformer(BaseEstimator):
    """A transformer that knows nothing of the front door.

    Its output becomes an array of numbers, dense or CSR. It sees frames of the library that it was
    fitted on: a machine that learnt from pandas frames answers polars frames, too, and a stream of
    record batches is pandas frames for it.

    Parameters
    ----------
    transformer : transformer
        Has ``fit`` and ``transform``; it is fitted in place.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> encoder = AnyTransformer(StandardScaler())
    >>> encoder.fit(np.asarray([[1.0], [3.0]])).transform(np.asarray([[5.0]]))
    array([[3.]])
    >>> encoder.describe()
    'StandardScaler; 1 column once encoded'
    """

    #: The library of the frames that it was fitted on, and how many columns it makes.
    _library: str | None = None
    _width = 0

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    @property
    def is_incremental(self) -> bool:
        """Whether it learns from one block after the other."""
        return hasattr(self.transformer, "partial_fit")

    def fit(self, X: Any) -> AnyTransformer:
        """Learn from all rows."""
        _refuse_targets(self.transformer)
        self.transformer.fit(self._taken(X, reset=True))
        return self._measured(X)

    def partial_fit(self, X: Any) -> AnyTransformer:
        """Learn from one more block; one that cannot learns from the first, and says so."""
        first = not hasattr(self, "n_features_in_")
        if self.is_incremental:
            self.transformer.partial_fit(self._taken(X, reset=first))
        elif first and get_tags(self.transformer).requires_fit:
            warnings.warn(
                f"{type(self.transformer).__name__} has no partial_fit, so that it is fitted on "
                f"the first block of the stream only ({X.shape[0]:,} rows); give larger blocks or "
                "fit(X, y) if it must see more.",
                UserWarning,
                stacklevel=7,
            )
            return self.fit(X)
        elif first:
            return self.fit(X)
        return self._measured(X) if first else self

    def transform(self, X: Any) -> Any:
        """Return encoded rows as an array of numbers, or say what is none."""
        return self._numbers(self.transformer.transform(self._taken(X, reset=False)))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the encoded columns; numbers where it has no names."""
        try:
            return np.asarray(self.transformer.get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError, NotImplementedError):
            return np.asarray([f"encoded {k}" for k in range(self._width)], dtype=object)

    def describe(self) -> str:
        """Return a sentence on what it is."""
        columns = "column" if self._width == 1 else "columns"
        return f"{type(self.transformer).__name__}; {self._width} {columns} once encoded"

    def _taken(self, X: Any, reset: bool) -> Any:
        X = check_columns(X, owner=self, reset=reset)
        if reset:
            self._library = common_library(X)
        return in_library(X, self._library)

    def _measured(self, X: Any) -> AnyTransformer:
        few = rows_between(X, 0, FEW_ROWS)
        self._width = int(_as_array(self.transformer.transform(self._taken(few, False))).shape[1])
        return self

    def _numbers(self, found: Any) -> Any:
        """Return what the transformer made as finite numbers."""
        rows = _as_array(found)
        if is_foreign(rows):
            return rows
        try:
            rows = rows if rows.dtype.kind == "f" else rows.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self._name(None)} leaves values that are no numbers ({error}); encode these "
                "columns, too, for example with OneHotEncoder."
            ) from error
        finite = np.isfinite(rows.data if is_sparse(rows) else rows)
        if not finite.all():
            places = rows.indices[~finite] if is_sparse(rows) else np.flatnonzero(~finite.all(0))
            raise ValueError(
                f"{self._name(int(places[0]))} holds missing or infinite values; fill them in the "
                "transformer, for example with SimpleImputer."
            )
        return rows

    def _name(self, place: int | None) -> str:
        name = f"encoder={type(self.transformer).__name__}(...)"
        return name if place is None else f"{name}: column {self.get_feature_names_out()[place]!r}"


def new_encoder(given: Any) -> Any:
    """Return an encoder that is not fitted: that of the front door, or the one that was given.

    Examples
    --------
    >>> new_encoder(None)
    TableEncoder()
    """
    if given is None or isinstance(given, TableEncoder):
        return TableEncoder() if given is None else clone(given)
    return AnyTransformer(clone(given))


def as_given(encoder: Any) -> Any:
    """Return a fitted encoder as users know it.

    Examples
    --------
    >>> as_given(new_encoder(TableEncoder(limit=5.0)))
    TableEncoder(limit=5.0)
    """
    return encoder.transformer if isinstance(encoder, AnyTransformer) else encoder


def _as_array(found: Any) -> Any:
    """Return the output of a transformer as an array or CSR."""
    if is_frame(found):
        return np.column_stack([column(found, k) for k in range(len(column_names(found)))])
    if is_sparse(found):
        return canonical_rows(found.tocsr())
    found = found if is_foreign(found) else np.asarray(found)
    if found.ndim != 2:
        raise ValueError(
            f"The encoder must make rows of numbers, but its output has shape {found.shape}."
        )
    return found


def _refuse_targets(transformer: Any) -> None:
    """Say that a transformer that learns from targets belongs before the front door."""
    parts = [transformer, *transformer.get_params(deep=True).values()]
    for part in parts:
        known = hasattr(part, "__sklearn_tags__") and hasattr(part, "transform")
        if known and get_tags(part).target_tags.required:
            name = type(part).__name__
            raise ValueError(
                f"encoder: {name} learns from the targets, and held-out errors would not be errors "
                f"of new rows; put it before the front door, with make_pipeline({name}(), "
                "KernelRegressor()), which fits it on other rows than it encodes."
            )
