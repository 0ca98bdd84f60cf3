"""Test error against n = d^s: figures 1, 2, 3 and 8 of the paper of :mod:`.irkm_table`.

The paper has d = 500, and 100 in figure 8: ``--full-size``. By default d is smaller, which moves
what n = d^s means by constants and logarithms: a panel covers the range where methods differ.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..report import Report, Table
from .irkm_tasks import (
    NETWORKS,
    PAPER_NETWORKS,
    Network,
    Setting,
    fresh_error,
    network_error,
    reused_error,
    summary,
)

SETTINGS = (
    Setting("figure 1", "hypercube", "figure1", 100, (0.4, 0.6, 0.8, 1.0, 1.2, 1.4), 20),
    Setting("figure 2", "hypercube", "figure2", 100, (0.6, 0.7, 0.8, 0.9, 1.0, 1.2), 20),
    Setting("figure 3", "rotated", "figure3", 40, (1.0, 1.2, 1.4, 1.6, 1.8), 20, 30),
    Setting("figure 8A", "hypercube", "figure8", 40, (1.0, 1.2, 1.4, 1.6, 1.8), 20),
    Setting("figure 8B", "gaussian", "figure8", 40, (1.0, 1.2, 1.4, 1.6, 1.8), 20),
)
PAPER_SETTINGS = (
    Setting("figure 1", "hypercube", "figure1", 500, (0.3, 0.5, 0.7, 0.9, 1.1, 1.3), 20),
    Setting("figure 2", "hypercube", "figure2", 500, (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), 20),
    Setting("figure 3", "rotated", "figure3", 500, (0.8, 1.0, 1.1, 1.2, 1.3, 1.4), 20, 50),
    Setting("figure 8A", "hypercube", "figure8", 100, (1.0, 1.2, 1.4, 1.6, 1.8), 20),
    Setting("figure 8B", "gaussian", "figure8", 100, (1.0, 1.2, 1.4, 1.6, 1.8), 20),
)
QUICK_SETTINGS = tuple(replace(one, d=12, exponents=(0.8, 1.2), steps=3) for one in SETTINGS)
#: Seeds of the small sizes, of the paper's, and of a quick run.
SEEDS, PAPER_SEEDS, QUICK_SEEDS = 5, 10, 1

Method = Callable[[Setting, int, int], float]


def run(folder: Path | None = None, quick: bool = False, full_size: bool = False) -> Report:
    """Return a table of test errors for each panel."""
    settings, n_seeds, networks = SETTINGS, SEEDS, NETWORKS
    if quick:
        settings, n_seeds = QUICK_SETTINGS, QUICK_SEEDS
    elif full_size:
        settings, n_seeds, networks = PAPER_SETTINGS, PAPER_SEEDS, PAPER_NETWORKS
    return Report(
        [
            Table(f"{setting.title}, {n_seeds} seeds", rows_of(setting, n_seeds, networks))
            for setting in settings
        ]
    )


def methods(networks: tuple[Network, ...]) -> dict[str, Method]:
    """Return a function of setting, rows and seed for each method."""
    return {
        "kernel ridge, 2n rows": partial(reused_error, steps=0),
        "IRKM(0), n a step": partial(fresh_error, mixing=0.0),
        "IRKM(1/2), n a step": partial(fresh_error, mixing=0.5),
        "RFM(1/2), n a step": partial(fresh_error, mixing=0.5, matrix=True),
        "IRKM(1/2), 2n rows reused": reused_irkm,
        "network, 2n rows": partial(network_error, networks=networks),
    }


def reused_irkm(setting: Setting, n: int, seed: int) -> float:
    """Return the test error of IRKM(1/2) whose steps reuse the same 2n rows."""
    return reused_error(setting, n, seed, setting.steps)


def rows_of(setting: Setting, n_seeds: int, networks: tuple[Network, ...]) -> list[dict[str, Any]]:
    """Return a row for each method and number of rows."""
    rows = []
    for name, method in methods(networks).items():
        for exponent, n in setting.rows():
            start = time.perf_counter()
            errors = [method(setting, n, seed) for seed in range(n_seeds)]
            rows.append(summary({"method": name, "s": exponent, "n": n}, errors, start))
            print(f"{setting.name}: {rows[-1]}", file=sys.stderr, flush=True)
    return rows


def picture(report: Report, path: Path) -> None:
    """Draw mean errors against s, a panel for each figure."""
    # Where the results are computed there may be nothing to draw with.
    from .plot import Axis, Panel, draw

    panels = [Panel(", ".join(table.title.split(", ")[:2]), table.rows) for table in report.tables]
    x = Axis("s", "log n / log d", "linear")
    y = Axis("mean MSE", "mean test MSE (noise 0.01)")
    draw(path, panels, [x] * len(panels), y)
