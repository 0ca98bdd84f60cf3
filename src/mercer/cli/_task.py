"""Classification or regression: what a target asks for, and targets that ask for neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from .._words import AdvisedError
from ._numerals import Numerals, an_example, doubtful_columns, recognised

#: The most classes that integers, or floats that are whole numbers, are taken for.
MOST_CLASSES = {"i": 30, "u": 30, "f": 10}
#: Rows of a target of labels to look at.
LOOK_ROWS = 65_536
#: Classes per row above which labels are doubted, and above which nothing can be learnt of them.
DOUBTFUL, HOPELESS = 0.5, 0.9
#: What the kinds of NumPy's types hold, in words.
KINDS = {"O": "strings", "U": "strings", "S": "strings", "M": "dates", "b": "booleans"}


@dataclass(frozen=True)
class Look:
    """What was seen of a target: its kind, how many rows, and the different values."""

    target: str
    #: The kind of NumPy's type, as ``dtype.kind`` has it.
    kind: str
    rows: int
    values: list[Any]
    #: Whether all are whole numbers, or there are several targets.
    whole: bool = False
    several: bool = False
    #: The decimal point that the file was read with.
    decimal: str = "."

    @property
    def numeric(self) -> bool:
        """Whether the target holds numbers."""
        return self.kind in MOST_CLASSES

    def per_row(self, share: float) -> bool:
        """Return whether there are more different values than this share of the rows."""
        return len(self.values) > max(2, share * self.rows)

    def numerals(self) -> Numerals | None:
        """Return what strings look like if they look like numbers."""
        if self.kind not in "OU":
            return None
        return recognised((str(value) for value in self.values[:1000]), self.decimal)

    @property
    def words(self) -> str:
        """What the target holds, with an example."""
        held = KINDS.get(self.kind, "numbers")
        example = an_example([str(value) for value in self.values]).removesuffix(" 00:00:00")
        shown = repr(example) if held == "strings" else example
        return f"the target {self.target!r} holds {held} such as {shown}"


def look_at(stream: Any, decimal: str = ".") -> Look:
    """Return what a stream's target holds.

    Numbers are looked at until there are too many different ones for classes, or to the end: a
    target may hold whole numbers for a million rows before the first fraction. Of labels, the
    first rows will do.
    """
    import numpy as np

    target = ", ".join(stream.target)
    rows, values = 0, np.empty(0)
    for y in stream.targets():
        y = np.asarray(y)
        kind = y.dtype.kind
        if y.ndim == 2:
            return Look(target, kind, len(y), [], several=True)
        block = np.unique(y.astype(str) if kind == "O" else y)
        values = np.unique(np.concatenate([values, block])) if rows else block
        rows += len(y)
        whole = kind in "iu" or (kind == "f" and bool((values == np.round(values)).all()))
        enough = rows >= LOOK_ROWS if kind not in MOST_CLASSES else not _few(values, kind, whole)
        if enough:
            break
    return Look(target, kind, rows, values.tolist(), whole=whole, decimal=decimal)


def _few(values: Any, kind: str, whole: bool) -> bool:
    return whole and len(values) <= MOST_CLASSES[kind]


def detect_task(look: Look) -> tuple[str, str]:
    """Return classification or regression, and why; refuse a target that is for neither."""
    count = len(look.values)
    if look.several:
        return "regression", "there are several targets"
    if look.numeric:
        few = _few(look.values, look.kind, look.whole) and count < max(3, look.rows / 4)
        if few:
            return "classification", f"the target holds {count} different whole numbers"
        return (
            "regression",
            f"the target holds numbers ({count:,} different ones in {look.rows:,} rows)",
        )
    if look.kind == "M":
        raise AdvisedError(
            f"{_capital(look.words)}; dates cannot be predicted: make numbers of them, such as "
            "the days since the first"
        )
    numerals = look.numerals()
    if numerals is not None and (count > MOST_CLASSES["i"] or look.per_row(0.25)):
        raise _not_labels(look, numerals)
    if look.per_row(DOUBTFUL):
        raise _not_labels(look, None)
    return "classification", f"the target holds labels ({count} different ones)"


def assert_task(look: Look, task: str) -> None:
    """Refuse a task that was asked for if nothing can come of it."""
    if task == "regression" and look.kind not in "iufb":
        numerals = look.numerals()
        if numerals is not None:
            raise _not_labels(look, numerals)
        raise click.UsageError(
            f"--task regression: {look.words}, not numbers; leave --task out, or choose another "
            "target."
        )
    if task == "classification" and look.per_row(HOPELESS):
        raise _not_labels(look, look.numerals())


def _not_labels(look: Look, numerals: Numerals | None) -> AdvisedError:
    """Return the error for a target with too many different values to be labels."""
    count = len(look.values)
    many = f"{_capital(look.words)}, {count:,} different ones in {look.rows:,} rows"
    if numerals is not None:
        options = numerals.options
        if "na_values" in options:
            return AdvisedError(
                f"{many}: they look like {numerals.looks}; correct those rows or remove them"
            )
        return AdvisedError(f"{many}: they look like {numerals.looks}; {numerals.advice}", options)
    if look.numeric:
        return AdvisedError(f"{many}: these are not classes; leave out --task classification")
    if look.per_row(HOPELESS):
        return AdvisedError(
            f"{many}: there is nothing to learn where nearly every row has a label of its own; "
            "choose another target"
        )
    return AdvisedError(
        f"{many}: classes need several rows each; choose another target, or if these are classes "
        "nevertheless, add ",
        {"task": "classification"},
    )


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def settled_task(stream: Any, task: str, decimal: str) -> tuple[str, str]:
    """Return the task and why, and tell of columns that were perhaps not read as meant."""
    look = look_at(stream, decimal)
    why = "as --task says"
    if task == "auto":
        task, why = detect_task(look)
    else:
        assert_task(look, task)
    block, _ = next(iter(stream.tables()))
    for doubt in doubtful_columns(block, decimal):
        note = doubt.told("which are taken for categories")
        click.echo(f"Note: {note.for_command_line()}", err=True)
    return task, why
