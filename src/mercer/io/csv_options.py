"""How the text of CSV files is read: separator, decimal point, encoding, missing values."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .._optional import require
from .._words import AdvisedError

#: Separators to look for when a header is a single column.
SEPARATORS = (";", "\t", ",", "|")
#: How much of a file is looked at to find its header.
HEAD_BYTES = 1 << 16
#: What a file in UTF-16 begins with.
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class CsvOptions:
    """How the text of CSV files is read.

    Parameters
    ----------
    sep : str, default=None
        What stands between two fields; ``None`` means a tab in ``.tsv`` files, else a comma.
    decimal : {".", ","}, default="."
        The decimal point of numbers.
    encoding : str, default="utf-8"
        The encoding of the file, such as ``"latin-1"`` or ``"utf-16"``.
    na_values : sequence of str, default=()
        What stands for a missing value, beside the empty string, ``NA``, ``NaN``, ``null`` and
        the like.
    """

    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    na_values: Sequence[str] = ()

    def __post_init__(self) -> None:
        # A shell hands over a backslash and a letter.
        sep = "\t" if self.sep == "\\t" else self.sep
        if sep is not None and (len(sep) != 1 or not sep.isascii() or sep in '"\r\n'):
            raise ValueError(
                f"sep must be one character such as ',', ';' or '\\t', but got {sep!r}."
            )
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', but got {self.decimal!r}.")
        if isinstance(self.na_values, str):
            raise ValueError(
                f"na_values must be a list of strings, but got the string {self.na_values!r}; "
                f"write [{self.na_values!r}]."
            )
        try:
            encoding = codecs.lookup(self.encoding).name
        except LookupError:
            raise ValueError(
                f"encoding must be one that Python knows, such as 'utf-8', 'latin-1', 'cp1252' or "
                f"'utf-16', but got {self.encoding!r}."
            ) from None
        object.__setattr__(self, "sep", sep)
        object.__setattr__(self, "encoding", encoding)
        object.__setattr__(self, "na_values", tuple(self.na_values))

    def given(self) -> list[str]:
        """Return the names of the options that are not the default."""
        default = CsvOptions()
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(default, name)]

    def refuse_for(self, what: str) -> None:
        """Say that options were given that mean nothing, for a table of another kind."""
        if self.given():
            raise ValueError(
                f"{' and '.join(self.given())}: only for CSV files, but {what}; leave that out."
            )

    def separator(self, kind: str) -> str:
        """Return the separator of files of a kind, ``"csv"`` or ``"tsv"``."""
        return self.sep or ("\t" if kind == "tsv" else ",")

    def file_format(self, kind: str) -> Any:
        """Return pyarrow's description of such files."""
        dataset = require("pyarrow.dataset", "tables", "Reading tables")
        arrow = require("pyarrow.csv", "tables", "Reading tables")
        missing = [*arrow.ConvertOptions().null_values, *self.na_values]
        return dataset.CsvFileFormat(
            # Without this, a line break inside quotes would split a row at the end of a block.
            parse_options=arrow.ParseOptions(
                delimiter=self.separator(kind), newlines_in_values=True
            ),
            read_options=arrow.ReadOptions(encoding=self.encoding),
            # An empty string is a missing value, as an empty number is.
            convert_options=arrow.ConvertOptions(
                strings_can_be_null=True, null_values=missing, decimal_point=self.decimal
            ),
        )

    def header(self, path: Path, kind: str) -> list[str]:
        """Return the names of the columns of a file, which must be more than one undivided text."""
        lines = self._first_lines(path)
        separator = self.separator(kind)
        names = next(csv.reader(lines[:1], delimiter=separator))
        if len(names) == 1:
            others = [other for other in SEPARATORS if other != separator and other in names[0]]
            if others:
                raise _undivided(path, names[0], separator, others[0], lines[1:], self.decimal)
        return names

    def _first_lines(self, path: Path) -> list[str]:
        """Return the first lines that are not empty, decoded."""
        pyarrow = require("pyarrow", "tables", "Reading tables")
        with pyarrow.input_stream(str(path), compression="detect") as stream:
            raw = stream.read(HEAD_BYTES)
        if self.encoding == "utf-8" and raw.startswith(UTF16_MARKS):
            raise AdvisedError(
                f"{path} is encoded in UTF-16, not in UTF-8: use ", {"encoding": "utf-16"}
            )
        try:
            text = codecs.getincrementaldecoder(self.encoding)().decode(raw, final=False)
        except UnicodeDecodeError as error:
            raise wrong_encoding(path, self.encoding) from error
        lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
        if not lines:
            raise AdvisedError(f"{path} is empty; its first line should name the columns")
        return lines


def wrong_encoding(path: Path, encoding: str) -> AdvisedError:
    """Return the error for bytes that are not in the encoding."""
    other = "latin-1" if encoding == "utf-8" else "utf-8"
    return AdvisedError(
        f"{path} is not encoded in {encoding.upper()}: use ",
        {"encoding": other},
        ", or name the encoding that the file has.",
    )


def _undivided(
    path: Path, header: str, separator: str, found: str, lines: list[str], decimal: str
) -> AdvisedError:
    """Return the error for a file whose columns are separated otherwise."""
    options = {"sep": found}
    if found != "," and decimal == "." and lines and re.search(r"\d,\d", lines[0]):
        options["decimal"] = ","
    shown = header if len(header) <= 40 else f"{header[:40]}..."
    words = {"\t": "tabs"}
    return AdvisedError(
        f"{path} has a single column {shown!r} when its lines are split at "
        f"{words.get(separator, repr(separator))}; they seem to be separated by "
        f"{words.get(found, repr(found))}: use ",
        options,
    )
