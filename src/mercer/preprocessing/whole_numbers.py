"""Columns of a few whole numbers, with a column of ones and zeros for each value."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._array import as_floating, has_values, like, namespace, to_numpy
from .columns import NUMBER
from .table_summary import TableSummary
from .unseen import report_categories

#: The most values of a column of whole numbers that can count as categories.
MOST_VALUES = 32


def whole_number_columns(summary: TableSummary, most: int) -> dict[int, np.ndarray]:
    """Return the values of columns that hold a few whole numbers and nothing else.

    Parameters
    ----------
    summary : TableSummary
        What was learnt of a table, distributions included.
    most : int
        The most values of a column, 32 at any rate; those of one or two are not returned.

    Examples
    --------
    >>> summary = TableSummary()
    >>> summary.update(np.asarray([[1.0, 0.5], [2.0, 1.0], [5.0, 2.0], [1.0, np.nan]]))
    >>> summary.flush()
    >>> whole_number_columns(summary, 100)
    {0: array([1., 2., 5.])}
    """
    assert summary.quantiles is not None
    found = {}
    for number, (kind, column) in enumerate(
        zip(summary.kinds, summary.quantiles.columns, strict=True)
    ):
        values = column.whole_values(min(most, MOST_VALUES)) if kind == NUMBER else None
        if values is not None:
            found[number] = values
    return found


def value_columns(numbers: Any, values: np.ndarray, unseen: str, label: str) -> Any:
    """Return a column for each value, of ones where the numbers are equal to it and zeros else.

    Parameters
    ----------
    numbers : array of shape (n_rows,)
        Of any library; NaN is missing.
    values : array of shape (n_values,)
        The known values.
    unseen : {"warn", "error", "ignore"}
        What to do with numbers that are not among them.
    label : str
        What to call the column in messages.

    Examples
    --------
    >>> value_columns(np.asarray([3.0, 1.0, np.nan]), np.asarray([1.0, 3.0]), "error", "'size'")
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    xp = namespace(numbers)
    # Whole numbers of float64 can be equal in float32.
    wide = as_floating(numbers, "float64")
    found = wide[:, None] == like(wide, values)[None, :]
    if unseen != "ignore" and has_values(numbers):
        strange = ~xp.any(found, axis=1) & ~xp.isnan(wide)
        if bool(xp.any(strange)):
            others = to_numpy(wide)[to_numpy(strange)].tolist()
            known = [_shown(value) for value in values]
            report_categories(Counter(map(_shown, others)), known, unseen, label)
    return xp.astype(found, numbers.dtype)


def _shown(number: float) -> float | int:
    return int(number) if number == int(number) else number
