"""Ridge regression with the Gaussian kernel: Table 2 of "Random Gegenbauer features".

I. Han, A. Zandieh and H. Avron (ICML 2022), section 6.2; the protocol is that of
``ridge_protocol``. What differs: the paper has heights of a coarser grid (64,800 cells), and
carbon dioxide and temperatures of twelve months on the sphere, where this benchmark has
temperatures of the sea surface and winds; every map chooses its lengthscale from one grid, which
the paper does not describe; Nyström landmarks are drawn uniformly, the paper's by leverage
scores.

Rows are points of the sphere, with the time as a fourth column where there is one. There the
Gaussian kernel is a product of a kernel of the coordinates and one of the time: "sphere x time"
are all products of spherical harmonics and a map of the line, for the same kernel as all others.
Its two sizes are chosen together with the lengthscale; the factor of the time is chosen for every
map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mercer import (
    DotProductSketch,
    Exponential,
    Gaussian,
    GegenbauerFeatures,
    Kernel,
    NystromFeatures,
    ProductFeatures,
    RandomFourier,
)

from ..report import Report, Table, Target
from . import ridge_protocol
from .damped import DampedFeatures
from .maclaurin import RandomMaclaurin
from .ridge_protocol import FULL, QUICK, Candidate, Reference, Task

#: Lengthscales in radii of the sphere, and in standard deviations of the columns.
ON_SPHERE = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 1.0)
WITH_TIME = (0.08, 0.12, 0.2, 0.3, 0.5)
IN_SPACE = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)
#: Columns of the map of the time; the harmonics of the coordinates get the others.
TIME_COLUMNS = (3, 4, 6, 8, 12)
#: Powers of the inner product that PolySketch has. On the sphere they span 21² functions.
SKETCH_DEGREE = 20
#: The map as the paper has it.
PAPER = {"signs": "plus", "exact": 0, "fold": False, "directions": "iid"}
OURS, REFERENCE = "Gegenbauer", "Fourier"
#: Methods that should have a larger error on elevation; Nyström is only reported.
WORSE = ("Fourier", "Fourier, orthogonal", "Fastfood", "Maclaurin", "PolySketch")
#: What the paper printed: mean squared error and time.
PRINTED = {
    "elevation": {
        "Nyström": (1.14, 3.81),
        "Fourier": (1.30, 2.10),
        "Fastfood": (1.35, 7.79),
        "Maclaurin": (1.90, 1.07),
        "PolySketch": (1.56, 7.65),
        "Gegenbauer, paper's": (1.15, 1.71),
    },
    "protein": {
        "Nyström": (18.9, 2.85),
        "Fourier": (19.8, 1.66),
        "Fastfood": (19.8, 4.94),
        "Maclaurin": (25.9, 1.05),
        "PolySketch": (26.9, 4.96),
        "Gegenbauer, paper's": (21.0, 9.72),
    },
}


def run(folder: Path, quick: bool = False) -> Report:
    """Return error and time of the methods, a table for each data set."""
    sizes = QUICK if quick else FULL
    last = [ridge_protocol.protein(folder, sizes)]
    tables = ridge_protocol.tables(
        chain(ridge_protocol.fields(folder, sizes), last),
        lambda task: makers(task, lengthscales(task)[:: 3 if quick else 1], sizes.n_components),
        Reference(REFERENCE, PRINTED),
        sizes,
    )
    return Report(tables, [] if quick else targets(tables[0]))


def lengthscales(task: Task) -> tuple[float, ...]:
    """Return the grid that every map chooses from."""
    if task.area is None:
        return IN_SPACE
    return ON_SPHERE if len(task.stretches) == 1 else WITH_TIME


def makers(task: Task, grid: Sequence[float], m: int) -> dict[str, list[Candidate]]:
    """Return the candidates of every method, with at most ``m`` columns."""

    def each(make: Callable[[float], Any]) -> list[Candidate]:
        return [
            candidate for l in grid for candidate in stretched(task, make(l), f"lengthscale {l:g}")
        ]

    def fourier(projection: str) -> list[Candidate]:
        # Norms of the frequencies are independent, as in the papers.
        options = {"projection": projection, "stratified": False, "random_state": 0}
        return each(lambda l: RandomFourier(Gaussian(l), n_components=m, **options))

    def zonal(**options: Any) -> list[Candidate]:
        return each(
            lambda l: GegenbauerFeatures(Gaussian(l), n_components=m, random_state=0, **options)
        )

    powers = DotProductSketch(Exponential(), n_components=m, degree=SKETCH_DEGREE, random_state=0)
    maclaurin = RandomMaclaurin(Exponential(), n_components=m)
    found = {
        "Nyström": each(
            lambda l: NystromFeatures(
                Gaussian(l), n_components=m, landmarks="uniform", random_state=0
            )
        ),
        "Fourier": fourier("gaussian"),
        "Fourier, orthogonal": fourier("orthogonal"),
        "Fastfood": fourier("fastfood"),
        "Maclaurin": each(lambda l: DampedFeatures(maclaurin, l)),
        "PolySketch": each(lambda l: DampedFeatures(powers, l)),
        "Gegenbauer, paper's": zonal(**PAPER),
        OURS: zonal(),
    }
    if len(task.stretches) > 1:
        found["Gegenbauer, sphere x time"] = [
            candidate
            for l in grid
            for size in TIME_COLUMNS
            for candidate in stretched(
                task,
                sphere_and_time(Gaussian(l), l, m, size),
                f"lengthscale {l:g}, up to {size} columns for the time",
            )
        ]
    return found


def stretched(task: Task, features: Any, note: str) -> list[Candidate]:
    """Return a candidate for each factor of the time."""
    if len(task.stretches) == 1:
        return [Candidate(features, note)]
    notes = [note] if note else []
    return [
        Candidate(features, ", ".join([*notes, f"time times {s:g}"]), s) for s in task.stretches
    ]


def sphere_and_time(kernel: Kernel, lengthscale: float, m: int, size: int) -> ProductFeatures:
    """Return products of a map of the coordinates and a map of the time with ``size`` columns."""
    maps = [
        GegenbauerFeatures(kernel, n_components=m // size),
        GegenbauerFeatures(Gaussian(lengthscale), n_components=size),
    ]
    return ProductFeatures(maps, [[0, 1, 2], [3]], random_state=0)


def targets(table: Table) -> list[Target]:
    """Return the targets: our error is below that of the others at equal dimension."""
    errors = {row["method"]: row["MSE"] for row in table.rows}
    name = table.title.partition(":")[0]
    return [
        Target(f"{name}: MSE of {OURS}, against {other}", "at most", errors[other], errors[OURS])
        for other in WORSE
    ]


def picture(report: Report, path: Path) -> None:
    """Draw error against time, a panel for each data set."""
    ridge_protocol.draw_tables(report.tables, path)
