"""What an encoder must know of the columns of a table, gathered block by block."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._array import as_floating, is_foreign, is_sparse, namespace, to_numpy
from .._frame import PLAIN, column, column_names, is_frame, object_column

#: Kinds of columns.
NUMBER, DATE, CATEGORY = "number", "date", "category"
#: Different categories of a column that are counted at most.
MOST_DISTINCT = 50_000
_DAY = np.timedelta64(1, "D")


def is_matrix(X: Any) -> bool:
    """Return whether ``X`` holds numbers only, all of one type."""
    if is_frame(X):
        return False
    return is_foreign(X) or is_sparse(X) or X.dtype.kind in "biuf"


def typed_columns(X: Any) -> list[tuple[str, np.ndarray]]:
    """Return the kind and the values of every column of a table that is not a matrix.

    Dates become days since 1970.
    """
    frame = is_frame(X)
    typed = []
    for number in range(X.shape[1]):
        values = column(X, number) if frame else object_column(X[:, number])
        kind = values.dtype.kind
        if kind in "Mm":
            days = np.where(np.isnat(values), np.nan, _days(values))
            typed.append((DATE, days))
        elif kind in "biuf":
            typed.append((NUMBER, values))
        else:
            typed.append((CATEGORY, values))
    return typed


def as_matrix(X: Any) -> Any:
    """Return a table of numbers alone as a matrix."""
    if is_matrix(X):
        return X
    return np.column_stack([np.asarray(values, dtype=float) for _, values in typed_columns(X)])


def label_of(X: Any, number: int) -> str:
    """Return what to call a column in a message."""
    return repr(column_names(X)[number]) if is_frame(X) else str(number)


class TableSummary:
    """Counts, means, spreads and categories of the columns seen so far.

    Attributes
    ----------
    n_rows : int
        Rows seen.
    kinds : list of str
        What every column holds.
    count, mean, squares : arrays of shape (n_columns,)
        Of the numbers that are not missing: how many, their mean, and the sum of their
        squared deviations from it.
    low, high : arrays of shape (n_columns,)
        The smallest and the largest.
    categories : dict of int to Counter
        How often each category occurs, by the number of its column; ``None`` is missing.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self.kinds: list[str] = []
        self.categories: dict[int, Counter] = {}
        self.count = self.mean = self.squares = self.low = self.high = np.empty(0)

    def update(self, X: Any) -> None:
        """Add a block of rows."""
        if X.shape[0] == 0:
            return
        fresh = TableSummary()
        fresh.n_rows = int(X.shape[0])
        if is_matrix(X):
            fresh.kinds = [NUMBER] * X.shape[1]
            fresh._moments_of_matrix(X)
        else:
            typed = typed_columns(X)
            fresh.kinds = [kind for kind, _ in typed]
            fresh._moments_of_columns(X, typed)
        self.merge(fresh, X)

    def merge(self, other: TableSummary, X: Any) -> None:
        """Add the rows of another summary; ``X`` has the names of its columns."""
        if self.n_rows == 0:
            self.__dict__.update(other.__dict__)
            return
        for number, (old, new) in enumerate(zip(self.kinds, other.kinds, strict=True)):
            empty = not other.count[number] and not other.categories.get(number)
            if old == CATEGORY and old != new and empty:
                other.categories[number] = Counter({None: other.n_rows})
            elif old != new and not empty:
                if self.count[number] == 0 and not self.categories.get(number):
                    self._empty_until_now(number, new)
                    continue
                raise ValueError(
                    f"Column {label_of(X, number)} held {_plural(old)} in earlier blocks and "
                    f"holds {_plural(new)} now; give it one type in all blocks."
                )
        total = self.count + other.count
        safe = np.maximum(total, 1)
        shift = np.where(self.count > 0, other.mean - self.mean, 0.0)
        shift = np.where(other.count > 0, shift, 0.0)
        start = np.where(self.count > 0, self.mean, other.mean)
        self.mean = start + shift * other.count / safe
        self.squares = self.squares + other.squares + shift**2 * self.count * other.count / safe
        self.low = np.fmin(self.low, other.low)
        self.high = np.fmax(self.high, other.high)
        self.count = total
        self.n_rows += other.n_rows
        for number, counts in other.categories.items():
            total_counts = self.categories.setdefault(number, Counter())
            total_counts.update(counts)
            if len(total_counts) > MOST_DISTINCT:
                # Names and numbers of things, which no model learns from: the commonest do.
                self.categories[number] = Counter(
                    dict(total_counts.most_common(MOST_DISTINCT // 2))
                )

    def _empty_until_now(self, number: int, kind: str) -> None:
        """Take over the kind of a column that held nothing but missing entries before."""
        self.kinds[number] = kind
        if kind == CATEGORY:
            self.categories[number] = Counter({None: self.n_rows})
        else:
            self.categories.pop(number, None)

    def _moments_of_matrix(self, X: Any) -> None:
        if is_sparse(X):
            self._moments_of_sparse(X)
            return
        xp = namespace(X)
        values = as_floating(X, "float64")
        missing = xp.isnan(values)
        present = xp.where(missing, xp.asarray(0.0, dtype=xp.float64), values)
        count = xp.sum(xp.astype(~missing, xp.float64), axis=0)
        mean = xp.sum(present, axis=0) / xp.where(count > 0, count, xp.ones_like(count))
        if not bool(xp.all(xp.isfinite(mean))):
            self._refuse_infinity(X, to_numpy(present))
        deviation = xp.where(missing, xp.zeros_like(values), values - mean)
        low = xp.min(xp.where(missing, xp.full_like(values, np.inf), values), axis=0)
        high = xp.max(xp.where(missing, xp.full_like(values, -np.inf), values), axis=0)
        self.count, self.mean, self.low, self.high = map(to_numpy, (count, mean, low, high))
        self.squares = to_numpy(xp.sum(deviation * deviation, axis=0))

    def _moments_of_sparse(self, X: Any) -> None:
        if not np.isfinite(X.data).all():
            raise ValueError(
                "Sparse X contains NaN or infinity; missing entries need a dense array or a frame."
            )
        n = X.shape[0]
        data = X.astype(float)
        self.count = np.full(X.shape[1], float(n))
        self.mean = np.asarray(data.sum(axis=0)).ravel() / n
        squares = np.asarray(data.multiply(data).sum(axis=0)).ravel()
        self.squares = np.maximum(squares - n * self.mean**2, 0.0)
        self.low, self.high = (np.asarray(f(axis=0).todense()).ravel() for f in (X.min, X.max))

    def _moments_of_columns(self, X: Any, typed: list[tuple[str, np.ndarray]]) -> None:
        size = len(typed)
        self.count, self.mean, self.squares = (np.zeros(size) for _ in range(3))
        self.low, self.high = np.full(size, np.inf), np.full(size, -np.inf)
        for number, (kind, values) in enumerate(typed):
            if kind == CATEGORY:
                self.categories[number] = _counted(values, label_of(X, number))
                continue
            present = np.asarray(values, dtype=float)
            present = present[~np.isnan(present)]
            if not present.size:
                continue
            if not np.isfinite(present).all():
                self._refuse_infinity(X, present, number)
            self.count[number] = present.size
            self.mean[number] = present.mean()
            self.squares[number] = ((present - present.mean()) ** 2).sum()
            self.low[number], self.high[number] = present.min(), present.max()

    def _refuse_infinity(self, X: Any, values: np.ndarray, number: int | None = None) -> None:
        if number is None:
            wrong = np.argwhere(~np.isfinite(values))
            number = int(wrong[0, 1]) if len(wrong) else 0
        raise ValueError(
            f"X contains infinity, or a value too large for float64, in column "
            f"{label_of(X, number)}; make such entries NaN (missing) or drop their rows."
        )


def _counted(values: np.ndarray, label: str) -> Counter:
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
        "categories; convert them to texts, or leave the column out."
    )


def _days(values: np.ndarray) -> np.ndarray:
    span = values - np.datetime64(0, "D") if values.dtype.kind == "M" else values
    return np.asarray(span / _DAY)


def _plural(kind: str) -> str:
    return "categories" if kind == CATEGORY else f"{kind}s"
