"""Real tables: error, time and memory against linear models, other features, exact kernels.

Needs a folder with the data (``--data`` or the environment variable ``MERCER_DATA``); see
``data`` below for the files. Each case runs in its own process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..report import Report, Table
from ..runner import PeakMemory

#: Features of every approximation.
N_COMPONENTS = 2048
#: Rows of the exact kernel machine.
EXACT_ROWS = 10_000
DATA_SETS = ("protein", "kin40k", "adult", "covtype binary", "covtype", "mnist")
METHODS = (
    "mercer",
    "linear",
    "RBFSampler",
    "Nystroem",
    "RBFSampler, mercer's choices",
    "exact kernel, 10,000 rows",
)


def run(folder: Path) -> Report:
    """Return a table for each data set."""
    tables = []
    for name in DATA_SETS:
        choices: dict[str, Any] = {}
        rows = []
        for method in METHODS:
            row = measured(folder, name, method, choices)
            choices = row.pop("choices", None) or choices
            rows.append(row)
            print(f"{name}: {row}", file=sys.stderr, flush=True)
        first = rows[0]["seconds"]
        for row in rows:
            row["time / mercer"] = row["seconds"] / first if row["seconds"] else None
        tables.append(Table(describe(folder, name), rows))
    return Report(tables)


def measured(folder: Path, name: str, method: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Return the row of one case, run in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.accuracy.tables", str(folder), name, method]
    environment = {**os.environ, "MERCER_CHOICES": json.dumps(choices)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode:
        reason = (answer.stderr.strip().splitlines() or [f"status {answer.returncode}"])[-1]
        return {"case": method, "error": None, "seconds": None, "extra MB": None, "note": reason}
    return json.loads(answer.stdout.splitlines()[-1])


def describe(folder: Path, name: str) -> str:
    """Return the name and shape of a data set, and what its error is."""
    X, y, X_test, _ = data(folder, name)
    kind = "1 - R2" if y.dtype.kind == "f" else "misclassification rate"
    return f"{name}: {len(X):,} + {len(X_test):,} rows, d={X.shape[1]}; error is {kind}"


def data(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and targets, and test rows and targets."""
    if name == "mnist":
        f = np.load(folder / "mnist.npz")
        X, X_test = (f[key].reshape(len(f[key]), -1) for key in ("x_train", "x_test"))
        return X, f["y_train"].astype(int), X_test, f["y_test"].astype(int)
    regression = name in ("protein", "kin40k")
    kind = "uci_regression" if regression else "uci_classification"
    f = np.load(folder / kind / f"{name.split()[0]}.npz")
    X, y = f["X"], f["y"]
    if regression:
        test = f["test_mask"][:, 0] > 0
    elif "is_test" in f:
        test = f["is_test"] > 0
    else:
        test = np.random.default_rng(0).random(len(X)) < 0.1
    if name.endswith("binary"):
        y = (y == 1).astype(int)
    y = y.astype(float if regression else int)
    return X[~test], y[~test], X[test], y[test]


def fitted(method: str, X: np.ndarray, y: np.ndarray, choices: dict[str, Any]) -> Any:
    """Return a fitted model of one of the methods."""
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import mercer

    classes = y.dtype.kind == "i"
    if method == "mercer":
        maker = mercer.KernelClassifier if classes else mercer.KernelRegressor
        return maker(n_components=N_COMPONENTS).fit(X, y)
    X = X.astype(np.float32)
    ridge = RidgeClassifier if classes else Ridge
    alpha = choices.get("alpha", 1.0) if "mercer" in method or "exact" in method else 1.0
    last = ridge(alpha=alpha, solver="cholesky")
    gamma = 1 / X.shape[1]
    if method == "linear":
        return make_pipeline(StandardScaler(), last).fit(X, y)
    if method == "RBFSampler":
        features = RBFSampler(gamma=gamma, n_components=N_COMPONENTS, random_state=0)
        return make_pipeline(StandardScaler(), features, last).fit(X, y)
    if method == "Nystroem":
        features = Nystroem(gamma=gamma, n_components=N_COMPONENTS, random_state=0)
        return make_pipeline(StandardScaler(), features, last).fit(X, y)
    encoder = mercer.TableEncoder(scaling=choices["scaling"]).fit(X)
    if method.startswith("RBFSampler"):
        gamma = 1 / (2 * choices["lengthscale"] ** 2)
        features = RBFSampler(gamma=gamma, n_components=N_COMPONENTS, random_state=0)
        return make_pipeline(encoder, features, last).fit(X, y)
    return exact(encoder, X, y, choices)


def exact(encoder: Any, X: np.ndarray, y: np.ndarray, choices: dict[str, Any]) -> Any:
    """Return exact kernel ridge regression on some of the rows, with mercer's kernel."""
    from sklearn.kernel_ridge import KernelRidge

    import mercer

    rows = np.random.default_rng(0).permutation(len(X))[:EXACT_ROWS]
    kernel = getattr(mercer, choices["kernel"])(**choices["parameters"])
    # scikit-learn calls a kernel function for every pair; the matrix is computed beforehand.
    E = encoder.transform(X[rows]).astype(float)
    mean = y[rows].mean() if y.dtype.kind == "f" else 0.0
    targets = y[rows] - mean if y.dtype.kind == "f" else one_hot(y[rows], y.max() + 1)
    share = choices["alpha"] * len(rows) / len(X)
    machine = KernelRidge(alpha=share, kernel="precomputed").fit(kernel(E), targets)

    class Exact:
        def predict(self, X_new: np.ndarray) -> np.ndarray:
            found = machine.predict(kernel(encoder.transform(X_new).astype(float), E))
            return found + mean if y.dtype.kind == "f" else found.argmax(axis=1)

    return Exact()


def one_hot(y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return +1 for the class of a row and -1 for the others."""
    return np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)


def case(folder: Path, name: str, method: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Return error, time and memory of one method on one data set."""
    X, y, X_test, y_test = data(folder, name)
    warm_up(method, X, y, choices)
    with PeakMemory() as memory:
        start = time.perf_counter()
        model = fitted(method, X, y, choices)
        seconds = time.perf_counter() - start
    parts = np.array_split(X_test.astype(X.dtype), max(1, len(X_test) // 5000))
    predicted = np.concatenate([model.predict(part) for part in parts])
    if y.dtype.kind == "f":
        error = float(((predicted - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum())
    else:
        error = float((predicted != y_test).mean())
    row = {
        "case": method,
        "error": error,
        "seconds": seconds,
        "extra MB": memory.growth / 1e6,
        "note": "",
    }
    if method == "mercer":
        kernel = model.kernel_
        row["note"] = f"{model.report_.kernel}, expected {1 - model.report_.score:.3g}"
        row["choices"] = {
            "kernel": type(kernel).__name__,
            "parameters": kernel.get_params(deep=False),
            "lengthscale": kernel.lengthscale,
            "scaling": model.encoder_.scaling,
            "alpha": float(np.mean(model.machine_.alpha_)),
        }
    return row


def warm_up(method: str, X: np.ndarray, y: np.ndarray, choices: dict[str, Any]) -> None:
    """Import and compile what is needed, so that it is not measured."""
    some = np.random.default_rng(0).permutation(len(X))[:3000]
    fitted(method, X[some], y[some], choices)


if __name__ == "__main__":
    arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(json.dumps(case(*arguments, json.loads(os.environ["MERCER_CHOICES"]))))
