"""Ridge regression on 2,048 features, alpha chosen in the same pass, against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline

from mercer import FeatureRidge, Gaussian, RandomFourier

from ..exact import gamma_of
from ..report import Report
from ..runner import Case, check, measure

N_ROWS, N_NEW, N_FEATURES, N_COMPONENTS = 45_000, 5_000, 9, 2048
ALPHAS = np.logspace(-3, 3, 10)


def run(repeats: int) -> Report:
    """Return time, memory and test error with one alpha given to the peer, and with ten.

    The peer with ten takes minutes, so it is called once.
    """
    X, y = rows(N_ROWS + N_NEW)
    train, test = slice(0, N_ROWS), slice(N_ROWS, None)
    lengthscale = Gaussian("median").fitted_to(X[train]).lengthscale

    def predicting(model: Any) -> Callable[[], np.ndarray]:
        return lambda: model.fit(X[train], y[train]).predict(X[test])

    def error(predictions: np.ndarray) -> float:
        return float(((predictions - y[test]) ** 2).mean())

    def peer(solver: Any) -> Any:
        sampler = RBFSampler(gamma=gamma_of(lengthscale), n_components=N_COMPONENTS, random_state=0)
        return make_pipeline(sampler, solver)

    features = RandomFourier(Gaussian(lengthscale), n_components=N_COMPONENTS, random_state=0)
    ours = Case("FeatureRidge, 31 alphas", "ours", predicting(FeatureRidge(features)), error)
    one = Case("RBFSampler, Ridge", "peer", predicting(peer(Ridge(1.0, solver="cholesky"))), error)
    ten = Case("RBFSampler, RidgeCV, 10 alphas", "peer", predicting(peer(RidgeCV(ALPHAS))), error)
    shape = f"n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS} float32"
    tables = [
        measure(f"{shape}, one alpha", [ours, one], repeats),
        measure(f"{shape}, ten alphas, one call", [ours, ten], 1),
    ]
    name = ours.name
    return Report(
        tables,
        [
            check(tables[0], name, "speed / peer", "at least", 1 / 1.3),
            check(tables[1], name, "speed / peer", "at least", 15.0),
            check(tables[0], name, "error", "at most", tables[0].rows[1]["error"]),
            check(tables[1], name, "error", "at most", tables[1].rows[1]["error"]),
            check(tables[0], name, "extra MB", "at most", tables[0].rows[1]["extra MB"] / 3),
        ],
    )


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows and a smooth function of them with noise, in float32."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, N_FEATURES), dtype=np.float32)
    signal = np.sin(X[:, 0] * X[:, 1]) + np.tanh(X[:, 2:5].sum(axis=1)) * X[:, 5]
    noise = 0.3 * generator.standard_normal(n, dtype=np.float32)
    return X, (signal + noise).astype(np.float32)
