"""Condition numbers of arc-cosine features: Figure 1 of "Random features for the NTK".

I. Han, H. Avron, N. Shoham, C. Kim and J. Shin (arXiv 2104.01351), section 4.1. The quantity is
the ratio of the largest to the smallest eigenvalue of (A + αI)^(-1/2) (ΦΦᵀ + αI) (A + αI)^(-1/2),
with A the arc-cosine kernel of order 1 and α = 1e-4 n (λ in the paper); it is 1 for features that
reproduce the kernel. The paper does not name its three tables; here they are three of about a
thousand rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from mercer import ArcCosine, ArcCosineFeatures

from ..report import Report, Table
from . import data
from .plot import Axis, Panel, draw

DATA_SETS = ("concrete", "airfoil", "energy")
#: The ridge parameter over the number of rows.
ALPHA = 1e-4
METHODS = {
    "Cho & Saul": {"method": "plain", "sampling": "gaussian"},
    "norm-weighted, Gibbs sampler": {"method": "plain", "sampling": "gibbs"},
    "norm-weighted, exact": {"method": "plain", "sampling": "leverage"},
    "mercer's default": {},
}


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    n_components: tuple[int, ...]
    n_seeds: int
    n_rows: int | None


FULL = Sizes(tuple(range(100, 1001, 100)), n_seeds=5, n_rows=None)
QUICK = Sizes((100, 300, 1000), n_seeds=2, n_rows=200)


def run(folder: Path, quick: bool = False) -> Report:
    """Return a table of condition numbers for each data set."""
    sizes = QUICK if quick else FULL
    tables = []
    for name in DATA_SETS:
        X = data.unit_table(folder, name)[: sizes.n_rows]
        title = f"{name}: n={len(X)} d={X.shape[1]}"
        tables.append(Table(title, rows_of(X, sizes)))
    return Report(tables)


def rows_of(X: np.ndarray, sizes: Sizes) -> list[dict[str, Any]]:
    """Return a row for each method and dimension: mean and extremes over the seeds."""
    condition = Condition(X, ALPHA * len(X))
    rows = []
    for method, options in METHODS.items():
        for m in sizes.n_components:
            maps = [
                ArcCosineFeatures(order=1, n_components=m, random_state=seed, **options)
                for seed in range(sizes.n_seeds)
            ]
            found = [condition(features.fit_transform(X)) for features in maps]
            rows.append(
                {
                    "method": method,
                    "dimension": m,
                    "condition number": float(np.mean(found)),
                    "smallest": float(np.min(found)),
                    "largest": float(np.max(found)),
                }
            )
    return rows


class Condition:
    """The condition number of features relative to the exact kernel of the same rows."""

    def __init__(self, X: np.ndarray, alpha: float) -> None:
        A = ArcCosine(order=1)(X) + alpha * np.eye(len(X))
        self._factor = cholesky(A, lower=True)
        inverse = solve_triangular(self._factor, np.eye(len(X)), lower=True)
        self._ridge_part = alpha * inverse @ inverse.T

    def __call__(self, Z: np.ndarray) -> float:
        """Return the ratio of the extreme eigenvalues, which a Cholesky factor preserves."""
        W = solve_triangular(self._factor, Z, lower=True)
        values = eigvalsh(W @ W.T + self._ridge_part, overwrite_a=True)
        return float(values[-1] / values[0])


def picture(report: Report, path: Path) -> None:
    """Draw condition numbers against the dimension, a panel for each data set."""
    panels = [Panel(table.title, table.rows) for table in report.tables]
    x = Axis("dimension", "features m", "linear")
    draw(path, panels, [x] * len(panels), Axis("condition number", "condition number"))
