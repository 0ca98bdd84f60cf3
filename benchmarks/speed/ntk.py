"""The exact NTK against its closed form in plain NumPy, with rows that are numerically hard."""

from __future__ import annotations

import numpy as np

from mercer import NTK

from ..exact import entrywise_error, relu_kernels
from ..report import Report
from ..runner import Case, check, measure, product_limit

N_ROWS, N_FEATURES, CORNER = 4_000, 128, 400
DEPTHS = (2, 3)


def run(repeats: int) -> Report:
    """Return the measurements: all rows in float32, the corner of special rows in float64."""
    X = rows()
    tables, targets = [], []
    for depth in DEPTHS:
        exact = relu_kernels(X[:CORNER], depth)[2]
        single = measure(
            f"depth={depth} {N_ROWS} x {N_ROWS} d={N_FEATURES} float32",
            [*cases(X, depth, exact), product_limit(X, N_ROWS, N_ROWS)],
            repeats,
        )
        corner = X[:CORNER].astype(np.float64)
        double = measure(
            f"depth={depth} {CORNER} x {CORNER} d={N_FEATURES} float64",
            [*cases(corner, depth, exact), product_limit(corner, CORNER, CORNER)],
            repeats,
        )
        tables += [single, double]
        for case in ("NTK(X)", "NTK(X, Y)"):
            targets += [
                check(single, case, "speed / peer", "at least", 3.0),
                check(single, case, "peak / result", "at most", 1.3),
                check(single, case, "error", "at most", 2e-6),
                check(double, case, "error", "at most", 1e-12),
            ]
    return Report(tables, targets)


def cases(X: np.ndarray, depth: int, exact: np.ndarray) -> list[Case]:
    """Return our kernel of one and of two arguments, and the plain closed form."""
    kernel, Y = NTK(depth=depth), X.copy()
    error = entrywise_error(exact)
    return [
        Case("NTK(X)", "ours", lambda: kernel(X), error),
        Case("NTK(X, Y)", "ours", lambda: kernel(X, Y), error),
        Case("plain NumPy", "peer", lambda: plain_ntk(X, depth), error),
    ]


def rows() -> np.ndarray:
    """Return float32 rows; among the first are equal, almost equal, opposite and zero ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    base, noise = X[:50], rng.standard_normal((50, N_FEATURES))
    X[50:100] = base
    X[100:150] = base * rng.uniform(0.1, 10, (50, 1))
    X[150:200] = base + 1e-6 * noise
    X[200:250] = base + 1e-3 * noise
    X[250:300] = -base
    X[300] = 0
    return X.astype(np.float32)


def plain_ntk(X: np.ndarray, depth: int) -> np.ndarray:
    """Return the NTK by the textbook formula."""
    norms = np.linalg.norm(X, axis=1)
    unit = X / np.where(norms > 0, norms, 1)[:, None]
    S = K = np.clip(unit @ unit.T, -1, 1)
    for _ in range(depth):
        angle = np.arccos(S)
        S = np.clip((np.sqrt(1 - S * S) + S * (np.pi - angle)) / np.pi, -1, 1)
        K = K * (1 - angle / np.pi) + S
    return K * np.outer(norms, norms)
