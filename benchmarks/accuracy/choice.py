"""Which map for which kernel: errors at equal dimension, by columns and by the reach of the rows.

The reach is the root mean square of the norms of centred rows over the lengthscale.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import mercer
from mercer import (
    Gaussian,
    GegenbauerFeatures,
    Laplace,
    Matern,
    NystromFeatures,
    RandomFourier,
)

from ..report import Report, Table

N_ROWS, SIZES, SEEDS = 1500, (256, 1024, 4096), range(3)
COLUMNS, REACHES = (1, 2, 3, 4, 6, 8, 12, 20), (0.5, 1.0, 2.0, 4.0, 8.0)
KERNELS = {"Gaussian": Gaussian, "Laplace": Laplace, "Matern": Matern}


def run(sizes: tuple[int, ...] = SIZES) -> Report:
    """Return median relative errors of maps."""
    with mercer.config(progress=False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ball = [row for d in COLUMNS for reach in REACHES for row in in_ball(d, reach, sizes)]
        sphere = [
            row
            for name in KERNELS
            for d in COLUMNS[1:]
            for reach in REACHES[:4]
            for row in on_sphere(name, d, reach, sizes)
        ]
    return Report(
        [
            Table("Gaussian kernel, normal rows", ball),
            Table("Rows on the unit sphere, lengthscale 1 / reach", sphere),
        ]
    )


def in_ball(d: int, reach: float, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return errors for normal rows."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, d)) / d**0.5
    return [compared(X, d, reach, Gaussian(1 / reach), m) for m in sizes]


def on_sphere(name: str, d: int, reach: float, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return errors for rows on the sphere."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    kernel = KERNELS[name](1 / reach)
    return [{"kernel": name, **compared(X, d, reach, kernel, m)} for m in sizes]


def compared(X: np.ndarray, d: int, reach: float, kernel: Any, m: int) -> dict[str, Any]:
    """Return the errors of Fourier, Gegenbauer and Nyström features."""
    K = kernel(X)
    row: dict[str, Any] = {"columns": d, "reach": reach, "features": m}
    for name, make in (
        ("Fourier", RandomFourier),
        ("Gegenbauer", GegenbauerFeatures),
        ("Nystrom", NystromFeatures),
    ):
        errors, start = [], time.perf_counter()
        for seed in SEEDS:
            Z = make(kernel, n_components=m, random_state=seed).fit(X).transform(X)
            errors.append(float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)))
        row[name] = float(np.median(errors))
        row[f"{name} s"] = (time.perf_counter() - start) / len(errors)
    print(row, file=sys.stderr, flush=True)
    return row
