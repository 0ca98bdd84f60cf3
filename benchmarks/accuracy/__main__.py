"""``python -m benchmarks.accuracy``: error at equal dimension, over many seeds."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import data_option, out_option
from ..report import publish
from . import arccosine, gaussian, tables, zonal

BENCHMARKS = {"arccosine": arccosine.run, "gaussian": gaussian.run, "zonal": zonal.run}
#: Those that need a folder of data, and take long; run with ``--only``.
ON_DATA = {"tables": tables.run}


@click.command()
@click.option("--only", type=click.Choice([*BENCHMARKS, *ON_DATA]), help="Run this one only.")
@out_option
@data_option
def main(only: str | None, out: Path, data: Path | None) -> None:
    """Measure the error of feature maps at equal dimension, and of models on real tables."""
    if only in ON_DATA:
        if data is None:
            raise click.UsageError(f"--only {only} needs --data FOLDER (or MERCER_DATA).")
        publish(f"accuracy_{only}", ON_DATA[only](data), out)
        return
    for name, run in BENCHMARKS.items():
        if only in (None, name):
            publish(f"accuracy_{name}", run(), out)


if __name__ == "__main__":
    main()
