"""``mercer compare``: maps and kernels side by side on a table, with what they must beat."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .._optional import require
from ._data import assert_exists, open_rows
from ._reading import Reading, reads_tables
from ._screen import explained, facts, print_json
from ._task import settled_task


class Sizes(click.ParamType):
    """Positive numbers with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if all(part.isdigit() and int(part) > 1 for part in parts):
            return tuple(int(part) for part in parts)
        return self.fail(f"{value!r} is not a list of numbers such as 256,1024.", param, ctx)


@click.command("compare", short_help="Compare maps and kernels with what they must beat.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", "-t", required=True, help="The column to predict.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out (repeatable).")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="What to learn; auto goes by the target and says so.",
)
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="NAME",
    help="What to compare (repeatable): linear, boosting, exact, irkm, gaussian, laplace, matern, "
    "ntk, arccosine, nystrom, sklearn-rbf, sklearn-nystroem.  [default: all but matern, arccosine]",
)
@click.option(
    "--dims",
    type=Sizes(),
    default=(128, 256, 512, 1024, 2048),
    help="The numbers of features.  [default: 128,256,512,1024,2048]",
)
@click.option(
    "--rows",
    type=click.IntRange(20),
    default=100_000,
    show_default=True,
    help="The most rows to compare on; of more a sample is taken.",
)
@click.option(
    "--exact-rows",
    type=click.IntRange(10),
    default=2000,
    show_default=True,
    help="Rows that the exact kernel and irkm learn from.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Start no fit that would end later.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of test rows and features.")
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write report.html, its figures and the numbers there (needs matplotlib).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@reads_tables
@explained
def command(data: Path, target: str, reading: Reading, **options: Any) -> None:
    """Compare feature maps and kernels on DATA, with each other and with other methods.

    A fifth of the rows are the test rows. The table has the test error, the error of the kernel
    matrix, time, memory and size of every map with every number of features, beside a linear
    model, gradient boosting, and the exact kernel and irkm (which learns column weights) on some
    of the rows. Ctrl-C ends early and keeps what was measured.

    \b
    mercer compare houses.csv --target price --out report/
    mercer compare digits.npz -t y --map gaussian --map ntk --dims 256,1024 --time-limit 60
    """
    from .. import compare
    from ..diagnostics.comparison.methods import methods_of

    out, maps = options["out"], options["maps"] or None
    try:
        methods_of(maps)
    except ValueError as error:
        raise click.UsageError(f"--map: {error}") from error
    if out is not None:
        require("matplotlib", "plot", "The report of a comparison")
    assert_exists(data)
    stream = open_rows(data, target, reading, options["drop"])
    task, why = settled_task(stream, options["task"], reading["decimal"])
    X, y, drawn = gathered(stream, options["rows"], options["seed"])
    found = compare(
        X,
        y,
        maps=maps,
        dims=options["dims"],
        task=task,
        max_rows=options["rows"],
        exact_rows=options["exact_rows"],
        time_limit=options["time_limit"],
        random_state=options["seed"],
    )
    found = replace(found, task_reason=f"{why}{drawn}")
    path = None
    if out is not None:
        path = found.save(out, title=f"{data.name}: {target}")
    if options["as_json"]:
        print_json(
            {
                "task": found.task,
                "task_reason": found.task_reason,
                "n_train": found.n_train,
                "n_test": found.n_test,
                "interrupted": found.interrupted,
                "trials": found.rows(),
                "skipped": [str(skipped) for skipped in found.skipped],
                "report": None if path is None else str(path),
            }
        )
        return
    facts(found.facts())
    _print(found)
    if path is None:
        click.echo("No report was written: give --out FOLDER for pictures.")
    else:
        click.echo(f"The report is {path}")


def gathered(stream: Any, most: int, seed: int) -> tuple[Any, Any, str]:
    """Return the rows and targets of a stream, or a sample of them, and a sentence on the sample.

    Parameters
    ----------
    stream : stream of blocks
        As :func:`open_rows` returns it.
    most : int
        The most rows.
    seed : int
        Which, if there are more.
    """
    import numpy as np

    from .._random import Stream

    total, start = stream.n_rows, 0
    chosen, drawn = np.arange(total), ""
    if total > most:
        generator = Stream(seed).child("rows of a file").generator()
        chosen = np.sort(generator.choice(total, most, replace=False))
        drawn = f"; {most:,} of {total:,} rows were drawn"
    blocks, targets = [], []
    for block, y in stream.tables():
        stop = start + int(block.shape[0])
        low, high = np.searchsorted(chosen, [start, stop])
        own = chosen[low:high] - start
        blocks.append(_taken(block, own))
        targets.append(np.asarray(y)[own])
        start = stop
    return _joined(blocks), np.concatenate(targets), drawn


def _taken(block: Any, places: Any) -> Any:
    """Return some rows of an array or of an Arrow table."""
    return block[places] if not hasattr(block, "column_names") else block.take(places)


def _joined(blocks: list[Any]) -> Any:
    if hasattr(blocks[0], "column_names"):
        pyarrow = require("pyarrow", "tables", "Reading tables")
        return pyarrow.Table.from_batches(blocks).combine_chunks()
    import numpy as np

    return np.concatenate(blocks)


def _print(found: Any) -> None:
    """Print the table, what is best, and what was not measured."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..diagnostics.comparison.page import verdict
    from ..diagnostics.comparison.words import amount, seconds, three

    # As wide as a terminal of 80 columns.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("method", no_wrap=True)
    headings = ("error ±95 %", "kernel", "fit", "predict", "memory", "model")
    for heading in ("dim", *headings):
        table.add_column(heading, justify="right", no_wrap=True)
    for trial in found.trials:
        half = f"{(trial.high - trial.low) / 2:.2g}"
        tied = "*" if found.is_tied(trial) else " "
        table.add_row(
            Text(trial.method),
            "" if trial.n_components is None else f"{trial.n_components:,}",
            f"{three(trial.error)} ±{half}{tied}",
            "" if trial.kernel_error is None else f"{trial.kernel_error:.1%}",
            seconds(trial.fit_seconds),
            seconds(trial.predict_seconds),
            amount(trial.memory),
            amount(trial.model_bytes),
            style="bold" if trial is found.best else None,
        )
    console = Console()
    console.print(table)
    console.print(Text(verdict(found)))
    console.print(Text("* the test rows cannot tell it from the best"))
    for skipped in found.skipped:
        console.print(Text(f"Not measured: {skipped}"))
