"""Nyström features against scikit-learn's: time of fit and transform, and what they miss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import Nystroem

from mercer import Gaussian, NystromFeatures

from ..report import Report, Table
from ..runner import Case, check, measure

N_ROWS, N_FEATURES, N_COMPONENTS = 50_000, 64, 1024
LENGTHSCALE = 8.0
#: How many times the time of scikit-learn's may be taken by default.
BOUND = 1.5


def run(repeats: int) -> Report:
    """Return time and trace error of features with landmarks chosen in four ways."""
    rng = np.random.default_rng(0)
    # Rows of low dimension with noise, as real ones are: of independent ones nothing is missed.
    X = rng.standard_normal((N_ROWS, 8)) @ rng.standard_normal((8, N_FEATURES)) / 8**0.5
    X = (X + 0.1 * rng.standard_normal(X.shape)).astype(np.float32)
    peer = Nystroem(gamma=0.5 / LENGTHSCALE**2, n_components=N_COMPONENTS, random_state=0)
    cases = [
        Case("scikit-learn, uniform", "peer", lambda: peer.fit_transform(X), missing),
        *(
            Case(f"mercer, {way}", "ours", fitted(way, X), missing)
            for way in ("uniform", "rpcholesky")
        ),
    ]
    table = measure(f"n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS} float32", cases, repeats)
    slow = [
        Case(f"mercer, {way}", "ours", fitted(way, X), missing) for way in ("kmeans++", "leverage")
    ]
    others: Table = measure("other choices of landmarks", slow, 1)
    return Report(
        [table, others], [check(table, "mercer, rpcholesky", "speed / peer", "at least", 1 / BOUND)]
    )


def fitted(way: str, X: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that makes the features."""
    features = NystromFeatures(
        Gaussian(LENGTHSCALE), n_components=N_COMPONENTS, landmarks=way, random_state=0
    )
    return lambda: features.fit_transform(X)


def missing(Z: np.ndarray) -> float:
    """Return the mean of what features miss of the kernel's diagonal, which is 1."""
    return float(1 - np.einsum("ij,ij->", Z, Z, dtype=float) / len(Z))
