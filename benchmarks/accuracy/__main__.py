"""``python -m benchmarks.accuracy``: error at equal dimension, and of models on real tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ..options import data_option, out_option
from ..report import publish
from . import (
    arccosine,
    choice,
    chosen,
    dimension,
    gaussian,
    intervals,
    landmarks,
    logistic,
    peers,
    plans,
    solver,
    tables,
    zonal,
)

BENCHMARKS = {
    "arccosine": arccosine.run,
    "gaussian": gaussian.run,
    "zonal": zonal.run,
    "intervals": intervals.run,
    "plans": plans.run,
    "choice": choice.run,
}
#: Those that need a folder of data, and take long; run with ``--only``.
ON_DATA = ("tables", "solver", "logistic", "landmarks", "peers", "dimension", "chosen")


def names(allowed: tuple[str, ...]) -> Any:
    """Return the reader of an option that takes some of the names, separated by commas."""

    def read(context: click.Context, option: click.Parameter, value: str | None) -> list[str]:
        chosen = value.split(",") if value else list(allowed)
        unknown = [name for name in chosen if name not in allowed]
        if unknown:
            raise click.BadParameter(f"{', '.join(unknown)}: not one of {', '.join(allowed)}.")
        return chosen

    return read


@click.command()
@click.option("--only", type=click.Choice([*BENCHMARKS, *ON_DATA]), help="Run this one only.")
@out_option
@data_option
@click.option(
    "--tables", callback=names(peers.TABLES), help="peers, logistic: these tables, as a,b."
)
@click.option("--methods", callback=names(peers.METHODS), help="peers: these methods, as a,b.")
@click.option(
    "--seconds",
    default=300.0,
    show_default=True,
    help="peers: a case that takes longer is stopped.",
)
@click.option("--threads", default=2, show_default=True, help="peers: threads of a case.")
@click.option(
    "--python-peers",
    type=click.Path(exists=True, dir_okay=False),
    default=sys.executable,
    help="peers: the interpreter of lgbm and xrfm.  [default: this one]",
)
@click.option("--device", default="cpu", show_default=True, help="peers: cpu or cuda, for xrfm.")
@click.option("--again", is_flag=True, help="peers: measure anew what is there already.")
def main(only: str | None, out: Path, data: Path | None, **options: Any) -> None:
    """Measure the error of feature maps at equal dimension, and of models on real tables."""
    if only in ON_DATA:
        if data is None:
            raise click.UsageError(f"--only {only} needs --data FOLDER (or MERCER_DATA).")
        if only == "peers":
            peers.run(data, out, peers.Options(**options))
        elif only == "logistic":
            publish("accuracy_logistic", logistic.run(data, out, options["tables"]), out)
        else:
            found = {
                "tables": tables.run,
                "solver": solver.run,
                "landmarks": landmarks.run,
                "dimension": dimension.run,
                "chosen": chosen.run,
            }[only or ""]
            publish(f"accuracy_{only}", found(data), out)
        return
    for name, run in BENCHMARKS.items():
        if only in (None, name):
            publish(f"accuracy_{name}", run(), out)


if __name__ == "__main__":
    main()
