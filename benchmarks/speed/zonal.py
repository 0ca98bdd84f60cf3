"""Zonal features against random Fourier features, and against the passes they need.

The limit is the product with the directions, and then one pass over the features for each degree:
a multiplication, in place, of a few rows that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from threadpoolctl import ThreadpoolController

from mercer import NTK, Gaussian, GegenbauerFeatures, RandomFourier
from mercer.engine.config import settings

from ..exact import features_error, gaussian_kernel, relu_kernels
from ..report import Report
from ..runner import Case, check, measure

N_ROWS, N_FEATURES, N_COMPONENTS, DEGREE, N_COMPARED = 50_000, 9, 1024, 12, 500
#: Rows of a product, 4 MB of features, and of the passes over them, 256 kB.
PRODUCT_ROWS, PASS_ROWS = 1024, 64
#: The longest time, in limits, and the most memory besides the result.
TIME, MEMORY = 2.0, 64.0


def run(repeats: int) -> Report:
    """Return the measurements of the neural tangent kernel and of a Gaussian one, in float32."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES)) / np.sqrt(N_FEATURES)
    X = X.astype(np.float32)
    few = X[:N_COMPARED]
    network = features_error(relu_kernels(few, 2)[2].astype(np.float64))
    gaussian = features_error(gaussian_kernel(few, 1.0))
    size = {"n_components": N_COMPONENTS, "random_state": 0}
    fourier = RandomFourier(Gaussian(1.0), **size).fit(X)
    tables, targets = [], []
    for name, kernel, error in (
        ("NTK, depth 2", NTK(2), network),
        ("Gaussian, radius 1", Gaussian(1.0), gaussian),
    ):
        ours = GegenbauerFeatures(kernel, degree=DEGREE, **size).fit(X)
        cases = [
            Case("GegenbauerFeatures", "ours", partial(ours.transform, X), error),
            Case("RandomFourier", "peer", partial(fourier.transform, X), gaussian),
            Case("product and passes", "limit", product_and_passes(X)),
        ]
        shape = f"n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS} degree={DEGREE} float32"
        table = measure(f"{name}: {shape}", cases, repeats)
        tables.append(table)
        targets += [
            check(table, "GegenbauerFeatures", "time / limit", "at most", TIME),
            check(table, "GegenbauerFeatures", "extra MB", "at most", MEMORY),
        ]
    return Report(tables, targets)


def product_and_passes(X: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that does the product and the passes on as many threads as the map uses."""
    weights = np.ones((X.shape[1], N_COMPONENTS), dtype=X.dtype)
    factor = np.ones((PASS_ROWS, N_COMPONENTS), dtype=X.dtype)
    result = np.ones((len(X), N_COMPONENTS), dtype=X.dtype)
    controller = ThreadpoolController()

    def work(start: int) -> None:
        block = result[start : start + PRODUCT_ROWS]
        np.matmul(X[start : start + PRODUCT_ROWS], weights, out=block)
        for first in range(0, len(block), PASS_ROWS):
            rows = block[first : first + PASS_ROWS]
            for _ in range(DEGREE):
                np.multiply(rows, factor[: len(rows)], out=rows)

    def everything() -> np.ndarray:
        with (
            controller.limit(limits=1, user_api="blas"),
            ThreadPoolExecutor(settings().workers()) as pool,
        ):
            list(pool.map(work, range(0, len(X), PRODUCT_ROWS)))
        return result

    return everything
