"""Whether plans come true: memory and time of different fits, planned and measured.

Every fit runs in a process of its own, after a small one of the same kind that loads and compiles
what is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mercer
from mercer import (
    ArcCosineFeatures,
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelRegressor,
    KernelRidge,
    Laplace,
    NTKFeatures,
    NystromFeatures,
    PolynomialSketch,
    RandomFourier,
)

from ..report import Report, Table, Target
from ..runner import PeakMemory

#: Bounds: of memory as a share, of time as a factor.
MEMORY, TIME = 0.3, 2.0
REFUSED_WITHIN = 5.0
#: Rows of the fit that comes first.
WARM = 2500

#: Fits: rows, columns, dtype, classes (0: a regression), and the machine.
FITS: dict[str, tuple[int, int, str, int, Callable[[], Any]]] = {
    "FeatureRidge, RandomFourier 2,000": (
        *(100_000, 20, "float32", 0),
        lambda: FeatureRidge(RandomFourier(Gaussian(4.0), n_components=2000, random_state=0)),
    ),
    "FeatureRidge, RandomFourier 4,096, 5 folds": (
        *(60_000, 20, "float32", 0),
        lambda: FeatureRidge(
            RandomFourier(Gaussian(4.0), n_components=4096, random_state=0), selection=5
        ),
    ),
    "FeatureRidge, ArcCosine 2,000, float64, 5 folds": (
        *(50_000, 50, "float64", 0),
        lambda: FeatureRidge(ArcCosineFeatures(n_components=2000, random_state=0), selection=5),
    ),
    "FeatureRidgeClassifier, NTK 3,000, 10 classes": (
        *(40_000, 100, "float32", 10),
        lambda: FeatureRidgeClassifier(NTKFeatures(depth=2, n_components=3000, random_state=0)),
    ),
    "FeatureRidge, PolynomialSketch 2,048": (
        *(100_000, 100, "float32", 0),
        lambda: FeatureRidge(PolynomialSketch(degree=2, n_components=2048, random_state=0)),
    ),
    "FeatureRidge, Nystrom 1,500": (
        *(60_000, 20, "float32", 0),
        lambda: FeatureRidge(NystromFeatures(Gaussian(4.0), n_components=1500, random_state=0)),
    ),
    "FeatureRidge, more features than rows": (
        *(2000, 20, "float64", 0),
        lambda: FeatureRidge(RandomFourier(Gaussian(4.0), n_components=5000, random_state=0)),
    ),
    "KernelRidge, direct": (
        *(4000, 20, "float64", 0),
        lambda: KernelRidge(Gaussian(4.0), solver="direct"),
    ),
    "KernelRidge, direct, one alpha": (
        *(7000, 20, "float64", 0),
        lambda: KernelRidge(Laplace(4.0), alpha=0.1, solver="direct"),
    ),
    "KernelRidge, iterative": (
        *(20_000, 20, "float64", 0),
        lambda: KernelRidge(Laplace(4.0), solver="iterative"),
    ),
    "KernelRegressor, Gaussian, 2,048 features": (
        *(60_000, 10, "float64", 0),
        lambda: KernelRegressor("gaussian", n_components=2048),
    ),
    "KernelRegressor": (*(12_000, 8, "float64", 0), KernelRegressor),
}


def run(only: list[str] | None = None, shrink: int = 1) -> Report:
    """Return planned and measured memory and time, and how fast what cannot fit is refused.

    Parameters
    ----------
    only : list of str, optional
        Names of fits.
    shrink : int, default=1
        Divides the rows.
    """
    rows = []
    for name in only or FITS:
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.accuracy.plans", name, str(shrink)],
            check=True,
            capture_output=True,
            text=True,
        )
        rows.append({"fit": name, **json.loads(found.stdout.splitlines()[-1])})
        print(rows[-1], file=sys.stderr, flush=True)
    refused = refusals()
    targets = [
        Target(
            "largest difference of memory, as a share",
            *("at most", MEMORY, max(abs(row["memory ratio"] - 1) for row in rows)),
        ),
        Target(
            "largest factor of time",
            *("at most", TIME, max(max(r["time ratio"], 1 / r["time ratio"]) for r in rows)),
        ),
        Target(
            "seconds until a refusal",
            *("at most", REFUSED_WITHIN, max(row["seconds"] for row in refused)),
        ),
    ]
    tables = [Table("Planned over measured", rows), Table("What cannot fit in 1 GB", refused)]
    return Report(tables, targets)


def one(name: str, shrink: int) -> dict[str, Any]:
    """Return the plan of a fit, and what it took."""
    n_rows, n_columns, dtype, n_classes, make = FITS[name]
    n_rows //= shrink
    mercer.set_config(progress=False)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n_rows, n_columns)).astype(dtype)
    y: Any = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.standard_normal(n_rows)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    make().fit(X[:WARM], y[:WARM])
    start = time.perf_counter()
    planned = mercer.plan(X, make(), n_targets=max(1, n_classes))
    planning = time.perf_counter() - start
    start = time.perf_counter()
    with PeakMemory() as memory:
        make().fit(X, y)
    seconds = time.perf_counter() - start
    return {
        "rows": n_rows,
        "planned MB": planned.memory / 1e6,
        "measured MB": memory.growth / 1e6,
        "memory ratio": planned.memory / memory.growth,
        "planned s": planned.seconds,
        "measured s": seconds,
        "time ratio": planned.seconds / seconds,
        "planning s": planning,
    }


def refusals() -> list[dict[str, Any]]:
    """Return how long it takes to refuse what cannot fit."""
    X = np.random.default_rng(0).standard_normal((7000, 5))
    found = []
    with mercer.config(memory="1GB", progress=False):
        for asked in ({"n_components": 20_000}, {"approximation": "exact"}):
            start = time.perf_counter()
            try:
                KernelRegressor(**asked).fit(X, X[:, 0])
                raise RuntimeError(f"{asked} was not refused.")
            except MemoryError as error:
                seconds = time.perf_counter() - start
                found.append({"asked for": str(asked), "seconds": seconds, "error": str(error)})
    return found


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1], int(sys.argv[2]))))
