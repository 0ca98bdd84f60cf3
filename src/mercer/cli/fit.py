"""``mercer fit``: learn from a table on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._data import Watched, assert_exists, open_rows
from ._reading import Reading, reads_tables
from ._screen import bar, explained, facts, print_json
from ._task import settled_task

KERNELS = ("gaussian", "rbf", "laplace", "matern", "arccosine", "nngp", "ntk")


class Features(click.ParamType):
    """A positive number, or ``auto``."""

    name = "number|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "auto" or isinstance(value, int):
            return value
        if str(value).isdigit() and int(value) > 0:
            return int(value)
        return self.fail(f"{value!r} is neither a positive number nor 'auto'.", param, ctx)


@click.command("fit", short_help="Learn from a table and save the model.")
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
    "--kernel", type=click.Choice(KERNELS), help="The kernel; by default the best of three."
)
@click.option("--depth", type=click.IntRange(1), help="Hidden layers of nngp and ntk.")
@click.option("--order", type=click.Choice(["0", "1"]), help="Order of arccosine: step or ReLU.")
@click.option(
    "--features",
    type=Features(),
    default="auto",
    show_default=True,
    help="How many random features.",
)
@click.option(
    "--approximation",
    type=click.Choice(["auto", "exact", "features"]),
    default="auto",
    show_default=True,
    help="The exact kernel, or features of it.",
)
@click.option(
    "--alpha", type=click.FloatRange(0, min_open=True), help="Ridge parameter; else chosen."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the features.")
@click.option("--memory", help="Memory budget, such as 2GB.  [default: 1GB]")
@click.option(
    "--save", "-s", "path", type=click.Path(dir_okay=False, path_type=Path), help="The model file."
)
@click.option("--full", is_flag=True, help="Keep what error bars and further learning need.")
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
    mercer fit parts/ -t label --kernel arccosine --features 4096 -s model.mercer
    """
    from ..engine.config import config
    from ..machines import KernelClassifier, KernelRegressor

    path = options["path"]
    if path is not None and not path.absolute().parent.is_dir():
        raise click.UsageError(f"--save: the folder of {path} does not exist; make it first.")
    assert_exists(data)
    kernel, budget = _kernel(options), _budget(options["memory"])
    stream = open_rows(data, target, reading, options["drop"])
    task, why = settled_task(stream, options["task"], reading["decimal"])
    maker = KernelClassifier if task == "classification" else KernelRegressor
    model = maker(
        kernel,
        n_components=options["features"],
        approximation=options["approximation"],
        alpha=options["alpha"],
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


def _kernel(options: dict[str, Any]) -> Any:
    """Return the kernel that the options describe: an object, a name, or nothing."""
    from ..machines.auto.pilot import named_kernel

    name, depth, order = options["kernel"], options["depth"], options["order"]
    if depth is not None:
        if name not in ("nngp", "ntk"):
            raise click.UsageError("--depth goes with --kernel nngp or ntk.")
        return named_kernel(name, depth=depth)
    if order is not None:
        if name != "arccosine":
            raise click.UsageError("--order goes with --kernel arccosine.")
        return named_kernel(name, order=int(order))
    return name


def _budget(memory: str | None) -> dict[str, Any]:
    """Return the memory budget that was asked for, as an option of the engine."""
    from ..engine.config import parse_memory

    if memory is None:
        return {}
    try:
        return {"memory": parse_memory(memory)}
    except ValueError as error:
        raise click.UsageError(f"--memory: {error}") from error
