"""Squared error with calibrated probabilities against a logistic loss, on the same kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import expit

from mercer import KernelClassifier
from mercer.kernels.single_precision import float32_matrix
from mercer.solvers.dual import kernel_coefficients

from ..report import Report, Table
from .peer_case import data

TABLES = ("electricity", "magic", "adult", "phoneme")
#: Rows of a table that are learnt from, and the share on which alpha and the steps are chosen.
N_ROWS, SHARE = 3000, 0.25
#: Ridge parameters over that of the squared error, and Newton steps.
FACTORS, STEPS = np.logspace(-3, 1, 9), 6
#: The smallest weight of a row in a Newton step.
LEAST = 1e-4


def run(folder: Path) -> Report:
    """Return log loss and error of both losses on test rows."""
    rows = []
    for name in TABLES:
        X, y, X_test, y_test = data(folder, name)
        X, y = X[:N_ROWS], y[:N_ROWS]
        model = KernelClassifier(effort="quick").fit(X, y)
        right = y_test == model.classes_[1]
        squared = model.predict_proba(X_test)[:, 1]
        logistic, alpha, steps = _logistic(model, X, y == model.classes_[1], X_test)
        rows.append(
            {
                "table": name,
                "kernel": type(model.kernel_).__name__,
                "log loss, squared": _log_loss(squared, right),
                "log loss, logistic": _log_loss(logistic, right),
                "error, squared": float(((squared > 0.5) != right).mean()),
                "error, logistic": float(((logistic > 0.5) != right).mean()),
                "alpha / alpha of squares": alpha / float(np.mean(model.machine_.alpha_)),
                "Newton steps": steps,
            }
        )
    return Report([Table(f"{N_ROWS} rows, the kernel of the front door", rows)], [])


def _logistic(
    model: KernelClassifier, X: np.ndarray, labels: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, float, int]:
    """Return probabilities of new rows, with the alpha and the steps that held-out rows choose."""
    A, B = model.encoder_.transform(X), model.encoder_.transform(new)
    K = float32_matrix(model.kernel_, A).astype(float)
    n_held = int(SHARE * len(X))
    held, learning = slice(0, n_held), slice(n_held, None)
    base, best = float(np.mean(model.machine_.alpha_)), (np.inf, 0.0, 0)
    for factor in FACTORS:
        fits = _newton(K[learning, learning], labels[learning], base * factor)
        for step, (coef, constant) in enumerate(fits, 1):
            values = expit((K[held, learning] @ coef + constant)[:, 0])
            best = min(best, (_log_loss(values, labels[held]), base * factor, step))
    coef, constant = _newton(K, labels, best[1])[best[2] - 1]
    seen = float32_matrix(model.kernel_, B, A)
    return expit((seen @ coef + constant)[:, 0]), best[1], best[2]


def _newton(K: np.ndarray, labels: np.ndarray, alpha: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return coefficients and constants after each Newton step: weighted ridge regressions."""
    share = labels.mean()
    values, fits = np.full(len(labels), np.log(share / (1 - share))), []
    for _ in range(STEPS):
        p = expit(values)
        weights = np.maximum(p * (1 - p), LEAST)
        targets = values + (labels - p) / weights
        coef, constant = kernel_coefficients(K, targets[:, None], [alpha], weights)[0]
        values = (K @ coef + constant)[:, 0]
        fits.append((coef, constant))
    return fits


def _log_loss(p: np.ndarray, right: np.ndarray) -> float:
    return float(-np.log(np.clip(np.where(right, p, 1 - p), 1e-15, 1)).mean())
