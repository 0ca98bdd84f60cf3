"""Arc-cosine features, deflated and plain, against the plain map in NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np

from mercer import ArcCosineFeatures

from ..exact import features_error, relu_kernels
from ..report import Report
from ..runner import Case, measure, product_limit

N_ROWS, N_FEATURES, N_COMPONENTS, N_COMPARED = 50_000, 64, 2048, 500


def run(repeats: int) -> Report:
    """Return the measurements of order 1 and 0 in float32."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    step, relu, _ = relu_kernels(X[:N_COMPARED], 1)
    tables = []
    for order, exact in ((1, relu), (0, step)):
        error = features_error(exact.astype(np.float64))
        cases = []
        for method, sampling in (("deflated", "orthogonal"), ("plain", "gaussian")):
            features = ArcCosineFeatures(
                order, n_components=N_COMPONENTS, method=method, sampling=sampling, random_state=0
            ).fit(X)
            name = f"{method}, {sampling}"
            cases.append(Case(name, "ours", partial(features.transform, X), error))
        weights = np.random.default_rng(1).standard_normal((N_FEATURES, N_COMPONENTS))
        plain = partial(plain_features, X, weights.astype(X.dtype), order)
        cases.append(Case("plain NumPy", "peer", plain, error))
        cases.append(product_limit(X, N_COMPONENTS, N_COMPONENTS))
        title = f"order={order} n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS} float32"
        tables.append(measure(title, cases, repeats))
    return Report(tables)


def plain_features(X: np.ndarray, weights: np.ndarray, order: int) -> np.ndarray:
    """Return the plain features by their formula."""
    scale = np.sqrt(2 / weights.shape[1], dtype=X.dtype)
    projected = X @ weights
    if order == 1:
        return np.maximum(projected, 0) * scale
    return (projected > 0) * scale
