"""``python -m benchmarks.speed``: the quick set of speed benchmarks."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import out_option
from ..report import publish
from . import (
    arccosine,
    cluster,
    exact_kernels,
    feature_learning,
    landmarks,
    large_ridge,
    ntk,
    projections,
    random_fourier,
    reduction,
    ridge,
    sketches,
    stream,
    ternary,
    threads,
    zonal,
)

BENCHMARKS = {
    "random_fourier": random_fourier.run,
    "ntk": ntk.run,
    "arccosine": arccosine.run,
    "projections": projections.run,
    "sketches": sketches.run,
    "zonal": zonal.run,
    "ternary": ternary.run,
    "landmarks": landmarks.run,
    "ridge": ridge.run,
    "large_ridge": large_ridge.run,
    "exact_kernels": exact_kernels.run,
    "stream": stream.run,
    "cluster": cluster.run,
    "reduction": reduction.run,
    "feature_learning": feature_learning.run,
    "threads": threads.run,
}
#: Too slow for the quick set; run when it is named.
SLOW = {
    "landmarks",
    "ridge",
    "large_ridge",
    "exact_kernels",
    "stream",
    "cluster",
    "reduction",
    "feature_learning",
    "threads",
}


@click.command()
@click.option("--only", type=click.Choice(list(BENCHMARKS)), help="Run this one only.")
@click.option(
    "--repeats",
    type=click.IntRange(min=5),
    default=5,
    show_default=True,
    help="Calls of each case; the fastest counts.",
)
@out_option
def main(only: str | None, repeats: int, out: Path) -> None:
    """Measure time, memory and error against peers and against the machine's limit."""
    for name, run in BENCHMARKS.items():
        if only == name or (only is None and name not in SLOW):
            publish(f"speed_{name}", run(repeats), out)


if __name__ == "__main__":
    main()
