"""Ternary projections against the dense product, and products of bits against BLAS."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas

from mercer import PackedFeatures
from mercer._random import Stream
from mercer.engine.rows import map_rows
from mercer.features.packed import column_gram, packed_thresholds, packed_waves, threshold_codes
from mercer.ops.thresholds import Thresholds
from mercer.ops.waves import RoundedCosine, Waves
from mercer.sketches import TernaryProjection

from ..report import Report, Table, Target
from ..runner import Case, PeakMemory, check, measure

N_ROWS, N_FEATURES, SIZE, SPARSITY = 20_000, 512, 4096, 0.9


def run(repeats: int) -> Report:
    """Return the measurements of float32 rows."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    projection = TernaryProjection(Stream(0), N_FEATURES, SIZE, SPARSITY)
    # A third of the values beyond each threshold.
    bound = 0.43 * ((1 - SPARSITY) * N_FEATURES) ** 0.5
    odd, sign = Thresholds("odd", bound, -bound), Thresholds("sign", bound)
    shape = f"n={N_ROWS} d={N_FEATURES} m={SIZE} float32"
    products = measure(
        f"projection with {SPARSITY:.0%} zeros, {shape}", projections(X, projection, odd), repeats
    )
    sizes, bounds = packed_sizes(X, projection, {"two planes": odd, "one plane": sign})
    grams, exact = counted(packed_thresholds(X, projection, odd), repeats)
    targets = [
        check(products, "TernaryProjection", "speed / peer", "at least", 2.5),
        check(products, "TernaryProjection", "error", "at most", 1e-5),
        *bounds,
        check(grams, "counts of bits", "speed / peer", "at least", 1.0),
        Target("counts of bits: largest difference from integers", "at most", 0.0, exact),
    ]
    return Report([products, sizes, grams], targets)


def projections(X: np.ndarray, projection: TernaryProjection, thresholds: Thresholds) -> list[Case]:
    """Return the product by additions, the dense one, and products that end as small integers."""
    weights = projection.matrix.astype(np.float32)
    few = X[:100].astype(float) @ projection.matrix
    largest = np.abs(few).max()

    def error(Z: np.ndarray) -> float:
        return float(np.abs(Z[:100] - few).max() / largest)

    def additions() -> Any:
        def project(block: Any, out: Any = None) -> Any:
            return projection.project(block, np, out)

        return map_rows(project, X, SIZE, label="projection")

    frequencies = TernaryProjection(Stream(0), N_FEATURES, SIZE // 2, SPARSITY)
    scales = np.full(SIZE // 2, ((1 - SPARSITY) * N_FEATURES) ** -0.5)
    waves = Waves(RoundedCosine(4), scales, np.zeros(SIZE // 2), SIZE)
    return [
        Case("TernaryProjection", "ours", additions, error),
        Case("to bits", "ours", partial(packed_thresholds, X, projection, thresholds)),
        Case("to int8", "ours", partial(threshold_codes, X, projection, thresholds)),
        Case("to waves of 2 bits", "ours", partial(packed_waves, X, frequencies, waves)),
        Case("dense product", "peer", lambda: X @ weights, error),
    ]


def packed_sizes(
    X: np.ndarray, projection: TernaryProjection, rules: dict[str, Thresholds]
) -> tuple[Table, list[Target]]:
    """Return bytes and peak memory of transforming and packing, and their targets."""
    rows, targets = [], []
    floats = len(X) * projection.size * 4
    for name, thresholds in rules.items():
        with PeakMemory() as memory:
            packed = packed_thresholds(X, projection, thresholds)
        share, peak = packed.nbytes / floats, memory.growth / packed.nbytes
        rows.append({"case": name, "MB": packed.nbytes / 1e6, "of float32": share, "peak": peak})
        targets.append(Target(f"{name}: bytes / float32", "at most", 1 / 16, share))
        targets.append(Target(f"{name}: peak beyond input / result", "at most", 1.3, peak))
        del packed
    return Table("bytes of packed features", rows), targets


def counted(packed: PackedFeatures, repeats: int) -> tuple[Table, float]:
    """Return the times of products of all columns, and how far the counts are off."""
    Z = packed.unpack(np.float32)
    half = partial(blas.ssyrk, 1.0, Z.T, lower=0)
    cases = [
        Case("counts of bits", "ours", partial(column_gram, packed)),
        Case("float32 BLAS, one triangle", "peer", half),
        Case("float32 BLAS", "peer", lambda: Z.T @ Z),
    ]
    table = measure(f"products of columns, n={len(packed)} m={packed.n_columns}", cases, repeats)
    few = packed.unpack(np.int64)[:, :64]
    difference = np.abs(column_gram(packed)[:64, :64] - few.T @ few).max()
    return table, float(difference)
