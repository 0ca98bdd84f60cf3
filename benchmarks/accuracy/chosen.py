"""What the rules for maps are worth to a regression: held-out R² with the map they name.

Columns are standardised and soft-clipped; the other map is the one that the kernel has without a
look at rows. An arc-cosine kernel gets a constant column.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import ArcCosine, FeatureRidge, Gaussian, choose_map
from mercer.features.for_kernel import features_for

from ..report import Report, Table

TABLES = ("kin40k", "protein", "elevators", "pol", "bike", "powerplant")
MOST, TEST, SIZE, CONSTANT, LIMIT = 10_000, 0.3, 1024, 2.0, 3.0
#: Lengthscales over the median distance.
FACTORS = (1.0, 2.0)


def run(folder: Path) -> Report:
    """Return scores and times of both maps."""
    with mercer.config(progress=False):
        rows = [row for name in TABLES for row in compared(folder, name)]
    return Report([Table(f"R2 with {SIZE} features", rows)])


def compared(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return a line for each kernel, of one table."""
    X, y = table(folder, name)
    some = X[: round((1 - TEST) * len(X))]
    median = float(Gaussian("median").fitted_to(some).get_params()["lengthscale"])
    cases = [(f"Gaussian, {f:g} medians", Gaussian(f * median), X) for f in FACTORS]
    constant = np.full((len(X), 1), CONSTANT, dtype=X.dtype)
    cases.append(("arc-cosine", ArcCosine(1), np.hstack([X, constant])))
    return [measured({"table": name, "kernel": text}, k, rows, y) for text, k, rows in cases]


def table(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in random order, and targets."""
    with np.load(folder / "uci_regression" / f"{name}.npz") as content:
        X, y = content["X"].astype(float), content["y"].astype(float)
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X /= np.sqrt(1 + (X / LIMIT) ** 2)
    order = np.random.default_rng(0).permutation(len(X))[:MOST]
    return X[order].astype(np.float32), y[order]


def measured(row: dict[str, Any], kernel: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the scores with the map of the kernel alone, and with that of the rules."""
    n = round((1 - TEST) * len(X))
    choice = choose_map(kernel, X[:n], SIZE, 0)
    reach = choice.situation.reach
    row |= {"columns": X.shape[1], "reach": reach if np.isfinite(reach) else None}
    for name, features in (("plain", features_for(kernel, SIZE, 0)), ("chosen", choice.features)):
        start = time.process_time()
        model = FeatureRidge(features, selection=5).fit(X[:n], y[:n])
        seconds = time.process_time() - start
        row |= {f"{name} map": type(features).__name__, f"{name} R2": model.score(X[n:], y[n:])}
        row[f"{name} CPU s"] = seconds
    print(row, file=sys.stderr, flush=True)
    return row
