"""What pyarrow says about a file that it cannot read, in a sentence with the way out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .._words import AdvisedError
from .csv_options import CsvOptions, wrong_encoding

#: The kinds of values as pyarrow's types begin, in words.
KINDS = {"bool": "booleans", "date": "dates", "timestamp": "dates", "time": "times"}
#: A number with a decimal comma.
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def explained(error: Exception, path: Path, kind: str, options: CsvOptions) -> ValueError:
    """Return the error to raise instead of one of pyarrow's.

    Parameters
    ----------
    error : Exception
        What pyarrow raised.
    path : Path
        The file that was read.
    kind : str
        What the file is taken for: ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"arrow"``.
    options : CsvOptions
        How its text is read.
    """
    if isinstance(error, UnicodeError):
        return wrong_encoding(path, options.encoding)
    text = " ".join(str(error).split())
    for pattern, sentence in SENTENCES:
        found = re.search(pattern, text)
        if found:
            return sentence(found, path, kind, options)
    return AdvisedError(f"{path} cannot be read: {text.rstrip('.')}")


Sentence = Callable[[re.Match[str], Path, str, CsvOptions], ValueError]


def _conversion(found: re.Match[str], path: Path, kind: str, options: CsvOptions) -> ValueError:
    number, row, dtype, value = found.groups()
    name = options.header(path, kind)[int(number)]
    words = next((KINDS[start] for start in KINDS if dtype.startswith(start)), "numbers")
    problem = (
        f"Column {name!r} of {path} holds {value!r}{_place(row)}, but the rows before hold {words}"
    )
    if words == "numbers" and options.decimal == "." and DECIMAL_COMMA.fullmatch(value):
        return AdvisedError(
            f"{problem}: if its numbers have decimal commas, add ", {"decimal": ","}
        )
    return AdvisedError(
        f"{problem}: if it stands for a missing value, add ",
        {"na_values": [value]},
        "; else correct it, or leave the column out.",
    )


def _encoding(found: re.Match[str], path: Path, kind: str, options: CsvOptions) -> ValueError:
    return wrong_encoding(path, options.encoding)


def _ragged(found: re.Match[str], path: Path, kind: str, options: CsvOptions) -> ValueError:
    row, expected, got, line = found.groups()
    fields = "1 field" if got == "1" else f"{got} fields"
    shown = line if len(line) <= 60 else f"{line[:60]}..."
    separator = options.separator(kind)
    hint = ""
    if separator == "," and int(got) > int(expected):
        hint = " (numbers with decimal commas must be in quotes)"
    return AdvisedError(
        f"{path} has {fields}{_place(row)} ({shown!r}), but its header names {expected} columns; "
        f"correct that line{hint}, or tell what separates the fields if it is not "
        f"{separator!r}"
    )


def _plain(sentence: str) -> Sentence:
    """Return a sentence that needs nothing but the name of the file."""

    def told(found: re.Match[str], path: Path, kind: str, options: CsvOptions) -> ValueError:
        return AdvisedError(sentence.format(path=path, found=found), after="")

    return told


def _place(row: str | None) -> str:
    """Return where in the table, as pyarrow counts rows: from 1, the header included."""
    return "" if row is None else f" in row {int(row) - 2} (counted from 0)"


#: What pyarrow says, and what to say instead; the first that is found.
SENTENCES: list[tuple[str, Sentence]] = [
    (r"invalid UTF8 data", _encoding),
    (
        r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.+?): "
        r"invalid value '(.*)'",
        _conversion,
    ),
    (r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+):? ?(.*)", _ragged),
    (r"Empty CSV file", _plain("{path} is empty; its first line should name the columns.")),
    (
        r"multiple columns named (.*)",
        _plain("{path} has several columns of the name {found[1]!r}; rename all but one."),
    ),
    (
        r"straddling object",
        _plain(
            "{path} has a line of more than 1 MB: perhaps a quotation mark is not closed; if the "
            "table is that wide, convert it to Parquet."
        ),
    ),
    (
        r"(?i)inflate|bz2|decompress",
        _plain(
            "{path} is not compressed as its name says, or is damaged; write it again or rename it."
        ),
    ),
    (
        r"(?i)parquet",
        _plain("{path} is not a Parquet file, or is damaged; a text file should end in .csv."),
    ),
    (
        r"(?i)not an arrow file|\bipc\b|feather",
        _plain("{path} is not an Arrow file, or is damaged; a text file should end in .csv."),
    ),
]
