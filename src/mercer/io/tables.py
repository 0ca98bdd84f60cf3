"""Tables on disk as streams of blocks: Parquet, Arrow and CSV files, and folders of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._frame import column as column_of
from .._frame import series
from .._optional import require
from .._words import did_you_mean

#: Rows in a block, by default.
BLOCK_ROWS = 65_536
#: What pyarrow calls the files with these endings.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
}


class TableStream:
    """The rows of a table on disk, as blocks ``(X, y)`` that a machine can learn from.

    The table is read block by block, always in the same order; it may be iterated as often as
    one likes. Its blocks are arrays, for which columns must hold numbers or truth values
    without missing entries; :class:`KernelRegressor` and :class:`KernelClassifier` ask for the
    columns as they are (:meth:`tables`), where categories, dates and missing entries are
    welcome. The target may hold labels of any kind.

    Parameters
    ----------
    path : str or Path
        A Parquet, Arrow (Feather) or CSV file, or a folder of such files of one kind.
    target : str, list of str or None
        The column, or columns, to predict; ``None`` for rows without targets.
    columns : list of str, default=None
        The columns to predict from; ``None`` means all others.
    block_rows : int, default=65536
        The most rows in a block.
    dtype : {"float32", "float64"}, default="float32"
        What the columns become; targets keep their own type.
    texts : list of str, default=()
        Columns of a CSV file that hold texts, even if they look like numbers.

    Attributes
    ----------
    columns : list of str
        The columns of ``X``, in order.
    n_rows : int
        Rows of the table.

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
    """

    def __init__(
        self,
        path: str | Path,
        target: str | Sequence[str] | None,
        *,
        columns: Sequence[str] | None = None,
        block_rows: int = BLOCK_ROWS,
        dtype: str = "float32",
        texts: Sequence[str] = (),
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', but {dtype!r} came.")
        if isinstance(block_rows, bool) or not isinstance(block_rows, int) or block_rows < 1:
            raise ValueError(f"block_rows must be a positive integer, but {block_rows!r} came.")
        self.path = Path(path)
        self.block_rows = block_rows
        self.dtype = dtype
        self._single = isinstance(target, str)
        self.target = [target] if isinstance(target, str) else list(target or ())
        self._dataset = _open(self.path, self.target, texts)
        names = list(self._dataset.schema.names)
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
        if not self.columns:
            raise ValueError(f"No column of {self.path} is left to predict from.")

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self._dataset.count_rows())

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield blocks of rows as numbers, and their targets, in the order of the table."""
        self._assert_numbers()
        for batch, seen in self._batches():
            X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
            for j, name in enumerate(self.columns):
                X[:, j] = self._column(batch, name, seen)
            yield X, self._targets(batch, seen)

    def tables(self) -> Tables:
        """Return the blocks with their columns as they are: categories and gaps included.

        :class:`KernelRegressor` and :class:`KernelClassifier` ask for them.
        """
        return Tables(self)

    def _batches(self) -> Iterator[tuple[Any, int]]:
        """Yield record batches, and how many rows came before each."""
        seen = 0
        batches = self._dataset.to_batches(
            columns=[*self.columns, *self.target],
            batch_size=self.block_rows,
            # Nothing is read ahead: learning from a block takes far longer than reading it, and
            # what waits in memory would depend on the table.
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
        )
        invalid = require("pyarrow", "tables", "Reading tables").ArrowInvalid
        while True:
            try:
                batch = next(batches, None)
            except invalid as error:
                raise ValueError(
                    f"{self.path} cannot be read after row {seen}: {error}; the types of columns "
                    "are those of the first rows: convert the table to Parquet."
                ) from error
            if batch is None:
                return
            if batch.num_rows:
                yield batch, seen
                seen += batch.num_rows

    def _targets(self, batch: Any, seen: int) -> np.ndarray:
        """Return the targets of a batch, which keep their own precision and kind."""
        targets = [series(self._present(batch, name, seen)) for name in self.target]
        if self._single:
            return targets[0]
        return np.stack(targets, axis=1) if targets else np.empty((batch.num_rows, 0))

    def _column(self, batch: Any, name: str, seen: int) -> np.ndarray:
        """Return one column of a batch, which must have no missing values, as numbers."""
        self._present(batch, name, seen)
        return column_of(batch, batch.schema.get_field_index(name))

    def _present(self, batch: Any, name: str, seen: int) -> Any:
        """Return one column of a batch as it is, which must have no missing values."""
        column = batch.column(name)
        if column.null_count:
            row = seen + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(
                f"Column {name!r} of {self.path} has a missing value in row {row} (counted "
                "from 0); fill or drop it (KernelRegressor and KernelClassifier fill columns, "
                "but not targets)."
            )
        return column

    def _assert_numbers(self) -> None:
        pyarrow = require("pyarrow", "tables", "Reading tables")
        types = pyarrow.types
        for name in self.columns:
            kind = self._dataset.schema.field(name).type
            numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
            if not numeric:
                raise ValueError(
                    f"Column {name!r} of {self.path} has type {kind}, not numbers; leave it out "
                    "with columns=[...], or use KernelRegressor or KernelClassifier."
                )

    def __repr__(self) -> str:
        return f"TableStream({str(self.path)!r}, target={self.target!r}, columns={self.columns!r})"


class Tables:
    """The blocks of a table as record batches with their targets; iterable many times."""

    def __init__(self, stream: TableStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield record batches of the columns, and their targets."""
        for batch, seen in self._stream._batches():
            yield batch.select(self._stream.columns), self._stream._targets(batch, seen)


def _open(path: Path, targets: list[str], texts: Sequence[str]) -> Any:
    """Return the pyarrow dataset of a file or folder."""
    dataset = require("pyarrow.dataset", "tables", "Reading tables")
    if not path.exists():
        hint = did_you_mean(path.name, _siblings(path), "check its name.")
        raise FileNotFoundError(f"There is no file or folder {path}; {hint}")
    files = [path]
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file())
        parts = {p: p.relative_to(path).parts for p in inside}
        files = [p for p in inside if not any(part.startswith((".", "_")) for part in parts[p])]
    kinds = {FORMATS.get(p.suffix.lower()) for p in files}
    if len(kinds) != 1 or None in kinds:
        endings = ", ".join(FORMATS)
        found = ", ".join(sorted({p.suffix or p.name for p in files})) or "nothing"
        raise ValueError(
            f"{path} must hold files of one kind among {endings}, but {found} was found."
        )
    kind = kinds.pop()
    pyarrow = require("pyarrow", "tables", "Reading tables")
    # A column may be whole numbers in one file and not in the next.
    form: Any = kind
    if kind == "csv":
        csv = require("pyarrow.csv", "tables", "Reading tables")
        # An empty text is a missing entry, as an empty number is.
        options = csv.ConvertOptions(strings_can_be_null=True)
        form = dataset.CsvFileFormat(convert_options=options)
    schemas = [dataset.dataset(str(p), format=form).schema for p in files]
    schema = pyarrow.unify_schemas(schemas, promote_options="permissive")
    if kind == "csv":
        schema = _widened(schema, targets, texts, pyarrow)
    return dataset.dataset([str(p) for p in files], format=form, schema=schema)


def _widened(schema: Any, targets: list[str], texts: Sequence[str], pyarrow: Any) -> Any:
    """Return a schema for what may come further down a CSV file.

    Whole numbers may become fractions, and columns that are empty at first hold texts.
    """
    fields = []
    for field in schema:
        if field.name in texts or pyarrow.types.is_null(field.type):
            field = pyarrow.field(field.name, pyarrow.string())
        elif pyarrow.types.is_integer(field.type) and field.name not in targets:
            field = pyarrow.field(field.name, pyarrow.float64())
        fields.append(field)
    return pyarrow.schema(fields)


def _siblings(path: Path) -> list[str]:
    return [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []


def _assert_column(name: str, names: list[str], argument: str) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"there are {', '.join(map(str, names))}.")
        raise ValueError(f"{argument}: the table has no column {name!r}; {hint}")
