"""``python -m benchmarks.papers``: figures and tables of papers, with mercer's features."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import data_option, out_option
from ..report import publish
from . import figure1, figure2, mnist, protein

BENCHMARKS = {"figure1": figure1, "figure2": figure2, "protein": protein, "mnist": mnist}


@click.command()
@click.option("--only", type=click.Choice(list(BENCHMARKS)), help="Run this one only.")
@click.option("--quick", is_flag=True, help="Small sizes, to see that everything runs.")
@out_option
@data_option
def main(only: str | None, quick: bool, out: Path, data: Path | None) -> None:
    """Measure what papers printed again, and draw it."""
    if data is None:
        raise click.UsageError("The papers' data is needed: --data FOLDER (or MERCER_DATA).")
    for name, module in BENCHMARKS.items():
        if only in (None, name):
            report = module.run(data, quick)
            publish(f"papers_{name}", report, out)
            module.picture(report, out / f"papers_{name}.png")


if __name__ == "__main__":
    main()
