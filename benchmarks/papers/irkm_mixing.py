"""Test error against `mixing`, the paper's α: figure 9 of the paper of :mod:`.irkm_table`.

The lines of a panel are numbers of rows n = d^s. The paper has d = 500 in panels (a) and (c):
``--full-size``. The exponents are ours; they are where the mixing matters.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..report import Report, Table
from .irkm_tasks import Setting, fresh_error, summary
from .plot import Axis, Panel, draw

MIXINGS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
QUICK_MIXINGS = (0.0, 0.5, 1.0)
SETTINGS = (
    Setting("(a) IRKM, figure 2's", "hypercube", "figure2", 100, (0.8, 0.9, 1.0), 20),
    Setting("(b) IRKM, leap 2, signs", "hypercube", "figure9", 100, (1.2, 1.3, 1.4), 20),
    Setting("(c) RFM, figure 3's", "rotated", "figure3", 40, (1.2, 1.4, 1.6), 20, 30),
    Setting("(d) IRKM, leap 2, normal rows", "gaussian", "figure9", 100, (1.2, 1.3, 1.4), 20),
)
PAPER_SIZE = 500
#: Panels of that size, and the steps of RFM in them.
LARGE, LARGE_STEPS = ("(a)", "(c)"), 50
#: Seeds of the small sizes, of the paper's, and of a quick run.
SEEDS, PAPER_SEEDS, QUICK_SEEDS = 5, 10, 1


def run(folder: Path | None = None, quick: bool = False, full_size: bool = False) -> Report:
    """Return a table of test errors for each panel."""
    settings, n_seeds, mixings = SETTINGS, SEEDS, MIXINGS
    if quick:
        settings = tuple(replace(one, d=12, exponents=(1.0,), steps=3) for one in SETTINGS)
        n_seeds, mixings = QUICK_SEEDS, QUICK_MIXINGS
    elif full_size:
        settings, n_seeds = tuple(paper_size(one) for one in SETTINGS), PAPER_SEEDS
    return Report(
        [
            Table(f"{setting.title}, {n_seeds} seeds", rows_of(setting, mixings, n_seeds))
            for setting in settings
        ]
    )


def paper_size(setting: Setting) -> Setting:
    """Return a panel as large as in the paper."""
    if setting.name[:3] not in LARGE:
        return setting
    exponents = tuple(round(s - 0.2, 1) for s in setting.exponents)
    return replace(setting, d=PAPER_SIZE, exponents=exponents, rotated_steps=LARGE_STEPS)


def rows_of(setting: Setting, mixings: tuple[float, ...], n_seeds: int) -> list[dict[str, Any]]:
    """Return a row for each number of rows and mixing."""
    rows, matrix = [], "RFM" in setting.name
    for number, (exponent, n) in enumerate(setting.rows()):
        line = {"method": f"{ordinal(number)} n of the panel", "s": exponent, "n": n}
        for mixing in mixings:
            start = time.perf_counter()
            errors = [fresh_error(setting, n, seed, mixing, matrix) for seed in range(n_seeds)]
            rows.append(summary({**line, "mixing": mixing}, errors, start))
            print(f"{setting.name}: {rows[-1]}", file=sys.stderr, flush=True)
    return rows


def ordinal(number: int) -> str:
    """Return the label of a line, the same in every panel."""
    return ("least", "middle", "largest")[number]


def picture(report: Report, path: Path) -> None:
    """Draw mean errors against the mixing, a line for each number of rows."""
    panels = []
    for table in report.tables:
        names = ", ".join(str(n) for n in dict.fromkeys(row["n"] for row in table.rows))
        panels.append(Panel(f"{table.title.partition(':')[0]}, n = {names}", table.rows))
    x = Axis("mixing", "mixing (α in the paper)", "linear")
    y = Axis("mean MSE", "mean test MSE (noise 0.01)")
    draw(path, panels, [x] * len(panels), y)
