"""What an encoder must know of the columns of a table, gathered block by block."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import all_finite, is_sparse
from .._frame import PLAIN
from .._registry import storable
from ..engine.moments import ColumnMoments
from .columns import (
    CATEGORY,
    DATE,
    NUMBER,
    Column,
    is_matrix,
    labels_of,
    plural,
    typed_columns,
)
from .dates import date_parts, parsed_date
from .quantiles import ColumnQuantiles

#: Different categories of a column that are counted at most.
MOST_DISTINCT = 50_000


@storable
class TableSummary:
    """Kinds, moments, distributions and categories of the columns seen so far.

    Parameters
    ----------
    date_parts : bool, default=False
        Gather the moments of months and weekdays too.
    known : sequence of str or None, optional
        What each column has held in earlier blocks, which are not part of the summary.
    with_quantiles : bool, default=True
        Learn the distribution of every column of numbers.

    Attributes
    ----------
    n_rows : int
        Rows seen.
    kinds : list of str
        What every column holds.
    labels : list of str
        What the columns are called in messages.
    moments : ColumnMoments
        Of the numbers, dates and durations; columns of categories have no entries.
    parts : dict of int to ColumnMoments
        Of the months and weekdays of each column of dates, by its number.
    quantiles : ColumnQuantiles or None
        The distributions of the numbers, dates and durations; ``None`` if they are not learnt.
    categories : dict of int to Counter
        How often each category occurs, by the number of its column; ``None`` is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.preprocessing.table_summary import TableSummary
    >>> summary = TableSummary()
    >>> summary.update(pd.DataFrame({"size": [1.0, 3.0], "sold": ["2024-01-01", None]}))
    >>> summary.kinds, summary.moments.count.tolist()
    (['number', 'date'], [2, 1])
    """

    def __init__(
        self,
        date_parts: bool = False,
        known: Sequence[str | None] = (),
        with_quantiles: bool = True,
    ) -> None:
        self.n_rows: int = 0
        self.kinds: list[str] = []
        self.labels: list[str] = []
        self.moments: ColumnMoments = ColumnMoments()
        self.parts: dict[int, ColumnMoments] = {}
        self.quantiles: ColumnQuantiles | None = ColumnQuantiles() if with_quantiles else None
        self.categories: dict[int, Counter[Any]] = {}
        self._date_parts = date_parts
        self._known = list(known)

    def known_kinds(self) -> list[str | None]:
        """Return what each column holds, ``None`` if all its entries have been missing."""
        if not self.kinds:
            return list(self._known)
        return [
            kind if self._has_entries(number) else None for number, kind in enumerate(self.kinds)
        ]

    def following(self) -> TableSummary:
        """Return an empty summary for later blocks, which reads strings as this one does."""
        return TableSummary(self._date_parts, self.known_kinds(), self.quantiles is not None)

    def update(self, X: Any) -> None:
        """Add a block of rows; one that is refused leaves nothing behind."""
        if X.shape[0] == 0:
            return
        block = TableSummary(self._date_parts, with_quantiles=self.quantiles is not None)
        block.n_rows = int(X.shape[0])
        block.labels = labels_of(X)
        if is_matrix(X):
            block._add_matrix(X)
        else:
            block._add_columns(typed_columns(X, self.known_kinds()))
        self.merge(block)

    def merge(self, other: TableSummary) -> None:
        """Add the rows of another summary, which stays as it is."""
        if other.n_rows == 0:
            return
        if self.n_rows == 0:
            known = self._known
            self.__dict__.update(other.copy().__dict__)
            self._known = known
            return
        for number in range(len(self.kinds)):
            self._refuse_other_kind(other, number)
        for number, kind in enumerate(other.kinds):
            self._add_categories(other, number, kind)
        self.moments.merge(other.moments)
        if self.quantiles is not None and other.quantiles is not None:
            self.quantiles.merge(other.quantiles)
        for number, parts in other.parts.items():
            self.parts.setdefault(number, ColumnMoments()).merge(parts)
        self.n_rows += other.n_rows

    def flush(self) -> None:
        """Let go of the blocks that were added, which distributions learn from together."""
        if self.quantiles is not None:
            self.quantiles.flush()

    def copy(self) -> TableSummary:
        """Return a summary that can be added to without a change in this one."""
        other = copy.copy(self)
        other.kinds = list(self.kinds)
        other.moments = self.moments.copy()
        other.quantiles = None if self.quantiles is None else self.quantiles.copy()
        other.parts = {number: parts.copy() for number, parts in self.parts.items()}
        other.categories = {number: counts.copy() for number, counts in self.categories.items()}
        return other

    def _has_entries(self, number: int) -> bool:
        """Return whether a column has held anything but missing entries."""
        if self.kinds[number] == CATEGORY:
            return any(category is not None for category in self.categories[number])
        return bool(self.moments.count[number] > 0)

    def _refuse_other_kind(self, other: TableSummary, number: int) -> None:
        old, new = self.kinds[number], other.kinds[number]
        if old == new or not (self._has_entries(number) and other._has_entries(number)):
            return
        way_out = "give it one type in all blocks"
        if old == DATE and new == CATEGORY:
            wrong = [c for c in other.categories[number] if c is not None and not parsed_date(c)]
            way_out = (
                f"{wrong[0]!r} is not a date of ISO 8601: make such entries missing, or make the "
                "column categorical in all blocks, for example with astype('category')"
            )
        raise ValueError(
            f"Column {self.labels[number]} held {plural(old)} in earlier blocks and holds "
            f"{plural(new)} now; {way_out}."
        )

    def _add_categories(self, other: TableSummary, number: int, kind: str) -> None:
        """Add the categories of a column; one that was empty takes the kind of the other."""
        old = self.kinds[number]
        if old != kind and not self._has_entries(number) and other._has_entries(number):
            self.kinds[number] = kind
        if self.kinds[number] != CATEGORY:
            self.categories.pop(number, None)
            return
        counts = self.categories.get(number, Counter({None: self.n_rows}))
        counts.update(other.categories.get(number, Counter({None: other.n_rows})))
        if len(counts) > MOST_DISTINCT:
            # Names and ids, which no model learns from: the most common ones will do.
            counts = Counter(dict(counts.most_common(MOST_DISTINCT // 2)))
        self.categories[number] = counts

    def _add_matrix(self, X: Any) -> None:
        if is_sparse(X) and not all_finite(X):
            raise ValueError(
                "Sparse X contains NaN or infinity; missing values need a dense array or a frame."
            )
        self.kinds = [NUMBER] * X.shape[1]
        self._add_moments(X)

    def _add_columns(self, typed: list[Column]) -> None:
        self.kinds = [kind for kind, _ in typed]
        numbers = np.full((self.n_rows, len(typed)), np.nan, order="F")
        for number, (kind, values) in enumerate(typed):
            if kind == CATEGORY:
                self.categories[number] = _counted(values, self.labels[number])
                continue
            numbers[:, number] = values
            if kind == DATE and self._date_parts:
                self.parts[number] = ColumnMoments.of(date_parts(values))
        self._add_moments(numbers)

    def _add_moments(self, X: Any) -> None:
        self.moments.add(X)
        wrong = (self.moments.high == np.inf) | (self.moments.low == -np.inf)
        wrong &= self.moments.count > 0
        if wrong.any():
            raise ValueError(
                f"X contains infinity in column {self.labels[int(np.argmax(wrong))]}; make such "
                "entries NaN (missing) or drop their rows."
            )
        if self.quantiles is not None:
            self.quantiles.add(X)


def _counted(values: np.ndarray, label: str) -> Counter[Any]:
    """Return how often each category occurs."""
    try:
        counts = Counter(values.tolist())
        strange = [c for c in counts if c is not None and not isinstance(c, PLAIN)]
    except TypeError:
        # Lists and the like cannot even be counted.
        strange = [c for c in values if c is not None]
    if not strange:
        return counts
    raise ValueError(
        f"Column {label} holds values such as {strange[0]!r} that are neither numbers nor "
        "categories; convert them to strings, or drop the column."
    )
