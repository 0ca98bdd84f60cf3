"""What the columns of a table hold: numbers, dates, durations or categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._array import is_foreign, is_sparse
from .._frame import column, column_names, is_categorical, is_frame, object_column
from .dates import days, parsed_dates

#: Kinds of columns.
NUMBER, DATE, DURATION, CATEGORY = "number", "date", "duration", "category"


class Column(NamedTuple):
    """The kind of a column and its values; dates and durations are days."""

    kind: str
    values: np.ndarray


def is_matrix(X: Any) -> bool:
    """Return whether ``X`` holds numbers only, all of one type."""
    if is_frame(X):
        return False
    return is_foreign(X) or is_sparse(X) or X.dtype.kind in "biuf"


def typed_columns(X: Any, known: Sequence[str | None] = ()) -> list[Column]:
    """Return the columns of a table that is not a matrix.

    Strings are dates if all of them are (ISO 8601), unless the column is categorical by its type.

    Parameters
    ----------
    X : data frame or array of objects
        The table.
    known : sequence of str or None, optional
        What each column has held before: strings of a column of categories are categories.
    """
    return [
        _typed(X, number, known[number] if len(known) else None) for number in range(X.shape[1])
    ]


def _typed(X: Any, number: int, known: str | None) -> Column:
    frame = is_frame(X)
    values = column(X, number) if frame else object_column(X[:, number])
    kind = values.dtype.kind
    if kind in "Mm":
        return Column(DATE if kind == "M" else DURATION, days(values))
    if kind in "biuf":
        return Column(NUMBER, values)
    if known == DATE or (known is None and not (frame and is_categorical(X, number))):
        dates = parsed_dates(values)
        if dates is not None:
            return Column(DATE, days(dates))
    return Column(CATEGORY, values)


def as_matrix(X: Any) -> Any:
    """Return a table of numbers alone as a matrix."""
    if is_matrix(X):
        return X
    return np.column_stack([np.asarray(values, dtype=float) for _, values in typed_columns(X)])


def labels_of(X: Any) -> list[str]:
    """Return what to call the columns in messages: their names or numbers."""
    return [repr(name) for name in column_names(X)] if is_frame(X) else _numbered(X.shape[1])


def _numbered(n_columns: int) -> list[str]:
    return [str(number) for number in range(n_columns)]


def plural(kind: str) -> str:
    """Return a kind of columns in the plural."""
    return "categories" if kind == CATEGORY else f"{kind}s"
