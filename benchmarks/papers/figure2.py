"""Error of neural tangent kernel entries: Figure 2 of "Random features for the NTK".

I. Han, H. Avron, N. Shoham, C. Kim and J. Shin (arXiv 2104.01351), section 5.1: the mean squared
error of all entries of the kernel matrix of MNIST images against the dimension of the features,
for networks of 1, 2 and 4 hidden layers. What differs: 2,000 images in place of 10,000; the
paper's own method splits its columns in halves, where the paper averages over nine splits;
Nyström features are added. Their landmarks are images outside those compared, as there are more
landmarks than compared images. Seconds are those of drawing the map and of its features, the
fastest of the seeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import NTK, GradientFeatures, NTKFeatures, NystromFeatures, TensorNTKFeatures

from ..report import Report, Table
from . import data
from .plot import Axis, Panel, draw

#: Images compared; the paper has 10,000.
N_ROWS = 2000
#: Images from which landmarks are drawn.
POOL_ROWS = 20_000
#: The most columns of a feature matrix: 1.3 GB for 2,000 rows.
MOST_COLUMNS = 160_000
#: The memory budget of a map, besides its result.
MEMORY = "500MB"
BLOCK_ROWS = 500
WARM_UP_ROWS = 20

#: Makes the unfitted map of a seed.
Maker = Callable[[int], Any]


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    n_rows: int
    depths: tuple[int, ...]
    n_seeds: int
    n_components: tuple[int, ...]
    widths: tuple[int, ...]
    steps: tuple[int, ...]


FULL = Sizes(
    N_ROWS,
    depths=(1, 2, 4),
    n_seeds=3,
    n_components=(512, 1024, 2048, 4096),
    widths=(2, 4, 8, 16, 32, 64, 128),
    steps=(2, 3, 4, 8, 16, 32, 64),
)
QUICK = Sizes(
    200, depths=(1, 2, 4), n_seeds=1, n_components=(128, 256), widths=(2, 4), steps=(2, 4)
)
NETWORK_MAPS = {
    "paper's random features": {"method": "random", "variant": "paper"},
    "random, improved": {"method": "random"},
    "polynomial sketch": {"method": "sketch"},
    "one-shot sketch": {"method": "one-shot"},
    "zonal": {"method": "zonal"},
}


def run(folder: Path, quick: bool = False) -> Report:
    """Return a table for each depth: a row for each method and dimension."""
    sizes = QUICK if quick else FULL
    images = data.mnist(folder)[0]
    X, pool = images[: sizes.n_rows], images[sizes.n_rows : sizes.n_rows + POOL_ROWS]
    with mercer.config(memory=MEMORY, progress=False):
        tables = [
            Table(f"depth L={depth}, MNIST n={len(X)}", rows_of(X, pool, depth, sizes))
            for depth in sizes.depths
        ]
    return Report(tables)


def rows_of(X: np.ndarray, pool: np.ndarray, depth: int, sizes: Sizes) -> list[dict[str, Any]]:
    """Return the errors of all methods for one depth."""
    K = NTK(depth=depth)(X.astype(np.float64)).astype(np.float32)
    rows, warm = [], set()
    for method, make in maps(depth, sizes, X.shape[1]):
        fitted_to = pool if method == "Nyström" else X
        if method not in warm:
            # Compiles what the method needs, outside the clock.
            make(0).fit(fitted_to[:WARM_UP_ROWS]).transform(X[:WARM_UP_ROWS])
            warm.add(method)
        rows.append({"method": method, "depth": depth, **measured(make, fitted_to, X, K, sizes)})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def maps(depth: int, sizes: Sizes, n_columns: int) -> Iterator[tuple[str, Maker]]:
    """Yield the name and the maker of every map of one depth."""
    for width in sizes.widths:
        yield (
            "network gradient",
            lambda seed, width=width: GradientFeatures(depth, width=width, random_state=seed),
        )
    for n_step in sizes.steps:
        n_relu = relu_columns(depth, n_step, n_columns)
        if 2 * n_step**depth * n_columns <= MOST_COLUMNS:
            options = {"n_step": n_step, "n_relu": n_relu}
            yield (
                "tensor products",
                lambda seed, options=options: TensorNTKFeatures(
                    depth, random_state=seed, **options
                ),
            )
    for m in sizes.n_components:
        for method, options in NETWORK_MAPS.items():
            yield (
                method,
                lambda seed, m=m, options=options: NTKFeatures(
                    depth, n_components=m, random_state=seed, **options
                ),
            )
        yield (
            "Nyström",
            lambda seed, m=m: NystromFeatures(
                NTK(depth), n_components=m, landmarks="uniform", random_state=seed
            ),
        )


def relu_columns(depth: int, n_step: int, n_columns: int) -> int:
    """Return ``n_relu`` of tensor features such that it accounts for half of the columns."""
    return max(1, round(n_step**depth * n_columns / sum(n_step**k for k in range(depth))))


def measured(
    make: Maker, fitted_to: np.ndarray, X: np.ndarray, K: np.ndarray, sizes: Sizes
) -> dict[str, Any]:
    """Return dimension and errors of a map, the mean over seeds, and its least time."""
    squares, seconds = [], []
    for seed in range(sizes.n_seeds):
        start = time.perf_counter()
        Z = make(seed).fit(fitted_to).transform(X)
        seconds.append(time.perf_counter() - start)
        dimension = Z.shape[1]
        squares.append(squared_error(Z, K))
        del Z
    return {
        "dimension": dimension,
        "MSE": float(np.mean(squares)) / K.size,
        "relative error": float(np.mean(np.sqrt(squares)) / np.linalg.norm(K)),
        "seconds": min(seconds),
    }


def squared_error(Z: np.ndarray, K: np.ndarray) -> float:
    """Return the squared Frobenius norm of ``Z Zᵀ - K``, by blocks of the upper triangle."""
    total = 0.0
    for i in range(0, len(Z), BLOCK_ROWS):
        for j in range(i, len(Z), BLOCK_ROWS):
            rows, columns = slice(i, i + BLOCK_ROWS), slice(j, j + BLOCK_ROWS)
            difference = Z[rows] @ Z[columns].T - K[rows, columns]
            share = float(np.square(difference).sum(dtype=np.float64))
            total += share if i == j else 2 * share
    return total


def picture(report: Report, path: Path) -> None:
    """Draw errors against the dimension, a panel for each depth."""
    panels = [Panel(table.title, table.rows) for table in report.tables]
    x = Axis("dimension", "dimension of the features")
    draw(path, panels, [x] * len(panels), Axis("MSE", "mean squared error of entries"))
