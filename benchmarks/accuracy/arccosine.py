"""Variance and bias of arc-cosine features at equal dimension."""

from __future__ import annotations

import numpy as np

from mercer import ArcCosineFeatures

from ..exact import relu_kernels
from ..report import Report, Table
from ..runner import check

N_ROWS, N_FEATURES, N_COMPONENTS, N_SEEDS = 12, 64, 512, 200
#: Cosine of the first two rows.
CLOSE = 0.99
#: The column of the largest bias of an entry.
BIAS = "bias in standard errors"
#: Method and sampling; the first is the one of the ratios.
MAPS = (
    ("plain", "gaussian"),
    ("plain", "leverage"),
    ("plain", "gibbs"),
    ("antithetic", "orthogonal"),
    ("deflated", "orthogonal"),
)


def run() -> Report:
    """Return mean squared error and bias of every map, for order 1 and 0."""
    X = rows()
    pairs = np.triu_indices(N_ROWS, 1)
    step, relu, _ = relu_kernels(X, 1)
    tables = []
    for order, exact in ((1, relu), (0, step)):
        results = []
        for method, sampling in MAPS:
            deviations = estimates(X, order, method, sampling)[:, *pairs] - exact[pairs]
            squared = float((deviations**2).mean())
            standard_errors = deviations.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
            results.append(
                {
                    "case": f"{method}, {sampling}",
                    "mean squared error": squared,
                    "plain / this": squared,
                    BIAS: float(np.abs(deviations.mean(axis=0) / standard_errors).max()),
                }
            )
        plain = results[0]["mean squared error"]
        for row in results:
            row["plain / this"] = plain / row["mean squared error"]
        title = f"order={order} d={N_FEATURES} m={N_COMPONENTS} unit rows, {N_SEEDS} seeds"
        tables.append(Table(title, results))
    ours = "deflated, orthogonal"
    return Report(
        tables,
        [
            check(tables[0], ours, "plain / this", "at least", 15.0),
            *(check(table, ours, BIAS, "at most", 5.0) for table in tables),
        ],
    )


def estimates(X: np.ndarray, order: int, method: str, sampling: str) -> np.ndarray:
    """Return the kernel matrices that the map of each seed gives."""
    features = (
        ArcCosineFeatures(
            order, n_components=N_COMPONENTS, method=method, sampling=sampling, random_state=seed
        ).fit_transform(X)
        for seed in range(N_SEEDS)
    )
    return np.asarray([Z @ Z.T for Z in features])


def rows() -> np.ndarray:
    """Return random unit rows, the second close to the first."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES))
    X[1] -= X[0] * (X[0] @ X[1]) / (X[0] @ X[0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[1] = CLOSE * X[0] + np.sqrt(1 - CLOSE**2) * X[1]
    return X
