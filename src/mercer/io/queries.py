"""Tables that hold a query or are read from elsewhere: lazy frames, relations, datasets."""

from __future__ import annotations

import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._frame import column, query_library
from .._optional import require
from .._words import AdvisedError


class Query(ABC):
    """A table whose rows are computed or read anew in every pass.

    Parameters
    ----------
    table : lazy frame, relation or dataset
        The table.
    """

    def __init__(self, table: Any) -> None:
        self.table = table
        #: What it is called in errors.
        self.name: str = f"the {type(table).__name__}"
        self._pyarrow = require("pyarrow", "tables", "Reading tables")
        self.schema: Any = self._schema()
        self._n_rows: int | None = None
        #: A number for the targets of each block, by the blocks of the first pass.
        self._seen: dict[int, list[int]] = {}

    @property
    def n_rows(self) -> int | None:
        """Rows of the table, counted once; ``None`` where only reading all of it would tell."""
        if self._n_rows is None:
            self._n_rows = self._count()
        return self._n_rows

    def batches(self, columns: Sequence[str], block_rows: int) -> Iterator[Any]:
        """Yield record batches of some columns, of so many rows each but for the last one.

        Blocks end at the same rows in every pass, wherever the library cuts.
        """
        n_rows = self.n_rows
        read, seen = 0, self._seen.setdefault(block_rows, [])
        tables = self._tables(list(columns) or self.schema.names[:1], block_rows)
        for number, batch in enumerate(evenly(tables, block_rows)):
            read += batch.num_rows
            self._compare(seen, number, batch)
            yield batch
        if n_rows is not None and read != n_rows:
            raise AdvisedError(
                f"{self.name} gave {read:,} rows, but it has {n_rows:,}: it was changed, or its "
                "connection ran another query during the pass; give the stream a connection of "
                "its own, and leave the table as it is"
            )

    def _compare(self, seen: list[int], number: int, batch: Any) -> None:
        """Warn once if a block has other targets than in the first pass."""
        # The last column is a target, if there are targets.
        values = column(batch, batch.num_columns - 1)
        plain = repr(values.tolist()).encode() if values.dtype == object else values.tobytes()
        print_ = zlib.crc32(plain)
        if number == len(seen):
            seen.append(print_)
        elif seen[number] not in (print_, -1):
            seen[number:] = [-1] * (len(seen) - number)
            warnings.warn(
                f"The rows of {self.name} come in another order than in the pass before, from "
                f"block {number} on: a checkpoint could not be resumed, and features of rounded "
                "numbers differ; sort the query by columns that tell rows apart.",
                UserWarning,
                stacklevel=4,
            )

    @abstractmethod
    def _schema(self) -> Any:
        """Return the names and types of the columns."""

    @abstractmethod
    def _count(self) -> int | None:
        """Return how many rows there are, if that can be told."""

    @abstractmethod
    def _tables(self, columns: list[str], block_rows: int) -> Iterator[Any]:
        """Yield pyarrow tables of some columns, of about so many rows each."""


class LazyFrame(Query):
    """A lazy frame of polars, computed by its streaming engine."""

    def _schema(self) -> Any:
        if not hasattr(type(self.table), "collect_batches"):
            raise ImportError(
                "Streaming a LazyFrame needs polars 1.34 or newer; update it with: "
                "pip install --upgrade polars"
            )
        polars = require("polars", "tables", "Streaming a LazyFrame")
        return polars.DataFrame(schema=self.table.collect_schema()).to_arrow().schema

    def _count(self) -> int:
        polars = require("polars", "tables", "Streaming a LazyFrame")
        return int(self.table.select(polars.len()).collect(engine="streaming").item())

    def _tables(self, columns: list[str], block_rows: int) -> Iterator[Any]:
        selectors = require("polars.selectors", "tables", "Streaming a LazyFrame")
        # Names alone could be patterns.
        chosen = self.table.select(selectors.by_name(*columns))
        chunks = chosen.collect_batches(
            chunk_size=block_rows, maintain_order=True, engine="streaming"
        )
        for chunk in chunks:
            yield chunk.to_arrow()


class Relation(Query):
    """A relation of DuckDB."""

    def _schema(self) -> Any:
        empty = self.table.limit(0)
        whole = hasattr(type(empty), "to_arrow_table")
        return (empty.to_arrow_table() if whole else empty.arrow()).schema

    def _count(self) -> int:
        return int(self.table.count("*").fetchall()[0][0])

    def _tables(self, columns: list[str], block_rows: int) -> Iterator[Any]:
        quoted = ['"{}"'.format(name.replace('"', '""')) for name in columns]
        chosen = self.table.project(", ".join(quoted))
        newer = hasattr(type(chosen), "to_arrow_reader")
        reader = (chosen.to_arrow_reader if newer else chosen.fetch_arrow_reader)(block_rows)
        try:
            for batch in reader:
                yield self._pyarrow.Table.from_batches([batch])
        finally:
            # An open result keeps its connection busy.
            reader.close()


class HuggingFace(Query):
    """A dataset of Hugging Face, on disk or streamed."""

    def _schema(self) -> Any:
        if self.table.features is not None:
            return self.table.features.arrow_schema.remove_metadata()
        first = next(iter(self.table.iter(FIRST_ROWS)), None)
        if first is None:
            raise AdvisedError(f"{self.name} is empty; a table needs rows")
        schema = self._pyarrow.Table.from_pydict(first).schema
        empty = [f.name for f in schema if self._pyarrow.types.is_null(f.type)]
        if empty:
            raise AdvisedError(
                f"{self.name}: column {empty[0]!r} is empty in the first {FIRST_ROWS} rows, which "
                "does not tell its type; give the dataset its features, with "
                "dataset.cast(datasets.Features(...))"
            )
        return schema

    def _count(self) -> int | None:
        return int(self.table.num_rows) if hasattr(self.table, "num_rows") else None

    def _tables(self, columns: list[str], block_rows: int) -> Iterator[Any]:
        chosen = self.table.select_columns(columns)
        schema = self._pyarrow.schema([self.schema.field(name) for name in columns])
        if self.table.features is not None:
            for table in chosen.with_format("arrow").iter(block_rows):
                yield table.replace_schema_metadata().cast(schema)
            return
        for rows in chosen.iter(block_rows):
            try:
                # Types that are given would cut fractions off whole numbers.
                yield self._pyarrow.Table.from_pydict(rows).cast(schema)
            except self._pyarrow.ArrowException as error:
                raise AdvisedError(
                    f"{self.name} has rows that do not fit the types of its first ones ({error}); "
                    "give the dataset its features, with dataset.cast(datasets.Features(...))"
                ) from error


#: Rows that tell the types of a dataset that does not know them.
FIRST_ROWS = 1000
KINDS: dict[str, type[Query]] = {
    "polars": LazyFrame,
    "duckdb": Relation,
    "datasets": HuggingFace,
}


def query_of(table: Any) -> Query:
    """Return a table that holds no rows as a source of batches, or say why it is none.

    Parameters
    ----------
    table : lazy frame, relation or dataset
        The table.

    Examples
    --------
    >>> import polars
    >>> query = query_of(polars.LazyFrame({"a": range(5)}))
    >>> query.n_rows, [batch.num_rows for batch in query.batches(["a"], 2)]
    (5, [2, 2, 1])
    """
    kind = KINDS.get(query_library(table) or "")
    if kind is not None:
        return kind(table)
    what = f"{type(table).__module__.partition('.')[0].lstrip('_')} {type(table).__name__}"
    if isinstance(table, dict):
        raise TypeError(f"A {what} is several tables; give one, such as dataset['train'].")
    raise TypeError(
        "A TableStream reads files, lazy frames of polars, DuckDB relations and Hugging Face "
        f"datasets, but got a {what}; rows in memory need no stream: give them to fit(X, y)."
    )


def evenly(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yield the rows of pyarrow tables as batches of so many rows each, but for the last one.

    Parameters
    ----------
    tables : iterable of pyarrow tables
        The rows.
    rows : int
        Rows in a batch.

    Examples
    --------
    >>> import pyarrow
    >>> parts = [pyarrow.table({"a": [1]}), pyarrow.table({"a": [2, 3, 4]})]
    >>> [batch.to_pydict()["a"] for batch in evenly(parts, 2)]
    [[1, 2], [3, 4]]
    """
    pyarrow = require("pyarrow", "tables", "Reading tables")
    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if sum(part.num_rows for part in waiting) >= rows:
            joined = pyarrow.concat_tables(waiting)
            while joined.num_rows >= rows:
                yield _batch(joined.slice(0, rows))
                joined = joined.slice(rows)
            waiting = [joined]
    if waiting and any(part.num_rows for part in waiting):
        yield _batch(pyarrow.concat_tables(waiting))


def _batch(table: Any) -> Any:
    """Return a table as one record batch."""
    return table.combine_chunks().to_batches()[0]
