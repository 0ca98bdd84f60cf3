"""One iteration of IRKM and RFM, against the matrix products that it cannot do without.

The exact iteration is compared with its own kernel matrix, a Cholesky decomposition and four
products of an n × n with an n × d matrix. With random features the limit has the products of
both passes over the rows and nothing else: no cosines, no sines, no sums. All products of the
limits go to one BLAS, so that its threads do not wait for those of another.

An iteration is a fit without updates: kernel matrix or features, coefficients, leave-one-out or
generalised cross-validation errors, gradients and derivatives. The last table has a stream of a
million rows, generated while they are read, with two updates: ten times the rows take no more
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from mercer import Gaussian, IRKMRegressor, Laplace, RFMRegressor

from ..report import Report, Table
from ..runner import Case, check, measure

#: Rows and columns of the exact iteration, and of the one with random features.
EXACT, LARGE = (4000, 200), (100_000, 50)
N_COMPONENTS = 2048
#: Rows of a block of the limit with features.
BLOCK_ROWS = 2048
N_TEST = 200
NOISE = 0.1
#: Products n × n × d of the exact limit.
N_PRODUCTS = 4
#: The longest time, in limits.
TIME = 2.0
#: Rows of the streams, of a block, their columns, and features for them.
STREAMED, STREAM_BLOCK, STREAM_COLUMNS, STREAM_COMPONENTS = (100_000, 1_000_000), 20_000, 20, 512
#: The most memory of the longer stream, in those of the shorter.
MEMORY = 1.2
MACHINES = {"IRKM": IRKMRegressor, "RFM": RFMRegressor}


def run(repeats: int) -> Report:
    """Return the measurements of exact iterations, and of iterations with random features."""
    tables = [exact_table(repeats), large_table(repeats, np.float64)]
    tables.append(large_table(repeats, np.float32))
    targets = [
        check(table, name, "time / limit", "at most", TIME) for table in tables for name in MACHINES
    ]
    streamed = stream_table()
    few, many = streamed.rows
    bound = MEMORY * few["extra MB"]
    targets.append(check(streamed, many["case"], "extra MB", "at most", bound))
    return Report([*tables, streamed], targets)


def exact_table(repeats: int) -> Table:
    """Return the measurements with the kernel matrix of all rows, in float64."""
    n, d = EXACT
    X, y = rows(n + N_TEST, d, np.float64)
    kernel = Laplace(d**0.5)
    cases = machines(X, y, kernel=kernel, alpha=1e-3, solver="exact")
    cases.append(Case("kernel, Cholesky, 4 products", "limit", exact_limit(kernel, X[:n])))
    return compared(f"exact: n={n} d={d} float64, one iteration", cases, repeats)


def large_table(repeats: int, dtype: Any) -> Table:
    """Return the measurements with random features."""
    n, d = LARGE
    X, y = rows(n + N_TEST, d, dtype)
    size = {"n_components": N_COMPONENTS, "random_state": 0}
    cases = machines(X, y, kernel=Gaussian(d**0.5), alpha=1.0, solver="features", **size)
    cases.append(Case("products", "limit", large_limit(X[:n])))
    shape = f"n={n} d={d} m={N_COMPONENTS} {X.dtype.name}"
    return compared(f"random features: {shape}, one iteration", cases, repeats)


class Blocks:
    """Rows generated while they are read, the same ones in every pass."""

    def __init__(self, n_rows: int) -> None:
        self.n_blocks = n_rows // STREAM_BLOCK

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for number in range(self.n_blocks):
            yield rows(STREAM_BLOCK, STREAM_COLUMNS, np.float32, number)


def stream_table() -> Table:
    """Return the measurements with streams of few and of many rows."""
    X, y = rows(N_TEST, STREAM_COLUMNS, np.float32, 10**6)
    model = IRKMRegressor(
        Gaussian(STREAM_COLUMNS**0.5),
        n_components=STREAM_COMPONENTS,
        n_iterations=2,
        random_state=0,
    )
    cases = [
        Case(f"{n:,} rows", "ours", lambda n=n: model.fit(Blocks(n)).predict(X), partial(share, y))
        for n in STREAMED
    ]
    shape = f"d={STREAM_COLUMNS} m={STREAM_COMPONENTS} float32"
    return compared(f"stream: IRKM, {shape}, two updates", cases, 1)


def rows(n: int, d: int, dtype: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows and a function of three of their columns with noise."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)).astype(dtype)
    y = X[:, 0] + X[:, 1] * X[:, 2] + NOISE * generator.standard_normal(n)
    return X, y


def machines(X: np.ndarray, y: np.ndarray, **options: Any) -> list[Case]:
    """Return a case for each machine: one iteration, and predictions for a few rows."""
    cases = []
    for name, kind in MACHINES.items():
        model = kind(n_iterations=0, standardize=False, **options)
        cases.append(Case(name, "ours", partial(once, model, X, y), partial(share, y)))
    return cases


def once(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return predictions for the last rows, learnt from the others."""
    return model.fit(X[:-N_TEST], y[:-N_TEST]).predict(X[-N_TEST:])


def share(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the error of predictions for the last rows over the variance of the targets."""
    return float(np.mean((predicted - y[-N_TEST:]) ** 2) / np.var(y))


def exact_limit(kernel: Any, X: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that computes the kernel matrix, a decomposition and four products."""

    def everything() -> np.ndarray:
        K = kernel(X)
        for _ in range(N_PRODUCTS):
            result = product(K, X)
        K[np.diag_indices_from(K)] += 1.0
        lapack.dpotrf(K.T, lower=1, overwrite_a=1)
        return result

    return everything


def large_limit(X: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that does the products of both passes over the rows.

    The features, their slopes and the weighted rows are made before: only products remain.
    """
    d, half = X.shape[1], N_COMPONENTS // 2
    generator = np.random.default_rng(0)
    frequencies = generator.standard_normal((d, half)).astype(X.dtype)
    transposed = np.ascontiguousarray(frequencies.T)
    Z = generator.standard_normal((BLOCK_ROWS, N_COMPONENTS)).astype(X.dtype)
    slopes = np.ascontiguousarray(Z[:, :half])
    theta = np.ones((N_COMPONENTS, 1), dtype=X.dtype)
    rank_k = blas.ssyrk if X.dtype == np.float32 else blas.dsyrk

    def everything() -> np.ndarray:
        for start in range(0, len(X), BLOCK_ROWS):
            block = X[start : start + BLOCK_ROWS]
            features, slope = Z[: len(block)], slopes[: len(block)]
            product(block, frequencies)
            result = rank_k(1.0, features.T, lower=0)
            product(block, frequencies)
            product(features, theta)
            product(slope, transposed)
            # Sines and cosines together, transposed, times weighted rows.
            crossed(features, block)
        return result

    return everything


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the product of matrices that are stored by rows; nothing is copied."""
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    return gemm(1.0, B.T, A.T).T


def crossed(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the transpose of A times B, both stored by rows; nothing is copied."""
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    return gemm(1.0, B.T, A.T, trans_b=True).T


def compared(title: str, cases: list[Case], repeats: int) -> Table:
    """Return the measurements less the ratio to the result, which is a few numbers only."""
    table = measure(title, cases, repeats)
    for row in table.rows:
        del row["peak / result"]
    return table
