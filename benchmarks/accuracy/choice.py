"""Which map for which kernel: errors at equal dimension and at equal time, on which rules rest.

Maps are fitted to some rows, and the error is that of the kernel matrix of other rows. Rows are
``even`` (normal), ``uneven`` (normal, with deviations
1, 1/2, 1/3, ... by column, nearer to those of tables) or on a ``sphere``; ``sparse`` ones have one
entry in a hundred that is not 0. Their norms are about one; the reach is the root of their mean
square over the lengthscale.

The time of a map, in microseconds a row, is that of a processor, of one thread: other work on the
machine hardly changes it. A machine that learns takes the product of all features with each other
beside it (``learning us``). The error at equal time is that of such a machine: the error, times the
root of the time over that of the first map, as errors of random features fall with the root of
their number.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

import mercer
from mercer import (
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    DotProductSketch,
    Exponential,
    Gaussian,
    GegenbauerFeatures,
    Laplace,
    Matern,
    NTKFeatures,
    NystromFeatures,
    Polynomial,
    PolynomialSketch,
    RandomFourier,
)

from ..report import Report, Table

#: Rows that maps see, and rows that errors are measured on.
N_ROWS, N_OTHERS = 1500, 600
SIZES, SEEDS = (256, 1024), 2
COLUMNS, REACHES = (3, 8, 16, 64, 256, 784), (0.5, 1.0, 2.0, 4.0)
#: Columns of wide rows for all maps, and for those that it matters to; and the share of entries of
#: sparse rows that are not 0.
WIDE, WIDER, DENSITY = (784, 6000), (5000, 10_000), 0.01

#: Makes a map from a number of features and a seed.
Makers = dict[str, Any]


def run(columns: tuple[int, ...] = COLUMNS, wide: tuple[int, ...] = WIDE) -> Report:
    """Return errors and times of maps, a table for each family of kernels."""
    found: dict[str, list[dict[str, Any]]] = {}
    with (
        mercer.config(progress=False, n_jobs=1),
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for title, facts, kernel, makers, rows in cases(columns, wide):
            found.setdefault(title, []).extend(compared(facts, kernel, makers, rows))
    return Report([Table(title, rows) for title, rows in found.items()])


def cases(
    columns: tuple[int, ...], wide: tuple[int, ...]
) -> Iterator[tuple[str, dict[str, Any], Any, Makers, Any]]:
    """Yield a title, what tells a case, the kernel, its maps and the rows."""
    for kind in ("even", "uneven", "sphere"):
        for d in columns if kind == "even" else columns[::2]:
            rows = drawn(kind, d)
            for reach in REACHES:
                facts = {"rows": kind, "columns": d, "reach": reach}
                yield "Gaussian", facts, Gaussian(1 / reach), of_gaussian(Gaussian(1 / reach)), rows
                if kind == "even" or reach in REACHES[::2]:
                    continue
                for family in (Laplace, Matern):
                    kernel = family(1 / reach)
                    makers = of_distance(kernel, kind == "sphere")
                    yield family.__name__, facts, kernel, makers, rows
            if kind == "sphere":
                continue
            for depth in (1, 3):
                facts = {"rows": kind, "columns": d, "depth": depth}
                yield "NTK", facts, NTK(depth), of_network(depth), rows
            for order in (0, 1):
                facts = {"rows": kind, "columns": d, "order": order}
                yield "ArcCosine", facts, ArcCosine(order), of_layer(order), rows
            for degree in (2, 3, 5, 8):
                facts = {"rows": kind, "columns": d, "degree": degree}
                yield "Polynomial", facts, Polynomial(degree), of_power(degree), rows
            for reach in (0.5, 1.0, 2.0):
                facts = {"rows": kind, "columns": d, "reach": reach}
                kernel = Exponential(1 / reach)
                yield "Exponential", facts, kernel, of_series(kernel), rows
    for d in (d for d in WIDER if wide):
        rows = drawn("even", d)
        for reach in REACHES[:3]:
            facts = {"rows": "even", "columns": d, "reach": reach}
            makers = of_gaussian(Gaussian(1 / reach))
            both = {name: makers[name] for name in ("Fourier", "Fourier, hd3")}
            yield "Fourier, wide", facts, Gaussian(1 / reach), both, rows
        for depth in (1, 3):
            makers = of_network(depth)
            both = {name: makers[name] for name in ("zonal", "one-shot")}
            facts = {"rows": "even", "columns": d, "depth": depth}
            yield "NTK, wider", facts, NTK(depth), both, rows
    for d in wide:
        for kind in ("sparse", "even"):
            rows = drawn(kind, d)
            facts = {"rows": kind, "columns": d}
            makers = of_gaussian(Gaussian(1.0))
            yield "Gaussian, wide", {**facts, "reach": 1.0}, Gaussian(1.0), makers, rows
            for depth in (1, 3):
                yield "NTK, wide", {**facts, "depth": depth}, NTK(depth), of_network(depth), rows


def drawn(kind: str, d: int) -> Any:
    """Return rows in float32, their norms about one."""
    generator = np.random.default_rng(d)
    n = N_ROWS + N_OTHERS
    if kind == "sparse":
        dense = generator.standard_normal((n, d), dtype=np.float32)
        dense[generator.random((n, d), dtype=np.float32) > DENSITY] = 0
        # Rows of zeros have no direction.
        dense[:, 0] += 0.1
        rows = dense / np.sqrt(np.mean(np.sum(dense**2, axis=1)))
        return scipy.sparse.csr_array(rows)
    rows = generator.standard_normal((n, d))
    if kind == "uneven":
        rows /= np.arange(1, d + 1)
    if kind == "sphere":
        rows /= np.linalg.norm(rows, axis=1)[:, None]
    return (rows / np.sqrt(np.mean(np.sum(rows**2, axis=1)))).astype(np.float32)


def of_gaussian(kernel: Any) -> Makers:
    """Return the maps of a Gaussian kernel."""
    return {
        "Fourier": (RandomFourier, (kernel,), {}),
        "Fourier, hd3": (RandomFourier, (kernel,), {"projection": "hd3"}),
        "Gegenbauer": (GegenbauerFeatures, (kernel,), {}),
        "Nystrom": (NystromFeatures, (kernel,), {}),
    }


def of_distance(kernel: Any, sphere: bool) -> Makers:
    """Return the maps of another kernel of the distance."""
    makers = of_gaussian(kernel)
    if not sphere:
        makers["Gegenbauer"] = None
    return makers


def of_network(depth: int) -> Makers:
    """Return the maps of a neural tangent kernel."""
    methods = ("zonal", "one-shot", "random", "sketch")
    makers: Makers = {name: (NTKFeatures, (depth,), {"method": name}) for name in methods}
    return {**makers, "Nystrom": (NystromFeatures, (NTK(depth),), {})}


def of_layer(order: int) -> Makers:
    """Return the maps of an arc-cosine kernel."""
    methods = ("antithetic", "deflated")
    makers: Makers = {name: (ArcCosineFeatures, (order,), {"method": name}) for name in methods}
    makers["Gegenbauer"] = (GegenbauerFeatures, (ArcCosine(order),), {})
    return {**makers, "Nystrom": (NystromFeatures, (ArcCosine(order),), {})}


def of_power(degree: int) -> Makers:
    """Return the maps of a polynomial kernel."""
    methods = ("tensor", "tree", "product")
    makers: Makers = {name: (PolynomialSketch, (degree,), {"method": name}) for name in methods}
    return {**makers, **of_series(Polynomial(degree))}


def of_series(kernel: Any) -> Makers:
    """Return the maps of a power series of the inner product."""
    return {
        "series": (DotProductSketch, (kernel,), {}),
        "Gegenbauer": (GegenbauerFeatures, (kernel,), {}),
        "Nystrom": (NystromFeatures, (kernel,), {}),
    }


def compared(facts: dict[str, Any], kernel: Any, makers: Makers, rows: Any) -> list[dict[str, Any]]:
    """Return the errors and the microseconds a row of some maps, a line for each size."""
    others = rows[N_ROWS:]
    K = kernel(others.toarray() if scipy.sparse.issparse(others) else others.astype(float))
    lines = []
    for size in SIZES:
        line = {**facts, "features": size}
        for name, maker in makers.items():
            line[name], line[f"{name} us"] = measured(maker, size, rows, K)
        line["learning us"] = product_time(size)
        lines.append({**line, **at_equal_time(line, list(makers))})
        print(line, file=sys.stderr, flush=True)
    return lines


def measured(maker: Any, size: int, rows: Any, K: np.ndarray) -> tuple[Any, Any]:
    """Return the mean error of some seeds, and the least time; nothing for what is no map."""
    if maker is None:
        return None, None
    kind, arguments, options = maker
    errors, times = [], []
    for seed in range(SEEDS):
        features = kind(*arguments, **options, n_components=size, random_state=seed)
        try:
            features.fit(rows[:N_ROWS])
        except ValueError:
            # Fewer components than the columns that must be exact.
            return None, None
        # Compiles and loads what is needed.
        Z = features.transform(rows[N_ROWS:]).astype(float)
        start = time.process_time()
        features.transform(rows[:N_ROWS])
        times.append(time.process_time() - start)
        errors.append(float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)))
    return float(np.mean(errors)), 1e6 * min(times) / N_ROWS


@cache
def product_time(size: int) -> float:
    """Return the microseconds a row of the products of so many features with each other."""
    Z = np.ones((N_ROWS, size), dtype=np.float32)
    times = []
    for _ in range(5):
        start = time.process_time()
        Z.T @ Z
        times.append(time.process_time() - start)
    return 1e6 * min(times) / N_ROWS


def at_equal_time(line: dict[str, Any], names: list[str]) -> dict[str, float | None]:
    """Return the errors that maps would have in the time of the first one."""
    found: dict[str, float | None] = {}
    product, first = line["learning us"], line[f"{names[0]} us"]
    for name in names:
        error, own = line[name], line[f"{name} us"]
        known = error is not None and first is not None
        ratio = (product + own) / (product + first) if known else None
        found[f"{name}, equal time"] = error * ratio**0.5 if known else None
    return found
