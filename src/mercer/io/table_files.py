"""The files of a table: which they are, their columns, and their rows as record batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._optional import require
from .._words import AdvisedError, did_you_mean
from .csv_options import CsvOptions, wrong_encoding
from .table_errors import explained

#: Endings of files, and what they hold.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
}
EXCEL = (".xlsx", ".xls", ".xlsm", ".xlsb")
#: Files of text, which may also be compressed.
TEXT = ("csv", "tsv")
COMPRESSED = (".gz", ".bz2")


class TableFiles:
    """The files of a table, which are read with one schema.

    Parameters
    ----------
    path : Path
        A file, or a folder of files of one kind.
    options : CsvOptions
        How text is read.
    strings : sequence of str
        Columns of text files that hold strings, even if they look like numbers.
    labels : sequence of str
        Columns of text files whose whole numbers stay integers, unless fractions follow.
    """

    def __init__(
        self, path: Path, options: CsvOptions, strings: Sequence[str], labels: Sequence[str]
    ) -> None:
        self._pyarrow = require("pyarrow", "tables", "Reading tables")
        #: What the table is called in errors.
        self.name: str = str(path)
        self._options = options
        self._files = _found(path)
        self.kind: str = _kind(path, self._files)
        is_text = self.kind in TEXT
        if not is_text:
            options.refuse_for(f"{path} holds {self.kind.capitalize()}")
        self._format = options.file_format(self.kind) if is_text else self.kind
        schemas = [self._inspected(file) for file in self._files]
        if is_text:
            strings_type = self._pyarrow.string()
            schemas = [_with_type(schema, strings, strings_type) for schema in schemas]
        schema = self._unified(path, schemas)
        self._doubtful: list[str] = []
        if is_text:
            schema = self._widened(schema, labels)
        self._dataset = self._opened(schema)
        self._n_rows: int | None = None

    @property
    def schema(self) -> Any:
        """The names and types of the columns, as far as they are known."""
        return self._dataset.schema

    @property
    def n_rows(self) -> int:
        """Rows of all files."""
        if self._n_rows is None:
            counted = 0
            for fragment in self._dataset.get_fragments():
                with self._told(fragment.path):
                    counted += int(fragment.count_rows())
            self._n_rows = counted
        return self._n_rows

    def batches(self, columns: Sequence[str], block_rows: int) -> Iterator[Any]:
        """Yield record batches of some columns, in the order of the files."""
        self._settle()
        yield from self._read(columns, block_rows)

    def _read(self, columns: Sequence[str], block_rows: int) -> Iterator[Any]:
        for fragment in self._dataset.get_fragments():
            with self._told(fragment.path):
                batches = fragment.to_batches(
                    schema=self._dataset.schema,
                    columns=list(columns),
                    batch_size=block_rows,
                    # Nothing is read ahead: learning from a block takes far longer than reading
                    # it, and what waits in memory would depend on the table.
                    batch_readahead=0,
                    fragment_readahead=0,
                    use_threads=False,
                    **self._one_part(),
                )
            while True:
                with self._told(fragment.path):
                    batch = next(batches, None)
                if batch is None:
                    break
                if batch.num_rows:
                    yield batch

    def _one_part(self) -> dict[str, Any]:
        """Return what keeps a reader of Parquet from holding all of a file that it has read."""
        if self.kind != "parquet":
            return {}
        dataset = require("pyarrow.dataset", "tables", "Reading tables")
        return {"fragment_scan_options": dataset.ParquetFragmentScanOptions(pre_buffer=False)}

    def _settle(self) -> None:
        """Look once through columns that may be integers, and make floats of them if need be.

        A text file does not say its types: labels 0 and 1 must stay integers to the last row,
        while counts may be followed by 2.5.
        """
        names, self._doubtful = self._doubtful, []
        if not names:
            return
        try:
            self._n_rows = sum(batch.num_rows for batch in self._read(names, 1 << 16))
        except ValueError:
            # Reading the floats says what is wrong if it is not a fraction.
            self._dataset = self._opened(_with_type(self.schema, names, self._pyarrow.float64()))

    def _widened(self, schema: Any, labels: Sequence[str]) -> Any:
        """Return a schema for what may follow further down a text file.

        Whole numbers may become fractions, and columns that are empty at first hold strings.
        """
        types = self._pyarrow.types
        empty = [field.name for field in schema if types.is_null(field.type)]
        whole = [field.name for field in schema if types.is_integer(field.type)]
        self._doubtful = [name for name in whole if name in labels]
        schema = _with_type(schema, empty, self._pyarrow.string())
        others = [name for name in whole if name not in labels]
        return _with_type(schema, others, self._pyarrow.float64())

    def _unified(self, path: Path, schemas: list[Any]) -> Any:
        """Return one schema: a column may be whole numbers in one file and not in the next."""
        try:
            return self._pyarrow.unify_schemas(schemas, promote_options="permissive")
        except self._pyarrow.ArrowException as error:
            found = re.search(r"Field (.*) has incompatible types: (.*) vs (.*)", str(error))
            what = "{}: column {!r} holds {} in one file and {} in another".format(
                path, *(found.groups() if found else ("?", "one type", "another"))
            )
            raise AdvisedError(f"{what}; make them the same kind in all files") from error

    def _inspected(self, file: Path) -> Any:
        """Return the schema of one file."""
        dataset = require("pyarrow.dataset", "tables", "Reading tables")
        with self._told(file):
            if self.kind in TEXT:
                self._options.header(file, self.kind)
            schema = dataset.dataset(str(file), format=self._format).schema
        if self.kind in TEXT and any(self._pyarrow.types.is_binary(f.type) for f in schema):
            raise wrong_encoding(file, self._options.encoding)
        return schema

    def _opened(self, schema: Any) -> Any:
        dataset = require("pyarrow.dataset", "tables", "Reading tables")
        return dataset.dataset([str(p) for p in self._files], format=self._format, schema=schema)

    @contextmanager
    def _told(self, file: Path | str) -> Iterator[None]:
        """Turn errors of pyarrow into sentences about a file."""
        try:
            yield
        except AdvisedError:
            raise
        # What Python's codecs and files raise passes through pyarrow.
        except (ValueError, OSError, self._pyarrow.ArrowException) as error:
            raise explained(error, Path(file), self.kind, self._options) from error


def _with_type(schema: Any, names: Sequence[str], dtype: Any) -> Any:
    """Return a schema in which some columns have another type."""
    for name in names:
        place = schema.get_field_index(name)
        if place >= 0:
            schema = schema.set(place, schema.field(place).with_type(dtype))
    return schema


def _found(path: Path) -> list[Path]:
    """Return the files of a table; those whose names begin with a dot or ``_`` are passed over."""
    if not path.exists():
        folder = path.parent
        siblings = [p.name for p in folder.iterdir()] if folder.is_dir() else []
        hint = did_you_mean(path.name, siblings, "check its name.")
        raise FileNotFoundError(f"There is no file or folder {path}; {hint}")
    if not path.is_dir():
        return [path]
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    parts = {p: p.relative_to(path).parts for p in inside}
    files = [p for p in inside if not any(part.startswith((".", "_")) for part in parts[p])]
    if not files:
        raise AdvisedError(
            f"The folder {path} holds no files; a table is files of one kind among "
            f"{', '.join(FORMATS)}"
        )
    return files


def _ending(path: Path) -> str:
    """Return the ending that tells what a file holds, without that of its compression."""
    suffix = path.suffix.lower()
    if suffix in COMPRESSED:
        inner = Path(path.stem).suffix.lower()
        return inner if FORMATS.get(inner) in TEXT else inner + suffix
    return suffix


def _kind(path: Path, files: list[Path]) -> str:
    """Return what the files hold, which must be the same for all."""
    kinds = {FORMATS.get(_ending(file)) for file in files}
    kind = kinds.pop() if len(kinds) == 1 else None
    if path.suffix.lower() in EXCEL:
        raise ValueError(f"{path} is an Excel file; save it as CSV or Parquet.")
    if kind is None:
        found = ", ".join(sorted({_ending(file) or file.name for file in files}))
        raise ValueError(
            f"{path} must hold files of one kind among {', '.join(FORMATS)} (.csv and .tsv may "
            f"also be compressed: .csv.gz, .csv.bz2), but {found} was found."
        )
    return kind
