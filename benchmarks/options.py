"""Options that the benchmarks' commands share."""

from __future__ import annotations

from pathlib import Path

import click

from .report import RESULTS

out_option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    help="Folder of the results.  [default: benchmarks/results]",
)

data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="MERCER_DATA",
    help="Folder of the data sets.  [env: MERCER_DATA]",
)
