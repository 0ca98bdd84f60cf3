"""``python -m benchmarks.accuracy``: error at equal dimension, over many seeds."""

from __future__ import annotations

from pathlib import Path

import click

from ..report import RESULTS, publish
from . import arccosine, gaussian

BENCHMARKS = {"arccosine": arccosine.run, "gaussian": gaussian.run}


@click.command()
@click.option("--only", type=click.Choice(list(BENCHMARKS)), help="Run this one only.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    help="Folder of the results.  [default: benchmarks/results]",
)
def main(only: str | None, out: Path) -> None:
    """Measure the error of feature maps at equal dimension."""
    for name, run in BENCHMARKS.items():
        if only in (None, name):
            publish(f"accuracy_{name}", run(), out)


if __name__ == "__main__":
    main()
