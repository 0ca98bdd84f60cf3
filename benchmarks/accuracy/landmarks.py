"""What Nyström features miss of a kernel's trace, by the way their landmarks are chosen.

Tables standardised, the Gaussian kernel with the median distance for a lengthscale, all rows;
the mean of some seeds. The trace error is the share of Σ k(x, x) that is not in the features.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import Gaussian, NystromFeatures

from ..report import Report, Table, Target

TABLES = ("protein", "adult", "magic", "shuttle", "letter")
N_COMPONENTS = (64, 256, 1024)
SEEDS = 3
WAYS = ("uniform", "kmeans++", "leverage", "rpcholesky")
PEER, DEFAULT = "scikit-learn", "rpcholesky"


def run(folder: Path) -> Report:
    """Return the trace errors of every table, number of landmarks and choice."""
    tables, targets = [], []
    with mercer.config(progress=False):
        for name in TABLES:
            X = rows_of(folder, name)
            lengthscale = float(Gaussian("median").fitted_to(X).lengthscale)
            rows = [errors(X, lengthscale, m) for m in N_COMPONENTS]
            tables.append(Table(f"{name}: {len(X):,} rows, d={X.shape[1]}", rows))
            targets += [
                Target(
                    f"{name}, m={row['m']}: {DEFAULT} / {PEER}",
                    "at most",
                    1.0,
                    row[DEFAULT] / row[PEER],
                )
                for row in rows
            ]
    return Report(tables, targets)


def rows_of(folder: Path, name: str) -> np.ndarray:
    """Return the rows of a table, standardised."""
    kind = "uci_regression" if name == "protein" else "uci_classification"
    with np.load(folder / kind / f"{name}.npz") as file:
        X = file["X"].astype(float)
    return np.asarray(StandardScaler().fit_transform(X[:, X.std(axis=0) > 0]))


def errors(X: np.ndarray, lengthscale: float, m: int) -> dict[str, Any]:
    """Return the mean trace error of every way to choose landmarks."""
    gamma = 0.5 / lengthscale**2
    makers = {PEER: lambda seed: Nystroem(gamma=gamma, n_components=m, random_state=seed)}
    for way in WAYS:
        makers[way] = lambda seed, way=way: NystromFeatures(
            Gaussian(lengthscale), n_components=m, landmarks=way, random_state=seed
        )
    found: dict[str, Any] = {"m": m}
    for name, make in makers.items():
        found[name] = float(np.mean([missing(make(seed), X) for seed in range(SEEDS)]))
    print(found, file=sys.stderr, flush=True)
    return found


def missing(features: Any, X: np.ndarray) -> float:
    """Return what features miss of the kernel's diagonal, which is 1."""
    Z = features.fit_transform(X)
    return float(1 - np.einsum("ij,ij->", Z, Z) / len(Z))
