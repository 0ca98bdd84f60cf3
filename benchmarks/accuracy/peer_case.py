"""One method on one table: error, seconds of the fit, memory; run in a process of its own.

``python -m benchmarks.accuracy.peer_case FOLDER TABLE METHOD DEVICE`` prints the row as JSON in
its last line. Only the modules of the method are imported: the interpreter of the peers need not
have mercer, nor the interpreter of mercer the peers.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..runner import PeakMemory

REGRESSION = (
    "protein",
    "kin40k",
    "pol",
    "elevators",
    "abalone",
    "powerplant",
    "parkinsons",
    "pumadyn32nm",
    "diamonds",
    "compactiv",
    "bike",
)
CLASSIFICATION = (
    "electricity",
    "magic",
    "letter",
    "krkopt",
    "satellite",
    "adult",
    "shuttle",
    "phoneme",
    "covtype",
)
#: Columns left out: the casual and registered counts, whose sum is the target; the subject.
LEFT_OUT = {"bike": (15, 16), "parkinsons": (0,)}
#: Rows drawn at random from the tables that have more.
N_ROWS = {"covtype": 100_000}
#: Test rows: this share, and at least so many.
SHARE, FEWEST = 10, 300
#: Landmarks of the Nyström features.
N_LANDMARKS = 2048
#: Candidates for the ridge parameter of the linear models.
ALPHAS = np.logspace(-5, 3, 9)
#: Rows of the fit that only imports and compiles; mercer's has enough of them for a search.
WARM_UP, WARM_UP_MERCER, WARM_UP_SECONDS = 500, 2100, 10.0
#: Packages of each method, for the record.
PACKAGES = {
    "linear": ("scikit-learn",),
    "nystroem": ("scikit-learn",),
    "hgb": ("scikit-learn",),
    "lgbm": ("lightgbm",),
    "xrfm": ("xrfm", "torch"),
    "mercer": ("mercer",),
}


def data(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and targets, and test rows and targets."""
    regression = name in REGRESSION
    kind = "uci_regression" if regression else "uci_classification"
    with np.load(folder / kind / f"{name}.npz") as f:
        X = np.delete(f["X"], LEFT_OUT.get(name, ()), axis=1)
        y = f["y"].astype(float if regression else int)
    order = np.random.default_rng(0).permutation(len(X))[: N_ROWS.get(name)]
    n_test = max(FEWEST, len(order) // SHARE)
    test, training = order[:n_test], order[n_test:]
    return X[training], y[training], X[test], y[test]


class XRFM:
    """xRFM with defaults on standardised columns, a fifth of the rows for validation."""

    def __init__(self, device: str) -> None:
        self.device = device

    def fit(self, X: np.ndarray, y: np.ndarray) -> XRFM:
        """Learn; numbers are centred and scaled, since the model has no constant."""
        import torch
        from sklearn.preprocessing import StandardScaler
        from xrfm import xRFM

        order = np.random.default_rng(0).permutation(len(X))
        held_out, rows = order[: len(X) // 5], order[len(X) // 5 :]
        self.scaler = StandardScaler().fit(X[rows])
        self.centre, self.scale = 0.0, 1.0
        if y.dtype.kind == "f":
            self.centre, self.scale = y[rows].mean(), y[rows].std()
            y = ((y - self.centre) / self.scale).astype(np.float32)
        else:
            self.classes_ = np.arange(y.max() + 1)
        self.model = xRFM(device=torch.device(self.device), random_state=0, verbose=False)
        E = self._encoded(X)
        self.model.fit(E[rows], y[rows], E[held_out], y[held_out])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return numbers or labels."""
        found = np.asarray(self.model.predict(self._encoded(X))).reshape(len(X))
        return found if hasattr(self, "classes_") else found * self.scale + self.centre

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return a probability for each class."""
        return np.asarray(self.model.predict_proba(self._encoded(X)))

    def _encoded(self, X: np.ndarray) -> np.ndarray:
        return self.scaler.transform(X).astype(np.float32)


def model(method: str, classes: bool, shape: tuple[int, int], device: str) -> Any:
    """Return a method's model for labels or numbers, not fitted."""
    if method == "mercer":
        import mercer

        return mercer.KernelClassifier() if classes else mercer.KernelRegressor()
    if method == "xrfm":
        return XRFM(device)
    if method == "lgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor

        return (LGBMClassifier if classes else LGBMRegressor)(
            n_estimators=1000,
            learning_rate=0.05,
            num_leaves=63,
            n_jobs=int(os.environ.get("OMP_NUM_THREADS", "2")),
            verbose=-1,
        )
    if method == "hgb":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return boosting(random_state=0)
    return _linear(method, classes, shape)


def _linear(method: str, classes: bool, shape: tuple[int, int]) -> Any:
    """Return a linear model of the standardised columns, or of their Nyström features."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if method == "linear":
        last = LogisticRegression(max_iter=1000) if classes else RidgeCV(ALPHAS)
        return make_pipeline(StandardScaler(), last)
    features = Nystroem(
        gamma=1 / (2 * shape[1]), n_components=min(N_LANDMARKS, shape[0]), random_state=0
    )
    ridge = RidgeClassifierCV if classes else RidgeCV
    return make_pipeline(StandardScaler(), features, ridge(ALPHAS))


def case(folder: Path, name: str, method: str, device: str) -> dict[str, Any]:
    """Return the row of one method on one table."""
    X, y, X_test, y_test = data(folder, name)
    if method in ("linear", "nystroem"):
        X, X_test = X.astype(float), X_test.astype(float)
    classes = y.dtype.kind == "i"
    _warm_up(method, X, y, device)
    with PeakMemory() as memory:
        start = time.perf_counter()
        fitted = model(method, classes, X.shape, device).fit(X, y)
        seconds = time.perf_counter() - start
    predicted = np.asarray(fitted.predict(X_test))
    if classes:
        error = float((predicted != y_test).mean())
    else:
        error = float(((predicted - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum())
    return {
        "table": name,
        "method": method,
        "rows": len(X),
        "columns": X.shape[1],
        "error": error,
        "seconds": seconds,
        "MB": memory.growth / 1e6,
        "log loss": _log_loss(fitted, X_test, y_test) if classes else None,
        "coverage": None if classes else _coverage(fitted, X_test, y_test),
        "note": _diverged(fitted, X, y) if method == "lgbm" else _device_memory(method, device),
        "versions": ", ".join(f"{package} {version(package)}" for package in PACKAGES[method]),
    }


def _warm_up(method: str, X: np.ndarray, y: np.ndarray, device: str) -> None:
    """Import and compile what the fit needs, so that it is not measured."""
    n_rows = WARM_UP_MERCER if method == "mercer" else WARM_UP
    some = np.random.default_rng(1).permutation(len(X))[:n_rows]
    # So few rows may lack a class; the fit of all rows says what is wrong, if anything is.
    fresh = model(method, y.dtype.kind == "i", X[some].shape, device)
    if method == "mercer":
        fresh.set_params(effort="quick", time_limit=WARM_UP_SECONDS)
    with contextlib.suppress(ValueError):
        fresh.fit(X[some], y[some])


def _log_loss(fitted: Any, X: np.ndarray, y: np.ndarray) -> float | None:
    """Return the mean negative logarithm of the probability of the right class."""
    if not hasattr(fitted, "predict_proba"):
        return None
    P = np.asarray(fitted.predict_proba(X), dtype=float)
    right = (P * (y[:, None] == np.asarray(fitted.classes_))).sum(axis=1)
    return float(-np.log(np.clip(right, 1e-15, 1)).mean())


def _coverage(fitted: Any, X: np.ndarray, y: np.ndarray) -> float | None:
    """Return the share of targets inside the interval of 95 %."""
    if "return_std" not in inspect.signature(fitted.predict).parameters:
        return None
    mean, deviation = fitted.predict(X, return_std=True)
    return float((np.abs(y - mean) <= 1.96 * deviation).mean())


def _diverged(fitted: Any, X: np.ndarray, y: np.ndarray) -> str:
    """Return a note if more trees made LightGBM worse on the rows that it learned from.

    Boosting of several classes can diverge: the Hessians of a rare class vanish, the values of
    its leaves grow beyond bounds, and the error rises at once.
    """
    if y.dtype.kind == "f":
        return ""
    few, all_trees = 100, fitted.n_estimators
    early = float((fitted.predict(X[:5000], num_iteration=few) != y[:5000]).mean())
    late = float((fitted.predict(X[:5000]) != y[:5000]).mean())
    if late <= early:
        return ""
    return f"diverged: training error {early:.3g} after {few} trees, {late:.3g} after {all_trees:,}"


def _device_memory(method: str, device: str) -> str:
    """Return the memory of a device that is not the processor, in words."""
    if method != "xrfm" or device == "cpu":
        return ""
    import torch

    return f"on {device}, {torch.cuda.max_memory_allocated() / 1e6:.0f} MB there"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n" + json.dumps(case(Path(sys.argv[1]), *sys.argv[2:5])))
