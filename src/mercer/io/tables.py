"""Tables as streams of blocks: files on disk, lazy frames, relations and datasets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._frame import column as column_of
from .._frame import series
from .._optional import require
from .._words import did_you_mean, listed
from .csv_options import CsvOptions
from .queries import Query, query_of
from .table_files import TableFiles

#: Rows in a block, by default.
BLOCK_ROWS = 65_536


class TableStream:
    """The rows of a table, as blocks ``(X, y)`` that a machine can learn from.

    The table is on disk, or a query of polars or DuckDB, or a Hugging Face dataset. It is read
    block by block, as often as needed, always in the same order; a query is run again each time,
    and should be sorted if its order is not certain.

    Its blocks are arrays, for which columns must hold numbers or booleans without missing values;
    :class:`KernelRegressor` and :class:`KernelClassifier` ask for the columns as they are
    (:meth:`tables`), where categories, dates and missing values are allowed. The target may hold
    labels of any kind.

    Parameters
    ----------
    table : str, Path, polars LazyFrame, DuckDB relation, or Hugging Face dataset
        A path is one of a Parquet, Arrow (Feather) or CSV file, or of a folder of such files of one
        kind. CSV files end in ``.csv`` or ``.tsv`` (tabs), and may be compressed: ``.csv.gz``,
        ``.tsv.bz2``.
    target : str, list of str or None
        The column, or columns, to predict; ``None`` for rows without targets. Whole numbers in a
        CSV file stay integers, unless there are fractions further down: to know, integer targets
        of CSV files are looked through once before the first block.
    columns : list of str, default=None
        The columns to predict from; ``None`` means all others.
    block_rows : int, default=65536
        The most rows in a block.
    dtype : {"float32", "float64"}, default="float32"
        What the columns become; targets keep their own type.
    strings : list of str, default=()
        Columns of a CSV file that hold strings, even if they look like numbers.
    sep : str, default=None
        What separates the fields of a CSV file; ``None`` means a tab in ``.tsv`` files, else a
        comma.
    decimal : {".", ","}, default="."
        The decimal point of numbers in a CSV file.
    encoding : str, default="utf-8"
        The encoding of a CSV file, such as ``"latin-1"`` or ``"utf-16"``.
    na_values : list of str, default=()
        What stands for a missing value in a CSV file, beside the empty string, ``NA``, ``NaN``,
        ``null`` and the like.

    Attributes
    ----------
    path : Path or None
        Where the table is on disk.
    columns : list of str
        The columns of ``X``, in order.
    target : list of str
        The columns of ``y``.
    n_rows : int or None
        Rows of the table; ``None`` for a dataset of which only reading all of it would tell.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas
    >>> from mercer import FeatureRidge
    >>> from mercer.io import TableStream
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "part.csv").write_text("a,b,y\\n1,0,2\\n0,1,3\\n1,1,5\\n2,1,7\\n")
    >>> table = TableStream(folder, target="y")
    >>> table.columns, table.n_rows
    (['a', 'b'], 4)
    >>> new = pandas.DataFrame({"a": [3.0], "b": [1.0]})
    >>> FeatureRidge(alpha=1e-6).fit(table).predict(new).round(2)
    array([9.])

    A table as spreadsheets write it where numbers have decimal commas:

    >>> _ = (folder / "part.csv").write_text("a;y\\n1,5;2\\n2,5;3\\n")
    >>> X, y = next(iter(TableStream(folder, target="y", sep=";", decimal=",")))
    >>> X.ravel(), y
    (array([1.5, 2.5], dtype=float32), array([2, 3]))

    A query of polars:

    >>> import polars
    >>> frame = polars.LazyFrame({"a": [1.0, 2.0, 3.0], "y": [1, 3, 4]})
    >>> X, y = next(iter(TableStream(frame.filter(polars.col("y") > 1), target="y")))
    >>> X.ravel(), y
    (array([2., 3.], dtype=float32), array([3, 4]))
    """

    columns: list[Any]

    def __init__(
        self,
        table: Any,
        target: str | Sequence[str] | None,
        *,
        columns: Sequence[str] | None = None,
        block_rows: int = BLOCK_ROWS,
        dtype: str = "float32",
        strings: Sequence[str] = (),
        sep: str | None = None,
        decimal: str = ".",
        encoding: str = "utf-8",
        na_values: Sequence[str] = (),
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', but got {dtype!r}.")
        if isinstance(block_rows, bool) or not isinstance(block_rows, int) or block_rows < 1:
            raise ValueError(f"block_rows must be a positive integer, but got {block_rows!r}.")
        self.path: Path | None = Path(table) if isinstance(table, (str, PathLike)) else None
        self.block_rows = block_rows
        self.dtype = dtype
        self.target: list[str] = [target] if isinstance(target, str) else list(target or ())
        options = CsvOptions(sep, decimal, encoding, na_values)
        if self.path is not None:
            self._source: TableFiles | Query = TableFiles(self.path, options, strings, self.target)
        else:
            self._source = query_of(table)
            options.refuse_for(f"this is {self._source.name}")
        names = list(self._source.schema.names)
        for name in self.target:
            _assert_column(name, names, "target")
        if columns is None:
            self.columns = [name for name in names if name not in self.target]
        else:
            self.columns = list(columns)
            for name in self.columns:
                _assert_column(name, names, "columns")
                if name in self.target:
                    raise ValueError(f"columns: {name!r} is the target; leave it out.")
        self._refuse_lists()
        if not self.columns:
            raise ValueError(f"No column of {self._source.name} is left to predict from.")
        single = isinstance(target, str)
        self._rows = Rows(self._source, self.columns, self.target, single, block_rows)

    @property
    def n_rows(self) -> int | None:
        """Rows of the table."""
        return self._source.n_rows

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield blocks of rows as numbers, and their targets, in the order of the table."""
        self._assert_numbers()
        for batch, seen in self._rows.batches([*self.columns, *self.target]):
            X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
            for j, name in enumerate(self.columns):
                self._rows.present(batch, name, seen)
                X[:, j] = column_of(batch, batch.schema.get_field_index(name))
            yield X, self._rows.targets_of(batch, seen)

    def tables(self) -> Tables:
        """Return the blocks with their columns as they are, as an iterable of record batches.

        Categories, dates and missing values are left as they are. :class:`KernelRegressor` and
        :class:`KernelClassifier` ask for them.
        """
        return Tables(self._rows)

    def targets(self) -> Iterator[np.ndarray]:
        """Yield the targets alone, block by block; no other column is converted."""
        for batch, seen in self._rows.batches(self.target):
            yield self._rows.targets_of(batch, seen)

    def _refuse_lists(self) -> None:
        types = require("pyarrow", "tables", "Reading tables").types
        for name in self.columns:
            kind = self._source.schema.field(name).type
            if types.is_nested(kind) and not types.is_dictionary(kind):
                raise ValueError(
                    f"Column {name!r} of {self._source.name} has type {kind}; a column holds one "
                    "value for each row: leave it out with columns=[...], make columns of its "
                    "parts, or give fit blocks (X, y) of your own, with X=numpy.stack(...) of it."
                )

    def _assert_numbers(self) -> None:
        types = require("pyarrow", "tables", "Reading tables").types
        for name in self.columns:
            kind = self._source.schema.field(name).type
            tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
            if not any(test(kind) for test in tests):
                raise ValueError(
                    f"Column {name!r} of {self._source.name} has type {kind}, not numbers; leave "
                    "it out with columns=[...], or use KernelRegressor or KernelClassifier."
                )

    def __repr__(self) -> str:
        table = self._source.name if self.path is None else repr(str(self.path))
        return f"TableStream({table}, target={self.target!r}, columns={self.columns!r})"


class Tables:
    """The blocks of a table as record batches with their targets; iterable many times."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield record batches of the columns, and their targets."""
        rows = self._rows
        for batch, seen in rows.batches([*rows.columns, *rows.target]):
            yield batch.select(rows.columns), rows.targets_of(batch, seen)


@dataclass(frozen=True)
class Rows:
    """The rows of a table as they are read: batches with the number of rows before each."""

    source: TableFiles | Query
    columns: list[str]
    target: list[str]
    #: Whether the targets have one dimension.
    single: bool
    block_rows: int

    def batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        """Yield record batches of some columns, and the number of rows before each."""
        seen = 0
        for batch in self.source.batches(names, self.block_rows):
            yield batch, seen
            seen += batch.num_rows

    def targets_of(self, batch: Any, seen: int) -> np.ndarray:
        """Return the targets of a batch, which keep their own precision and kind."""
        targets = [series(self.present(batch, name, seen)) for name in self.target]
        if self.single:
            return targets[0]
        return np.stack(targets, axis=1) if targets else np.empty((batch.num_rows, 0))

    def present(self, batch: Any, name: str, seen: int) -> Any:
        """Return one column of a batch, which must have no missing values."""
        column = batch.column(name)
        if column.null_count:
            row = seen + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(
                f"Column {name!r} of {self.source.name} has a missing value in row {row} (counted "
                "from 0); fill or drop it (KernelRegressor and KernelClassifier fill columns, "
                "but not targets)."
            )
        return column


def _assert_column(name: str, names: list[str], argument: str) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"there are {listed(names)}.")
        raise ValueError(f"{argument}: the table has no column {name!r}; {hint}")
