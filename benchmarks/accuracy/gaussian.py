"""Error of random Fourier features of the Gaussian kernel, by projection and dimension."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import RBFSampler

from mercer import Gaussian, RandomFourier

from ..exact import features_error, gamma_of, gaussian_kernel
from ..report import Report, Table

N_COMPONENTS = (256, 1024, 4096)
N_SEEDS = 5
PROJECTIONS = ("gaussian", "orthogonal", "fastfood", "ssf")


def run() -> Report:
    """Return the relative Frobenius error of every map, the mean over seeds."""
    return Report([Table(title, errors(X)) for title, X in data().items()])


def data() -> dict[str, np.ndarray]:
    """Return handwritten digits, and points of a low-dimensional sphere, in float32."""
    digits = load_digits().data / 16
    sphere = np.random.default_rng(0).standard_normal((2000, 8))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    return {
        "digits n=1797 d=64": digits.astype(np.float32),
        "unit sphere n=2000 d=8": sphere.astype(np.float32),
    }


def errors(X: np.ndarray) -> list[dict]:
    """Return a row for each map: its error for each number of components."""
    lengthscale = Gaussian("median").fitted_to(X).lengthscale
    error = features_error(gaussian_kernel(X, lengthscale).astype(X.dtype))
    rows: dict[str, dict] = {}
    for m in N_COMPONENTS:
        for seed in range(N_SEEDS):
            for name, features in maps(lengthscale, m, seed):
                row = rows.setdefault(name, {"case": name} | {f"m={m}": 0.0 for m in N_COMPONENTS})
                row[f"m={m}"] += error(features.fit_transform(X)) / N_SEEDS
    return list(rows.values())


def maps(lengthscale: float, m: int, seed: int) -> Iterator[tuple[str, TransformerMixin]]:
    """Yield the name and the map of scikit-learn and of every projection."""
    gamma = gamma_of(lengthscale)
    yield "RBFSampler", RBFSampler(gamma=gamma, n_components=m, random_state=seed)
    for projection in PROJECTIONS:
        for stratified in (False, True):
            yield (
                f"{projection}{', stratified' if stratified else ''}",
                RandomFourier(
                    Gaussian(lengthscale),
                    n_components=m,
                    projection=projection,
                    stratified=stratified,
                    random_state=seed,
                ),
            )
