"""Ridge regression with the neural tangent kernel: Table 4 of "Random Gegenbauer features".

I. Han, A. Zandieh and H. Avron (ICML 2022), appendix J.1, with a network of two hidden layers;
the protocol and the data are those of Table 2 (see ``gegenbauer_ridge``). The protein table,
which the paper omits here, has an additional constant column: the kernel depends on the
angle alone. Maclaurin and PolySketch take the polynomial with non-negative coefficients that
is nearest to the kernel. NTK features layer by layer, and the one-shot sketch, are added.
"sphere x time" is the kernel of the coordinates times a Gaussian kernel of the time.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from mercer import (
    NTK,
    DotProductSketch,
    GegenbauerFeatures,
    NTKFeatures,
    NystromFeatures,
    PowerSeries,
)

from ..report import Report, Table, Target
from . import ridge_protocol
from .gegenbauer_ridge import PAPER, TIME_COLUMNS, sphere_and_time, stretched
from .maclaurin import RandomMaclaurin
from .ridge_protocol import FULL, QUICK, Candidate, Reference, Task

DEPTH = 2
#: Powers of the cosine that Maclaurin and PolySketch have.
SKETCH_DEGREE = 12
#: Lengthscales of the kernel of the time.
TIME_SCALES = (0.2, 0.5, 1.0)
OURS, REFERENCE = "Gegenbauer", "Nyström"
#: Methods of the paper that should have a larger error on elevation.
WORSE = ("Maclaurin", "PolySketch", "Gegenbauer, paper's")
#: What the paper printed: mean squared error and time.
PRINTED = {
    "elevation": {
        "Nyström": (0.61, 43.2),
        "Maclaurin": (2.88, 0.91),
        "PolySketch": (2.88, 7.64),
        "Gegenbauer, paper's": (0.94, 1.59),
    },
}


def run(folder: Path, quick: bool = False) -> Report:
    """Return error and time of the methods, a table for each data set."""
    sizes = QUICK if quick else FULL
    last = [ridge_protocol.protein(folder, sizes, constant=True)]
    tables = ridge_protocol.tables(
        chain(ridge_protocol.fields(folder, sizes), last),
        lambda task: makers(task, sizes.n_components),
        Reference(REFERENCE, PRINTED),
        sizes,
    )
    return Report(tables, [] if quick else targets(tables[0]))


def makers(task: Task, m: int) -> dict[str, list[Candidate]]:
    """Return the maps by method, with ``m`` columns."""
    kernel, near = NTK(DEPTH), PowerSeries.near(NTK(DEPTH), SKETCH_DEGREE)
    own = {"n_components": m, "random_state": 0}
    maps: dict[str, Any] = {
        "Nyström": NystromFeatures(kernel, landmarks="uniform", **own),
        "Maclaurin": RandomMaclaurin(near, **own),
        "PolySketch": DotProductSketch(near, degree=SKETCH_DEGREE, **own),
        "NTK, one-shot sketch": NTKFeatures(DEPTH, method="one-shot", **own),
        "NTK, random improved": NTKFeatures(DEPTH, method="random", **own),
        "NTK, random as of 2021": NTKFeatures(DEPTH, method="random", variant="paper", **own),
        "Gegenbauer, paper's": GegenbauerFeatures(kernel, **own, **PAPER),
        OURS: GegenbauerFeatures(kernel, **own),
    }
    found = {name: stretched(task, features, "") for name, features in maps.items()}
    if len(task.stretches) > 1:
        found["Gegenbauer, sphere x time"] = [
            Candidate(
                sphere_and_time(kernel, l, m, size),
                f"lengthscale of the time {l:g}, up to {size} columns for it",
            )
            for l in TIME_SCALES
            for size in TIME_COLUMNS
        ]
    return found


def targets(table: Table) -> list[Target]:
    """Return the targets: our error is below that of the paper's other random maps."""
    errors = {row["method"]: row["MSE"] for row in table.rows}
    name = table.title.partition(":")[0]
    return [
        Target(f"{name}: MSE of {OURS}, against {other}", "at most", errors[other], errors[OURS])
        for other in WORSE
    ]


def picture(report: Report, path: Path) -> None:
    """Draw error against time, a panel for each data set."""
    ridge_protocol.draw_tables(report.tables, path)
