"""Learning from a Parquet folder that need not fit in memory, against its matrix products."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from scipy.linalg import blas

from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.io import TableStream

from ..report import Report, Table
from ..runner import REST, PeakMemory, check

N_FEATURES, N_COMPONENTS, BLOCK = 30, 2048, 4096
ROWS = (250_000, 1_000_000)
#: Rows in a file of the folder.
FILE_ROWS = 125_000


def run(repeats: int) -> Report:
    """Return the time over that of the two products, and peak memory, for two lengths of the table.

    One call each: it takes long enough for noise not to matter.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        # Import and compile before memory is measured.
        warm_up = write(Path(folder) / "warm up", FILE_ROWS // 5)
        machine().fit(TableStream(warm_up, target="y"))
        for n in ROWS:
            table = TableStream(write(Path(folder) / str(n), n), target="y")
            time.sleep(REST)
            limit = products_seconds(n)
            time.sleep(REST)
            with PeakMemory() as memory:
                start = time.perf_counter()
                model = machine().fit(table)
                seconds = time.perf_counter() - start
            rows.append(
                {
                    "case": f"n={n}",
                    "time / limit": seconds / limit,
                    "seconds": seconds,
                    "extra MB": memory.growth / 1e6,
                    "mean squared error": float(model.solution_.residual[0]),
                }
            )
    table = Table(f"Parquet folder, d={N_FEATURES} m={N_COMPONENTS} float32", rows)
    targets = [check(table, f"n={n}", "time / limit", "at most", 1.5) for n in ROWS]
    targets += [check(table, f"n={n}", "extra MB", "at most", 600.0) for n in ROWS]
    return Report([table], targets)


def machine() -> FeatureRidge:
    """Return the machine that is measured."""
    features = RandomFourier(Gaussian(5.0), n_components=N_COMPONENTS, random_state=0)
    return FeatureRidge(features)


def write(folder: Path, n: int) -> Path:
    """Write a table of ``n`` rows as a folder of Parquet files; return the folder."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    for number, start in enumerate(range(0, n, FILE_ROWS)):
        size = min(FILE_ROWS, n - start)
        X = generator.standard_normal((size, N_FEATURES), dtype=np.float32)
        noise = 0.1 * generator.standard_normal(size, dtype=np.float32)
        columns = {f"x{j}": X[:, j] for j in range(N_FEATURES)}
        y = np.sin(X[:, 0]) * X[:, 1] + noise
        pyarrow.parquet.write_table(
            pyarrow.table({**columns, "y": y}),
            folder / f"{number:03d}.parquet",
            row_group_size=16_384,
        )
    return folder


def products_seconds(n: int) -> float:
    """Return the time of X W and Z'Z for ``n`` rows, block by block into allocated buffers."""
    X = np.ones((BLOCK, N_FEATURES), dtype=np.float32)
    W = np.ones((N_FEATURES, N_COMPONENTS // 2), dtype=np.float32)
    Z = np.random.default_rng(0).standard_normal((BLOCK, N_COMPONENTS), dtype=np.float32)
    gram = np.zeros((N_COMPONENTS, N_COMPONENTS), dtype=np.float32, order="F")
    phases = np.empty((BLOCK, N_COMPONENTS // 2), dtype=np.float32)
    start = time.perf_counter()
    for _ in range(n // BLOCK):
        np.matmul(X, W, out=phases)
        blas.ssyrk(1.0, Z.T, c=gram, overwrite_c=1)
    return time.perf_counter() - start
