"""How the columns of a table are encoded, once they are learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._array import (
    all_finite,
    as_floating,
    floating_name,
    has_values,
    is_sparse,
    like,
    namespace,
    to_numpy,
)
from .._frame import is_missing
from .._registry import storable
from .categories import category_codes, shown_categories
from .columns import CATEGORY, DATE, NUMBER, Column, is_matrix, labels_of, plural, typed_columns
from .dates import PARTS, date_parts, parsed_date
from .scaling import Scaling, scaling_of
from .table_summary import TableSummary
from .unseen import report_gaps
from .whole_numbers import value_columns, whole_number_columns

#: The type of results if it holds every column of numbers exactly.
NARROW = "float32"


@storable
@dataclass(frozen=True)
class Encoding:
    """What the columns of a table become: numbers, flags of missing entries, categories.

    Attributes
    ----------
    kinds : list of str
        What each column of the table holds.
    scaling : Scaling
        Of the columns of numbers and, after them, the parts of dates.
    parts : list of (int, int)
        The column of dates and the number of its part, for all parts of dates.
    gaps : array of int
        The columns with a flag for missing entries.
    categories : dict of int to list
        The categories that get a column of their own, by the number of the table's column.
    shared : list of int
        The columns whose other categories share one.
    whole : dict of int to array
        The values that get a column of their own, by the number of a column of whole numbers.
    constant : float or None
        The value of a last column.
    """

    kinds: list[str]
    scaling: Scaling
    parts: list[tuple[int, int]]
    gaps: np.ndarray
    categories: dict[int, list[Any]]
    shared: list[int]
    whole: dict[int, np.ndarray]
    constant: float | None

    @classmethod
    def from_summary(
        cls,
        summary: TableSummary,
        *,
        scaling: str,
        limit: float | None,
        constant: float | None,
        max_categories: int,
        whole_numbers: str,
        centered: bool,
    ) -> Encoding:
        """Return the encoding of what a summary has seen."""
        if summary.quantiles is None:
            _refuse_csr(scaling, whole_numbers)
        quantiles = [] if summary.quantiles is None else summary.quantiles.columns
        as_categories = whole_numbers == "categories"
        whole = whole_number_columns(summary, max_categories) if as_categories else {}
        dated = sorted(summary.parts)
        moments = summary.moments.beside(*(summary.parts[j] for j in dated))
        count = summary.moments.count
        categories, shared = {}, []
        for j, counts in sorted(summary.categories.items()):
            if len(counts) > 1:
                categories[j], rest = shown_categories(counts, max_categories)
                shared += [j] * rest
        return cls(
            kinds=list(summary.kinds),
            scaling=scaling_of(moments, scaling, limit, centered, quantiles, list(whole)),
            parts=[(j, part) for j in dated for part in range(len(PARTS))],
            gaps=np.flatnonzero((count > 0) & (count < summary.n_rows)),
            categories=categories,
            shared=shared,
            whole=whole,
            constant=constant,
        )

    @property
    def width(self) -> int:
        """The number of columns of the result."""
        return len(self.names([""] * len(self.kinds)))

    def names(self, named: list[str]) -> list[str]:
        """Return the names of the columns of the result, from those of the table."""
        numeric = named + [named[j] + PARTS[part] for j, part in self.parts]
        names = [numeric[j] for j in self.scaling.columns]
        names += [f"{named[j]} is missing" for j in self.gaps]
        for j, shown in self.categories.items():
            names += [f"{named[j]}={'missing' if c is None else c}" for c in shown]
            names += [f"{named[j]}=other"] * (j in self.shared)
        for j, values in self.whole.items():
            names += [f"{named[j]}={int(value)}" for value in values]
        return names + ["constant"] * (self.constant is not None)

    def encode(self, X: Any, unseen: str) -> Any:
        """Return the rows of a checked table as numbers.

        Parameters
        ----------
        X : data frame, matrix of any library, CSR or array of objects
            The table.
        unseen : {"warn", "error", "ignore"}
            What to do with categories that are not known, and with missing entries in columns
            that had none.
        """
        if not is_matrix(X):
            return self._columns(X, unseen)
        if set(self.kinds) != {NUMBER}:
            return self._columns(to_numpy(X).astype(object), unseen)
        if is_sparse(X) and not self.scaling.centered:
            return self._csr(X, unseen)
        return self._matrix(X.toarray() if is_sparse(X) else X, unseen)

    def _matrix(self, X: Any, unseen: str) -> Any:
        xp = namespace(X)
        X = as_floating(X, floating_name(X))
        kept = _taken(X, self.scaling.columns)
        labels = labels_of(X)
        self._refuse_infinity(kept, labels)
        missing = _missing(kept)
        self._tell_of_gaps(_counts(missing), labels, unseen)
        rows = self.scaling.clipped(self.scaling.standardized(kept, missing))
        self._refuse_overflow(rows, labels)
        if len(self.gaps):
            gaps = xp.isnan(_taken(X, self.gaps))
            rows = xp.concat([rows, xp.astype(gaps, rows.dtype)], axis=1)
        for j, values in self.whole.items():
            self._refuse_infinity(X[:, j : j + 1], labels, [j])
            self._tell_of_gaps(_counts(_missing(X[:, j : j + 1])), labels, unseen, j)
            rows = xp.concat([rows, value_columns(X[:, j], values, unseen, labels[j])], axis=1)
        if self.constant is not None:
            last = xp.full((rows.shape[0], 1), self.constant, dtype=rows.dtype, device=rows.device)
            rows = xp.concat([rows, last], axis=1)
        return rows

    def _csr(self, X: Any, unseen: str) -> Any:
        """Return CSR rows that are not centred; a missing entry is one that is stored as NaN."""
        kept, labels = X[:, self.scaling.columns].astype(floating_name(X)), labels_of(X)
        self._refuse_infinity(kept, labels)
        missing = np.isnan(kept.data)
        counts = np.bincount(kept.indices[missing], minlength=kept.shape[1])
        self._tell_of_gaps(counts, labels, unseen)
        with np.errstate(over="ignore"):
            kept.data = kept.data / like(kept, self.scaling.scale)[kept.indices]
        kept.data = np.where(missing, like(kept, self.scaling.fill)[kept.indices], kept.data)
        self._refuse_overflow(kept, labels)
        parts = [kept]
        if len(self.gaps):
            gaps = X[:, self.gaps].astype(kept.dtype)
            gaps.data = np.isnan(gaps.data).astype(kept.dtype)
            gaps.eliminate_zeros()
            parts.append(gaps)
        if self.constant is not None:
            last = np.full((X.shape[0], 1), self.constant, dtype=kept.dtype)
            parts.append(scipy.sparse.csr_array(last))
        if len(parts) == 1:
            return kept
        return scipy.sparse.csr_array(scipy.sparse.hstack(parts, format="csr"))

    def _columns(self, X: Any, unseen: str) -> np.ndarray:
        typed, labels = typed_columns(X, self.kinds), labels_of(X)
        narrow = all(floating_name(c.values) == NARROW for c in typed if c.kind != CATEGORY)
        rows = np.zeros((X.shape[0], self.width), dtype=NARROW if narrow else float)
        numbers = self._numbers(typed, labels)
        self._refuse_infinity(numbers, labels)
        at, missing = numbers.shape[1], _missing(numbers)
        self._tell_of_gaps(_counts(missing), labels, unseen)
        with np.errstate(over="ignore"):
            rows[:, :at] = self.scaling.standardized(numbers, missing)
        rows[:, :at] = self.scaling.clipped(rows[:, :at])
        self._refuse_overflow(rows[:, :at], labels)
        for j in self.gaps:
            rows[:, at] = np.isnan(self._as_numbers(typed[j], j, labels[j]))
            at += 1
        for j, shown in self.categories.items():
            shared = j in self.shared
            codes = category_codes(typed[j].values, shown, shared, unseen, labels[j])
            known = np.flatnonzero(codes >= 0)
            rows[known, at + codes[known]] = 1.0
            at += len(shown) + shared
        for j, values in self.whole.items():
            numbers = self._as_numbers(typed[j], j, labels[j])
            self._refuse_infinity(numbers[:, None], labels, [j])
            self._tell_of_gaps(_counts(_missing(numbers[:, None])), labels, unseen, j)
            found = value_columns(numbers, values, unseen, labels[j])
            rows[:, at : at + len(values)] = found
            at += len(values)
        if self.constant is not None:
            rows[:, -1] = self.constant
        return rows

    def _numbers(self, typed: list[Column], labels: list[str]) -> np.ndarray:
        """Return the columns of numbers that are kept, and the parts of dates."""
        numbers = np.empty((len(typed[0].values), len(self.scaling.columns)), order="F")
        parts: dict[int, np.ndarray] = {}
        for place, number in enumerate(self.scaling.columns):
            part = number - len(self.kinds)
            j = number if part < 0 else self.parts[part][0]
            values = self._as_numbers(typed[j], j, labels[j])
            if part >= 0 and j not in parts:
                parts[j] = date_parts(values)
            numbers[:, place] = values if part < 0 else parts[j][:, self.parts[part][1]]
        return numbers

    def _as_numbers(self, given: Column, j: int, label: str) -> np.ndarray:
        """Return a column that held numbers, dates or durations when it was learnt."""
        kind, known = given.kind, self.kinds[j]
        if kind == known:
            return np.asarray(given.values, dtype=float)
        present = [value for value in given.values.tolist() if not is_missing(value)]
        if not present:
            return np.full(len(given.values), np.nan)
        way_out = "convert it first"
        if known == DATE and kind == CATEGORY:
            present = [value for value in present if not parsed_date(value)] or present
            way_out = "write dates as in 2024-05-31 (ISO 8601), or make such entries missing"
        shown = repr(present[0]) if kind == CATEGORY else plural(kind)
        raise ValueError(
            f"Column {label} held {plural(known)} when the model was fitted, but holds {shown} "
            f"now; {way_out}."
        )

    def _label(self, number: int, labels: list[str]) -> str:
        """Return what to call a column of numbers or, after those, a part of dates."""
        inside = number < len(self.kinds)
        return labels[number if inside else self.parts[number - len(self.kinds)][0]]

    def _tell_of_gaps(
        self, counts: np.ndarray, labels: list[str], unseen: str, whole: int | None = None
    ) -> None:
        """Warn of missing entries in columns that had none, or refuse them.

        ``counts`` are those of the columns of the scaling, or of one column of whole numbers.
        """
        if unseen == "ignore" or not counts.any():
            return
        numbers = self.scaling.columns if whole is None else [whole]
        gaps = {
            labels[number]: int(count)
            for number, count in zip(numbers, counts, strict=True)
            if count and number < len(labels) and number not in self.gaps
        }
        if gaps:
            report_gaps(gaps, "its mean" if whole is None else "none of its values", unseen)

    def _refuse_infinity(
        self, kept: Any, labels: list[str], numbers: Sequence[int] | None = None
    ) -> None:
        """Refuse infinity in columns that have these numbers, those of the scaling by default."""
        place = _first_infinite(kept)
        if place is not None:
            number = int((self.scaling.columns if numbers is None else numbers)[place])
            raise ValueError(
                f"X contains infinity in column {self._label(number, labels)}; make such entries "
                "NaN (missing) or drop their rows."
            )

    def _refuse_overflow(self, rows: Any, labels: list[str]) -> None:
        place = _first_infinite(rows) if np.isinf(self.scaling.limits).any() else None
        if place is not None:
            label = self._label(int(self.scaling.columns[place]), labels)
            raise ValueError(
                f"X contains a value in column {label} that is too large to be scaled; make such "
                "entries NaN (missing), or soft-clip them: give a limit."
            )


def _refuse_csr(scaling: str, whole_numbers: str) -> None:
    """Refuse what needs the distributions of columns, which are not learnt from CSR rows."""
    for name, given, wanted, instead in (
        ("scaling", scaling, "ranks", "each"),
        ("whole_numbers", whole_numbers, "categories", "numbers"),
    ):
        if given == wanted:
            raise ValueError(
                f"{name}={wanted!r} needs the distributions of the columns, which an encoder does "
                f"not learn from sparse rows; fit dense ones (X.toarray()), or use "
                f"{name}={instead!r}."
            )


def _missing(numbers: Any) -> Any:
    """Return where numbers are missing, or ``None`` if that is nowhere."""
    xp = namespace(numbers)
    missing = xp.isnan(numbers)
    return None if has_values(numbers) and not bool(xp.any(missing)) else missing


def _counts(missing: Any) -> np.ndarray:
    """Return how many entries of each column are missing, as far as that is known."""
    if missing is None or not has_values(missing):
        return np.zeros(0, dtype=int)
    xp = namespace(missing)
    return np.asarray(to_numpy(xp.sum(xp.astype(missing, xp.int64), axis=0)))


def _first_infinite(rows: Any) -> int | None:
    """Return the first column that holds infinity, or ``None``."""
    if rows.shape[1] == 0 or all_finite(rows):
        return None
    if is_sparse(rows):
        found = rows.indices[np.isinf(rows.data)]
        return int(found.min()) if len(found) else None
    xp = namespace(rows)
    columns = xp.astype(xp.any(xp.isinf(rows), axis=0), xp.int32)
    place = int(xp.argmax(columns))
    return place if int(columns[place]) else None


def _taken(X: Any, columns: np.ndarray) -> Any:
    """Return some columns of a dense matrix of any library."""
    if len(columns) == X.shape[1]:
        return X
    if isinstance(X, np.ndarray):
        return X[:, columns]
    xp = namespace(X)
    return xp.take(X, xp.asarray(columns, device=X.device), axis=1)
