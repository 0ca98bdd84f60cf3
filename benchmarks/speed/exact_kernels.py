"""Tiles of exact kernels against cdist, and an iterative solve against its own products."""

from __future__ import annotations

import time

import numpy as np
from scipy.spatial.distance import cdist

import mercer
from mercer import KernelRidge, Laplace, ProductLaplace
from mercer.engine.symmetric import SymmetricTiles
from mercer.kernels.single_precision import float32_tiles

from ..report import Report, Table
from ..runner import REST, Case, check, measure

N_TILES, D_TILES = 10_000, 16
N_ROWS, D_ROWS, BUDGET = 100_000, 54, 4 * 10**9
#: Targets and candidates for alpha of the solve, which share its products.
ALPHAS = (0.01, 0.1)
#: Rows of the fit that compiles everything beforehand.
WARM_UP = 1000


def run(repeats: int) -> Report:
    """Return the time of a product Laplace matrix, and of a solve whose matrix does not fit."""
    tiles, solve = _tiles(repeats), _solve()
    return Report(
        [tiles, solve],
        [
            check(tiles, "mercer, float32", "speed / peer", "at least", 10.0),
            check(solve, "solve", "time / products", "at most", 1.5),
            check(solve, "solve", "planned GB", "at most", BUDGET / 1e9),
        ],
    )


def _tiles(repeats: int) -> Table:
    """Return the times of a kernel of sums of absolute differences."""
    X = np.random.default_rng(0).standard_normal((N_TILES, D_TILES))
    single, kernel = X.astype(np.float32), ProductLaplace(float(D_TILES))
    exact = np.exp(-cdist(X[:100], X, "cityblock") / D_TILES)
    cases = [
        Case(
            "cdist and exp",
            "peer",
            lambda: np.exp(cdist(X, X, "cityblock") / -float(D_TILES)),
            lambda K: float(np.abs(K[:100] - exact).max()),
        ),
        Case(
            "mercer, float32",
            "ours",
            lambda: kernel(single, single),
            lambda K: float(np.abs(K[:100] - exact).max()),
        ),
        Case(
            "mercer, float32, symmetric",
            "ours",
            lambda: kernel(single),
            lambda K: float(np.abs(K[:100] - exact).max()),
        ),
    ]
    return measure(f"product Laplace, n={N_TILES} d={D_TILES}", cases, repeats)


def _solve() -> Table:
    """Return the time of a solve over that of its products with the matrix."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, D_ROWS)).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    kernel = Laplace(2.0 * D_ROWS**0.5)
    KernelRidge(kernel, alpha=0.1, solver="iterative").fit(X[:WARM_UP], y[:WARM_UP])
    products: list[float] = []
    original = SymmetricTiles.product

    def timed(self: SymmetricTiles, V: np.ndarray, label: str = "kernel product") -> np.ndarray:
        start = time.perf_counter()
        found = original(self, V, label)
        products.append(time.perf_counter() - start)
        return found

    time.sleep(REST)
    SymmetricTiles.product = timed  # type: ignore[method-assign]
    try:
        with mercer.config(memory=BUDGET):
            start = time.perf_counter()
            model = KernelRidge(kernel, alpha=list(ALPHAS), solver="iterative").fit(X, y)
            seconds = time.perf_counter() - start
            kept = SymmetricTiles(float32_tiles(kernel, X), N_ROWS, BUDGET).kept_bytes
    finally:
        SymmetricTiles.product = original  # type: ignore[method-assign]
    row = {
        "case": "solve",
        "seconds": seconds,
        "products": len(products),
        "time / products": seconds / sum(products),
        "planned GB": kept / 1e9,
        "how": model.solver_report_,
        "expected error": float(model.solution_.expected[0] / y.var()),
    }
    return Table(f"n={N_ROWS} d={D_ROWS}, {BUDGET / 1e9:g} GB", [row])
