"""The iterative solver against direct ones on real tables: predictions, time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from scipy.linalg import lapack
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, Laplace, Matern
from mercer.kernels.single_precision import float32_matrix

from ..report import Report, Table, Target
from ..runner import REST, PeakMemory, check
from .peer_case import data

#: Tables whose predictions are compared, on so many rows of each.
TABLES, N_ROWS = ("protein", "kin40k", "bike", "electricity", "covtype"), 8000
#: Residuals asked for, and the differences of predictions allowed: float32 and float64 tiles.
TOLERANCES = {"float32 tiles": (1e-6, 1e-5), "float64 tiles": (1e-11, 1e-9)}
ALPHA = 0.01
#: The table of the time, and what is allowed over LAPACK's time and over one float32 matrix.
LARGE, ALLOWED_TIME, ALLOWED_MEMORY = "kin40k", 0.5, 1.2


def run(folder: Path) -> Report:
    """Return differences of predictions, and the time and memory of many rows."""
    agreement = Table(f"Predictions, n={N_ROWS}, Laplace, alpha={ALPHA}", _differences(folder))
    speed = Table(f"{LARGE}, all rows as centres, Matern of 3/2", _speed(folder))
    targets = [
        Target(f"{row['table']}: {name}", "at most", allowed, float(str(row[name])))
        for row in agreement.rows
        for name, (_, allowed) in TOLERANCES.items()
    ]
    targets.append(check(speed, "iterative", "time / LAPACK", "at most", ALLOWED_TIME))
    targets.append(check(speed, "iterative", "memory / matrix", "at most", ALLOWED_MEMORY))
    return Report([agreement, speed], targets)


def _standardized(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, numbers to predict, and test rows."""
    X, y, X_test, _ = data(folder, name)
    scaler = StandardScaler().fit(X.astype(float))
    y = (y - y.mean()) / y.std()
    return scaler.transform(X.astype(float)), y, scaler.transform(X_test.astype(float))


def _differences(folder: Path) -> list[dict[str, object]]:
    """Return the relative differences of predictions for the test rows, and iterations."""
    rows = []
    for name in TABLES:
        X, y, new = _standardized(folder, name)
        X, y = X[:N_ROWS], y[:N_ROWS]
        kernel = Laplace("median").fitted_to(X)
        direct = KernelRidge(kernel, alpha=ALPHA, solver="direct").fit(X, y).predict(new)
        row: dict[str, object] = {"table": name, "n": len(X), "d": X.shape[1]}
        for which, (tolerance, _) in TOLERANCES.items():
            model = KernelRidge(kernel, alpha=ALPHA, solver="iterative", tol=tolerance).fit(X, y)
            gap = np.linalg.norm(model.predict(new) - direct) / np.linalg.norm(direct)
            row[which] = float(gap)
            row[f"residual, {which}"] = model.solver_report_.split("residual of ")[1].split()[0]
        rows.append(row)
    return rows


def _speed(folder: Path) -> list[dict[str, object]]:
    """Return time, memory and error of the iterative solver and of LAPACK's in float32."""
    X, y, new = _standardized(folder, LARGE)
    y_test = data(folder, LARGE)[3]
    y_test = (y_test - data(folder, LARGE)[1].mean()) / data(folder, LARGE)[1].std()
    kernel = Matern(nu=1.5, lengthscale=4.0 * X.shape[1] ** 0.5)
    size = 4 * len(X) ** 2
    # Import and compile before anything is measured.
    KernelRidge(kernel, alpha=1e-3, solver="iterative").fit(X[:500], y[:500])
    rows = []
    for name, alpha in (("iterative", 1e-4), ("iterative, alpha of three", None)):
        time.sleep(REST)
        with PeakMemory() as memory:
            start = time.perf_counter()
            model = KernelRidge(kernel, alpha=alpha, solver="iterative").fit(X, y)
            seconds = time.perf_counter() - start
        error = float(((model.predict(new) - y_test) ** 2).sum() / (y_test**2).sum())
        rows.append(_row(name, seconds, memory.growth / size, error, model.solver_report_))
        del model
    start = time.perf_counter()
    with PeakMemory() as memory:
        K = float32_matrix(kernel, X)
        K[np.diag_indices_from(K)] += 1e-4
        # By columns, as LAPACK wants it: the factor takes the place of the symmetric matrix.
        factor, failed = lapack.spotrf(K.T, lower=1, clean=0, overwrite_a=1)
        right = (y - y.mean()).astype(np.float32)[:, None]
        coef, _ = lapack.spotrs(factor, right, lower=1)
        seconds = time.perf_counter() - start
    if failed:
        raise RuntimeError(f"LAPACK found no factor in float32 (info={failed}).")
    del K, factor
    seen = float32_matrix(kernel, new, X) @ coef + y.mean()
    error = float(((seen[:, 0] - y_test) ** 2).sum() / (y_test**2).sum())
    rows.append(_row("LAPACK, float32", seconds, memory.growth / size, error, "Cholesky"))
    for row in rows:
        row["time / LAPACK"] = float(str(row["seconds"])) / seconds
    return rows


def _row(case: str, seconds: float, memory: float, error: float, how: str) -> dict[str, object]:
    return {
        "case": case,
        "seconds": seconds,
        "time / LAPACK": None,
        "memory / matrix": memory,
        "test error": error,
        "how": how,
    }
