"""``n_components="auto"``: the score that it reaches, and what that costs, against a full grid.

Scores are of test rows. The cost of the chosen size alone is that of a fit that is told it. Costs
are CPU seconds of all threads, which other work on the machine hardly changes, beside seconds.
The grid ends where the memory budget does: a larger map would not be chosen, nor fit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    Matern,
    RandomFourier,
)

from ..report import Report, Table, Target

#: The grid, all that the memory budget of five folds has room for; twice as many would not fit.
SIZES, MEMORY = (256, 512, 1024, 2048, 4096), "4GB"
#: Bounds: the share of the best score that may be missing, and the cost.
MISSING, COST = 0.02, 2.2
#: The share of the rows that tests, and the most rows to learn from.
TEST, MOST = 0.2, 100_000

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def protein(folder: Path) -> Data:
    """Return standardised columns, and the tenth of the rows that its first split tests."""
    with np.load(folder / "uci_regression" / "protein.npz") as content:
        X, y, test = content["X"], content["y"], content["test_mask"][:, 0] > 0
    X = (X - X[~test].mean(axis=0)) / X[~test].std(axis=0)
    return X[~test], y[~test], X[test], y[test]


def elevation(folder: Path) -> Data:
    """Return points uniform on the sphere, as unit vectors, and their heights in kilometres."""
    with np.load(folder / "sphere_elevation.npz") as content:
        lat, lon, value = (content[name].astype(float) for name in ("lat", "lon", "value"))
    generator = np.random.default_rng(0)
    lat, lon = np.deg2rad(lat), np.deg2rad(lon)
    # The grid is denser near the poles.
    share = np.cos(lat) / np.cos(lat).sum()
    some = generator.choice(len(lat), int(MOST / (1 - TEST)), replace=False, p=share)
    lat, lon, value = lat[some], lon[some], value[some] / 1000
    X = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return split(X.astype(np.float32), value)


def mnist(folder: Path) -> Data:
    """Return pixels between 0 and 1, and digits."""
    with np.load(folder / "mnist.npz") as content:
        parts = [content[name] for name in ("x_train", "y_train", "x_test", "y_test")]
    X, y, new, y_new = parts
    shapes = (len(X), -1), (len(new), -1)
    X, new = (
        one.reshape(shape).astype(np.float32) / 255
        for one, shape in zip((X, new), shapes, strict=True)
    )
    return X, y, new, y_new


def split(X: np.ndarray, y: np.ndarray) -> Data:
    """Return rows to learn from and to test on."""
    n = int(TEST * len(X))
    return X[n:], y[n:], X[:n], y[:n]


CASES: dict[str, tuple[Callable[[Path], Data], Any, type]] = {
    "protein": (protein, Matern(1.0, nu=1.5), FeatureRidge),
    "elevation": (elevation, Matern(0.3, nu=1.5), FeatureRidge),
    "mnist": (mnist, Gaussian(6.0), FeatureRidgeClassifier),
}


def run(folder: Path, sizes: tuple[int, ...] = SIZES, shrink: int = 1) -> Report:
    """Return scores and times of the grid and of the automatic number.

    Parameters
    ----------
    folder : Path
        Where the data sets are.
    sizes : tuple of int
        The grid.
    shrink : int, default=1
        Divides the rows.
    """
    tables, targets = [], []
    with mercer.config(progress=False, memory=MEMORY):
        for name, (load, kernel, machine) in CASES.items():
            X, y, new, y_new = load(folder)
            data = X[: len(X) // shrink], y[: len(y) // shrink], new, y_new
            # Compiles and loads what is needed.
            measured(data, kernel, machine, sizes[0])
            rows = [measured(data, kernel, machine, size) for size in sizes]
            automatic = measured(data, kernel, machine, "auto")
            chosen = automatic["chosen"]
            alone = [row for row in rows if row["features"] == chosen]
            alone = alone or [measured(data, kernel, machine, chosen)]
            missing = 1 - automatic["test score"] / max(row["test score"] for row in rows)
            cost, wall = (automatic[unit] / alone[0][unit] for unit in ("CPU s", "seconds"))
            title = f"{name}: n={len(data[0])} d={X.shape[1]}, {automatic.pop('path')}"
            tables.append(Table(title, [*rows, automatic]))
            targets += [
                Target(f"{name}: missing share of the best score", "at most", MISSING, missing),
                Target(f"{name}: CPU seconds over those of the chosen size", "at most", COST, cost),
                Target(f"{name}: seconds over those of the chosen size", "at most", COST, wall),
            ]
    return Report(tables, targets)


def measured(data: Data, kernel: Any, machine: type, size: Any) -> dict[str, Any]:
    """Return the score and the time of a machine with so many features."""
    X, y, new, y_new = data
    features = RandomFourier(kernel, n_components=size, random_state=0)
    start, processor = time.perf_counter(), time.process_time()
    # Copies of rows, which some tables have, make generalised cross-validation too good.
    model = machine(features, selection=5).fit(X, y)
    processor, seconds = time.process_time() - processor, time.perf_counter() - start
    row: dict[str, Any] = {
        "features": size,
        "chosen": model.features_.n_features_out_,
        "test score": float(model.score(new, y_new)),
        "expected R2": 1 - model.expected_error(),
        "CPU s": processor,
        "seconds": seconds,
    }
    if size == "auto":
        row["path"] = repr(model.growth_)
    print(row, file=sys.stderr, flush=True)
    return row
