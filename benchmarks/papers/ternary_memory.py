"""Accuracy against the memory of stored features on covtype: Figure 1 of a paper.

"Random matrices in service of ML footprint: ternary random features with no performance loss"
(H. T. Ali, Z. Liao and R. Couillet, ICLR 2022). The second class against the rest, columns
standardised, rows of length one; Gaussian kernel.

What differs: 20,000 of the 418,000 training rows and 30,000 of the 116,000 test rows, drawn at
random; ridge classification in place of logistic regression by stochastic gradients, so that no
step size has to be chosen. Bits are counted as stored, 2 of a ternary feature where the paper
counts 1; where the lengthscale is short the thresholds have values 0 and 1, which cost one bit. A
sign, the 1-bit variant, and ``WaveFeatures`` are not in the paper. Beyond 8,192 features those of
two bits are solved by inner products of rows; of others so many take minutes, and the paper's
50,000 of them are left out. The largest budget is a benchmark of its own, ``ternary_memory_large``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mercer

from ..report import Report, Table, Target
from . import data
from .plot import Axis, Panel, draw
from .ternary_budget import Plan, Split, table
from .ternary_methods import FOURIER_8, NYSTROM_32, SIGN, TERNARY, WAVES, WAVES_1

#: Rows to train on, to choose on and to test on.
FULL, QUICK = (20_000, 10_000, 30_000), (1000, 500, 500)
LENGTHSCALES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
PLAN = Plan((1024, 4096, 8192, 16_384), (5, 3, 1, 1), LENGTHSCALES, "accuracy")
QUICK_PLAN = Plan((512, 2048), (2, 1), (0.4, 1.4), "accuracy", fewest=16, most_primal=1500)


def run(folder: Path, quick: bool = False, plan: Plan = PLAN) -> Report:
    """Return accuracy and times of every method and budget."""
    split = covtype(folder, QUICK if quick else FULL)
    with mercer.config(progress=False):
        rows = table(split, QUICK_PLAN if quick else plan)
    counts = f"{len(split.y):,} + {len(split.y_test):,} rows, d={split.X.shape[1]}"
    return Report([Table(f"covtype, two classes: {counts}", rows)], targets(rows))


def covtype(folder: Path, sizes: tuple[int, int, int]) -> Split:
    """Return rows of covtype, drawn at random, in float32."""
    with np.load(folder / "uci_classification" / "covtype.npz") as file:
        X, y = file["X"], np.where(file["y"] == 1, 1.0, -1.0)
    chosen = np.random.default_rng(0).permutation(len(X))[: sum(sizes)]
    return scaled(X[chosen].astype(float), y[chosen], sizes)


def scaled(X: np.ndarray, y: np.ndarray, sizes: tuple[int, int, int]) -> Split:
    """Return consecutive parts, columns standardised by the first one, rows of length one."""
    first, second = sizes[0], sizes[0] + sizes[1]
    std = X[:first].std(axis=0)
    X = (X - X[:first].mean(axis=0))[:, std > 0] / std[std > 0]
    X = data.unit(X).astype(np.float32)
    return Split(X[:first], y[:first], X[first:second], y[first:second], X[second:], y[second:])


def targets(rows: list[dict[str, Any]]) -> list[Target]:
    """Return what ternary features gain over their rivals at every budget, in percent."""
    found = {(row["method"], row["budget"]): row["accuracy %"] for row in rows}
    every = []
    for name in (TERNARY, SIGN, WAVES, WAVES_1):
        for rival in (FOURIER_8, NYSTROM_32):
            for budget in sorted({row["budget"] for row in rows}):
                pair = found.get((name, budget)), found.get((rival, budget))
                if None not in pair:
                    label = f"accuracy of {name} less {rival}, {budget:,} bits, in %"
                    every.append(Target(label, "at least", 0.0, pair[0] - pair[1]))
    return every


def picture(report: Report, path: Path) -> None:
    """Draw accuracy against bits per row."""
    rows = report.tables[0].rows
    x = Axis("bits per row", "bits of a row's features")
    panel = Panel("covtype, two classes", rows)
    seconds = [{**row, "seconds": row["features s"] + row["solution s"]} for row in rows]
    time = Axis("seconds", "seconds of features and solution")
    panels = [panel, Panel("covtype: accuracy and time", seconds)]
    draw(path, panels, [x, time], Axis("accuracy %", "accuracy on test rows in %", "linear"))
