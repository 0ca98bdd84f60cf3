"""What commands show, and how they fail: one sentence, exit status 1."""

from __future__ import annotations

import functools
import json
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from .._words import AdvisedError

#: What bad data, bad files and missing packages raise.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, ArithmeticError)


def explained(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that tells errors and warnings in a sentence, without a trace."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            with _notes():
                return command(*arguments, **options)
        except BrokenPipeError:
            # Whoever reads has seen enough; click ends quietly.
            raise
        except AdvisedError as error:
            raise click.ClickException(error.for_command_line()) from error
        except EXPECTED as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise click.ClickException(text) from error

    return run


@contextmanager
def _notes() -> Iterator[None]:
    """Tell warnings in a line of their own, without the place in the code."""

    def note(message: Warning | str, *about: Any, **more: Any) -> None:
        click.echo(f"Note: {' '.join(str(message).split())}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = note
        yield


@contextmanager
def bar(wanted: bool) -> Iterator[Callable[[int, int, int], object]]:
    """Yield a function ``told(pass, done, total)`` that moves a bar on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not wanted or not console.is_terminal:
        yield lambda number, done, total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks: dict[int, Any] = {}

        def told(number: int, done: int, total: int) -> None:
            if number not in tasks:
                tasks[number] = progress.add_task(f"pass {number} over the rows", total=total)
            progress.update(tasks[number], completed=done)

        yield told


def print_json(content: dict[str, Any]) -> None:
    """Print plain values as JSON, in which NaN and infinity are ``null``."""
    finite = {key: _finite(value) for key, value in content.items()}
    click.echo(json.dumps(finite, indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def facts(pairs: list[tuple[str, str]]) -> None:
    """Print pairs of a heading and a sentence, the sentences aligned."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, sentence in pairs:
        table.add_row(heading, Text(sentence))
    Console().print(table)
