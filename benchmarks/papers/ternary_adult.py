"""Mean squared error and time of ridge regression against memory on adult: Figure 4 of a paper.

"Random matrices in service of ML footprint: ternary random features with no performance loss"
(H. T. Ali, Z. Liao and R. Couillet, ICLR 2022). Labels -1 and 1 as numbers, columns standardised,
rows of length one; Gaussian kernel.

What differs: the paper's Census data (18,000 rows, p = 119) is not at hand; adult is of the same
survey and size, 16,000 rows to train on and 16,281, the official ones, to test on (the paper has
2,000). Bits are counted as stored, 2 of a ternary feature where the paper counts 1, and a sign,
the 1-bit variant, and ``WaveFeatures`` are not in the paper. There are 8,192 features at most,
where the paper has up to 50,000: the normal equations of more take minutes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mercer

from ..report import Report, Table, Target
from .plot import Axis, Panel, draw
from .ternary_budget import Plan, Split, table
from .ternary_memory import scaled
from .ternary_methods import FOURIER_8, NYSTROM_32, SIGN, TERNARY, WAVES, WAVES_1

#: Rows to train on, to choose on and to test on.
FULL, QUICK = (16_000, 8000, 16_281), (1000, 500, 500)
LENGTHSCALES = (1.0, 1.4, 2.0, 2.8, 4.0)
PLAN = Plan((1024, 4096, 16_384), (5, 3, 1), LENGTHSCALES, "mse")
QUICK_PLAN = Plan((512, 1024), (2, 1), (1.0, 2.0), "mse", fewest=16)


def run(folder: Path, quick: bool = False) -> Report:
    """Return errors and times of every method and budget."""
    split = adult(folder, QUICK if quick else FULL)
    with mercer.config(progress=False):
        rows = table(split, QUICK_PLAN if quick else PLAN)
    counts = f"{len(split.y):,} + {len(split.y_test):,} rows, d={split.X.shape[1]}"
    return Report([Table(f"adult: {counts}", rows)], targets(rows))


def adult(folder: Path, sizes: tuple[int, int, int]) -> Split:
    """Return rows of adult in float32; the official test rows are tested on, and no others."""
    with np.load(folder / "uci_classification" / "adult.npz") as file:
        X, y, is_test = file["X"], np.where(file["y"] == 1, 1.0, -1.0), file["is_test"] > 0
    generator = np.random.default_rng(0)
    known = generator.permutation(np.flatnonzero(~is_test))[: sizes[0] + sizes[1]]
    chosen = [known, generator.permutation(np.flatnonzero(is_test))[: sizes[2]]]
    rows = np.concatenate(chosen)
    return scaled(X[rows].astype(float), y[rows], sizes)


def targets(rows: list[dict[str, Any]]) -> list[Target]:
    """Return the errors of ternary features over those of their rivals at every budget."""
    found = {(row["method"], row["budget"]): row["mse"] for row in rows}
    return [
        Target(f"mse of {name} over {rival}, {budget:,} bits", "at most", 1.0, own / its)
        for name in (TERNARY, SIGN, WAVES, WAVES_1)
        for rival in (FOURIER_8, NYSTROM_32)
        for budget in sorted({row["budget"] for row in rows})
        if (own := found.get((name, budget))) and (its := found.get((rival, budget)))
    ]


def picture(report: Report, path: Path) -> None:
    """Draw the error against bits per row, and against time."""
    rows = report.tables[0].rows
    seconds = [{**row, "seconds": row["features s"] + row["solution s"]} for row in rows]
    panels = [Panel("adult", rows), Panel("adult: error and time", seconds)]
    x = Axis("bits per row", "bits of a row's features")
    time = Axis("seconds", "seconds of features and solution")
    draw(path, panels, [x, time], Axis("mse", "mean squared error on test rows", "linear"))
