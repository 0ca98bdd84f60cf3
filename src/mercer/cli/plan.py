"""``mercer plan``: what ``mercer fit`` would take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._data import assert_exists, open_rows
from ._model_options import budget_of, kernel_of, model_options
from ._reading import Reading, reads_tables
from ._screen import explained, facts, print_json
from ._task import detect_task, look_at


@click.command("plan", short_help="Show the memory and time that a fit would take.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", "-t", required=True, help="The column to predict.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out (repeatable).")
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@reads_tables
@explained
def command(data: Path, target: str, reading: Reading, **options: Any) -> None:
    """Show what learning a column of DATA would take on this machine: memory, time, and steps.

    Nothing is learnt: the first block of DATA is read, the target is looked through, and the speed
    of this machine is measured in a second. The options say the same as those of mercer fit.

    \b
    mercer plan houses.csv --target price
    mercer plan parts/ -t label --kernel arccosine --features 20000 --memory 8GB
    """
    from ..diagnostics import plan
    from ..engine.config import config
    from ..machines import KernelClassifier, KernelRegressor

    assert_exists(data)
    kernel, budget = kernel_of(options), budget_of(options["memory"])
    stream = open_rows(data, target, reading, options["drop"])
    look = look_at(stream, reading["decimal"])
    task, _ = detect_task(look) if options["task"] == "auto" else (options["task"], "")
    maker = KernelClassifier if task == "classification" else KernelRegressor
    count = len(look.values) if task == "classification" else 1
    model = maker(
        kernel,
        n_components=options["features"],
        approximation=options["approximation"],
        alpha=options["alpha"],
        effort=options["effort"],
    )
    with config(progress=False, **budget):
        found = plan(stream, model, n_targets=1 if count <= 2 else count)
    if options["as_json"]:
        print_json(found.as_dict())
    else:
        show(found)


def show(found: Any) -> None:
    """Print a plan: its sentences, and a table of its steps."""
    from rich.console import Console
    from rich.table import Table

    from ..diagnostics.plan_record import in_bytes, in_time

    facts([line for line in found.lines() if line[0] != "steps"])
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("step")
    table.add_column("time", justify="right")
    table.add_column("memory", justify="right")
    for step in found.steps:
        table.add_row(step.name, in_time(step.seconds), in_bytes(step.memory))
    click.echo()
    Console().print(table)
