"""``mercer fit``: learn from a table on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._data import Watched, assert_exists, open_rows
from ._model_options import budget_of, kernel_of, model_options
from ._reading import Reading, reads_tables
from ._screen import bar, explained, facts, print_json
from ._task import settled_task


@click.command("fit", short_help="Learn from a table and save the model.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", "-t", required=True, help="The column to predict.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out (repeatable).")
@model_options
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="End the search and the iterations of the solver after this time.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the features.")
@click.option(
    "--save", "-s", "path", type=click.Path(dir_okay=False, path_type=Path), help="The model file."
)
@click.option(
    "--full", is_flag=True, help="Keep what error bars of features and further learning need."
)
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Save the pass in this file, and resume from it if it is there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@reads_tables
@explained
def command(data: Path, target: str, reading: Reading, **options: Any) -> None:
    """Learn to predict a column of DATA from the others, and save the model.

    DATA is a .csv, .tsv, .csv.gz, .parquet, .arrow or .feather file, a folder of such files, or
    a .npz or .npy file. It is read in blocks and may be larger than memory. Columns may hold
    numbers, categories, dates and missing values.

    \b
    mercer fit houses.csv --target price --save houses.mercer
    mercer fit houses.csv -t price --sep ';' --decimal , --encoding latin-1 --na '?'
    mercer fit houses.csv -t price --effort quick --time-limit 30
    mercer fit parts/ -t label --kernel arccosine --features 4096 -s model.mercer
    """
    from ..engine.config import config
    from ..machines import KernelClassifier, KernelRegressor

    path = options["path"]
    if path is not None and not path.absolute().parent.is_dir():
        raise click.UsageError(f"--save: the folder of {path} does not exist; make it first.")
    assert_exists(data)
    kernel, budget = kernel_of(options), budget_of(options["memory"])
    stream = open_rows(data, target, reading, options["drop"])
    task, why = settled_task(stream, options["task"], reading["decimal"])
    maker = KernelClassifier if task == "classification" else KernelRegressor
    model = maker(
        kernel,
        n_components=options["features"],
        approximation=options["approximation"],
        alpha=options["alpha"],
        effort=options["effort"],
        time_limit=options["time_limit"],
        random_state=options["seed"],
    )
    with config(progress=False, **budget), bar(not options["as_json"]) as told:
        _learn(model, Watched(stream, told), options["checkpoint"])
    if path is not None:
        from ..io import save

        save(model, path, compact=not options["full"])
    if options["as_json"]:
        content = {**model.report_.as_dict(), "task_reason": why, "target": target}
        print_json({**content, "model": str(path) if path else None})
        return
    facts([("task", f"{task} of {target!r}: {why}"), *model.report_.lines()])
    if path is None:
        click.echo("Nothing was saved: give --save FILE to keep the model.")
    else:
        size = path.stat().st_size
        click.echo(f"Saved to {path} ({size / 1e3:,.0f} kB). Next: mercer predict {path} DATA")


def _learn(model: Any, stream: Any, checkpoint: Path | None) -> None:
    if checkpoint is None:
        model.fit(stream)
        return
    from ..io import fit_resumable

    fit_resumable(model, stream, checkpoint, every=10.0)
