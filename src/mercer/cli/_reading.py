"""The options that say how the text of CSV files is read, for every command that reads tables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypedDict

import click


class Reading(TypedDict, total=False):
    """How CSV files are read: keyword arguments of ``TableStream``."""

    sep: str | None
    decimal: str
    encoding: str
    na_values: tuple[str, ...]


OPTIONS = (
    click.option(
        "--sep",
        metavar="CHARACTER",
        help="What separates the fields of a CSV file: ';', '|', '\\t'.  [default: comma; a tab "
        "in .tsv files]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=".",
        show_default=True,
        help="The decimal point of numbers in a CSV file.",
    ),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        help="The encoding of a CSV file, such as latin-1.",
    ),
    click.option(
        "--na",
        "na_values",
        multiple=True,
        metavar="WORD",
        help="A word for missing values in a CSV file, beside NA, NaN and the like (repeatable).",
    ),
)


def reads_tables(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of CSV files; it gets them as one argument, ``reading``."""

    @functools.wraps(command)
    def run(
        *, sep: str | None, decimal: str, encoding: str, na_values: tuple[str, ...], **rest: Any
    ) -> Any:
        reading = Reading(sep=sep, decimal=decimal, encoding=encoding, na_values=na_values)
        return command(reading=reading, **rest)

    wrapped: Callable[..., Any] = run
    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def assert_no_options(reading: Reading, path: object) -> None:
    """Refuse options of CSV files where there is no text to read."""
    default: dict[str, object] = {
        "sep": None,
        "decimal": ".",
        "encoding": "utf-8",
        "na_values": (),
    }
    given = [name for name, value in reading.items() if value != default[name]]
    if given:
        names = ", ".join("--" + name.removesuffix("_values") for name in given)
        raise click.UsageError(f"{names}: only for CSV files, but got {path}; leave that out.")
