"""``python -m benchmarks.papers``: figures and tables of papers, with mercer's features."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import data_option, out_option
from ..report import publish
from . import (
    cntk,
    design,
    figure1,
    figure2,
    gegenbauer_ntk,
    gegenbauer_ridge,
    gegenbauer_series,
    irkm_epistasis,
    irkm_figures,
    irkm_mixing,
    irkm_table,
    irkm_tables,
    k_means,
    mnist,
    protein,
    ternary_adult,
    ternary_maps,
    ternary_memory,
    ternary_memory_large,
    ternary_sparsity,
    ternary_theory,
)

BENCHMARKS = {
    "figure1": figure1,
    "figure2": figure2,
    "protein": protein,
    "mnist": mnist,
    "gegenbauer_series": gegenbauer_series,
    "gegenbauer_ridge": gegenbauer_ridge,
    "gegenbauer_ntk": gegenbauer_ntk,
    "irkm_table": irkm_table,
    "irkm_figures": irkm_figures,
    "irkm_mixing": irkm_mixing,
    "irkm_epistasis": irkm_epistasis,
    "irkm_tables": irkm_tables,
    "cntk": cntk,
    "design": design,
    "k_means": k_means,
    "ternary_memory": ternary_memory,
    "ternary_memory_large": ternary_memory_large,
    "ternary_adult": ternary_adult,
    "ternary_sparsity": ternary_sparsity,
    "ternary_theory": ternary_theory,
    "ternary_maps": ternary_maps,
}
#: Those that need no data.
WITHOUT_DATA = (
    "gegenbauer_series",
    "irkm_table",
    "irkm_figures",
    "irkm_mixing",
    "irkm_epistasis",
    "ternary_theory",
)
#: Those that are smaller than in the paper unless the paper's size is asked for.
RESIZED = ("irkm_figures", "irkm_mixing", "irkm_epistasis")


@click.command()
@click.option("--only", type=click.Choice(list(BENCHMARKS)), help="Run this one only.")
@click.option("--quick", is_flag=True, help="Small sizes, as a test.")
@click.option(
    "--full-size",
    is_flag=True,
    help=f"The paper's sizes, which take hours, instead of smaller ones: {', '.join(RESIZED)}.",
)
@out_option
@data_option
def main(only: str | None, quick: bool, full_size: bool, out: Path, data: Path | None) -> None:
    """Repeat the experiments of papers, and draw the results."""
    if data is None and only not in WITHOUT_DATA:
        raise click.UsageError("The papers' data is needed: --data FOLDER (or MERCER_DATA).")
    for name, module in BENCHMARKS.items():
        if only in (None, name):
            options = {"full_size": full_size} if name in RESIZED else {}
            report = module.run(data, quick, **options)
            publish(f"papers_{name}", report, out)
            module.picture(report, out / f"papers_{name}.png")


if __name__ == "__main__":
    main()
