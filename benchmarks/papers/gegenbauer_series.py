"""Error of series of kernel functions: Figure 1 of "Random Gegenbauer features".

I. Han, A. Zandieh and H. Avron (ICML 2022), section 6.1: the error on [-1, 1] of a truncated
series, for exp(2x), a Gaussian kernel of unit rows up to a constant, and for the neural
tangent kernel of two hidden layers ("two-layer" in the paper). The series are Taylor's, which
is the limit of many dimensions, Chebyshev's, which is that of two, and Gegenbauer's of 4, 8
and 32 dimensions. The paper shows the largest error and prints no numbers; the root of the
mean square is added here. No data is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer import NTK, Exponential, Kernel
from mercer.kernels import zonal_coefficients
from mercer.kernels.taylor import cosine_taylor
from mercer.ops.gegenbauer import legendre

from ..report import Report, Table, Target
from .plot import Axis, Panel, draw

DIMENSIONS = (2, 4, 8, 32)
DEGREE = 15
#: Points of [-1, 1], both ends among them.
POINTS = 20_001
FUNCTIONS = {
    "exp(2x)": Exponential(lengthscale=0.5**0.5),
    "NTK, two hidden layers": NTK(depth=2),
}
TAYLOR = "Taylor"


def run(folder: Path | None = None, quick: bool = False) -> Report:
    """Return a table for each function: a row for each series and degree."""
    x = np.linspace(-1, 1, 201 if quick else POINTS)
    tables = [Table(name, rows_of(kernel, x)) for name, kernel in FUNCTIONS.items()]
    return Report(tables, [target for table in tables for target in targets(table)])


def rows_of(kernel: Kernel, x: np.ndarray) -> list[dict[str, Any]]:
    """Return the errors of all series of one function."""
    exact = kernel(np.column_stack([x, np.sqrt((1 - x) * (1 + x))]), np.asarray([[1.0, 0.0]]))[:, 0]
    rows = []
    for method, terms in series(kernel, x):
        sums = np.zeros_like(x)
        for degree, term in enumerate(terms):
            sums += term
            errors = np.abs(sums - exact)
            rows.append(
                {
                    "method": method,
                    "degree": degree,
                    "largest error": float(errors.max()),
                    "rms error": float(np.sqrt(np.mean(errors**2))),
                }
            )
    return rows


def series(kernel: Kernel, x: np.ndarray) -> Iterator[tuple[str, Iterator[np.ndarray]]]:
    """Yield the name of every series, and its terms at ``x``."""
    powers = cosine_taylor(kernel, 1.0, DEGREE)
    yield TAYLOR, (c * x**j for j, c in enumerate(powers))
    for d in DIMENSIONS:
        coefficients = zonal_coefficients(kernel, d, DEGREE)
        terms = zip(coefficients, legendre(x, d, DEGREE), strict=True)
        yield label(d), (c * polynomial for c, polynomial in terms)


def label(dimension: int) -> str:
    """Return the label of the series of a dimension."""
    return "Chebyshev (d = 2)" if dimension == 2 else f"Gegenbauer, d = {dimension}"


def targets(table: Table) -> list[Target]:
    """Return the paper's claims as targets: every series has a smaller error than Taylor's."""
    last = {row["method"]: row["largest error"] for row in table.rows if row["degree"] == DEGREE}
    return [
        Target(f"{table.title}: {name} at degree {DEGREE}", "at most", last[TAYLOR], last[name])
        for name in last
        if name != TAYLOR
    ]


def picture(report: Report, path: Path) -> None:
    """Draw the largest errors against the degree, a panel for each function."""
    panels = [Panel(table.title, table.rows) for table in report.tables]
    x = Axis("degree", "degree of the series", "linear")
    y = Axis("largest error", "largest error on [-1, 1]")
    draw(path, panels, [x] * len(panels), y, one_scale=False)
