"""Tables that are written block by block, whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .._optional import require


class Writer:
    """Writes columns, block by block, as CSV or Parquet."""

    def __init__(self, sink: Any, kind: str) -> None:
        self._sink, self._kind = sink, kind
        self._inner: Any = None
        self.n_rows = 0

    def write(self, columns: dict[str, Any]) -> None:
        """Write a block of columns."""
        pyarrow = require("pyarrow", "tables", "Writing tables")
        batch = pyarrow.table(columns)
        if self._inner is None:
            if self._kind == "parquet":
                parquet = require("pyarrow.parquet", "tables", "Writing tables")
                self._inner = parquet.ParquetWriter(self._sink, batch.schema)
            else:
                csv = require("pyarrow.csv", "tables", "Writing tables")
                self._inner = csv.CSVWriter(self._sink, batch.schema)
        self._inner.write_table(batch)
        self.n_rows += batch.num_rows

    def close(self) -> None:
        """Write what is left."""
        if self._inner is not None:
            self._inner.close()


@contextmanager
def open_writer(path: Path | None) -> Iterator[Writer]:
    """Yield a writer to a file, or to the screen; the file appears when all is written."""
    if path is None:
        writer = Writer(sys.stdout.buffer, "csv")
        yield writer
        writer.close()
        return
    endings = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
    kind = endings.get(path.suffix.lower())
    if kind is None:
        raise click.UsageError(f"--out: {path} must end in .csv or .parquet.")
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"--out: the folder of {path} does not exist; make it first.")
    from ..io.atomic import replacing

    with replacing(path) as name:
        writer = Writer(name, kind)
        yield writer
        writer.close()
