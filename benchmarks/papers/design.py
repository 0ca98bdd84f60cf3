"""Greedy designs of MNIST: accuracy against the number of labels, and the time of a design.

Figure 3 of "Scaling neural tangent kernels via sketching and random features" (A. Zandieh et al.,
NeurIPS 2021): rows to label are chosen by their features alone, and a ridge classifier learns from
them. What differs: the paper has 10,000 features, a network of four layers that learns from the
design, and more test rows; here the classifier of the same features does, its ridge parameter
chosen by generalised cross-validation on the labelled rows.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer

import mercer
from mercer import FeatureRidgeClassifier, GreedyDesign, NTKFeatures
from mercer.engine.tall import tall_times, tall_transposed_times

from ..report import Report, Table, Target
from . import data
from .plot import Axis, Panel, draw

DEPTH, ALPHA = 3, 1e-2
BUDGETS = (20, 50, 100, 150, 200, 300, 400, 500, 700, 1000)
#: Budgets at which the greedy design has to be better than random ones.
JUDGED = (50, 500)
RANDOM_DESIGNS = 10
#: The design that is timed, and how many times its bound it may take.
N_POINTS, BOUND = 200, 3.0
#: Candidates of the naive scheme that are timed, and for which sizes of a design.
NAIVE_CANDIDATES, NAIVE_SHARES = 20, (0.05, 0.25, 0.5, 0.75, 1.0)


def run(folder: Path, quick: bool = False) -> Report:
    """Return accuracies of greedy and random designs, and times."""
    X, y, X_test, y_test = data.mnist(folder)
    m, budgets, designs = (256, (20, 50), 2) if quick else (2048, BUDGETS, RANDOM_DESIGNS)
    if quick:
        X, y, X_test, y_test = X[:2000], y[:2000], X_test[:500], y_test[:500]
    with mercer.config(progress=False):
        features = NTKFeatures(DEPTH, n_components=m, random_state=0).fit(X)
        Z, Z_test = features.transform(X), features.transform(X_test)
        GreedyDesign(as_they_are(), n_points=2, alpha=ALPHA).fit(Z[:500])
        times = [timed(Z, 20 if quick else N_POINTS)]
        print(times, file=sys.stderr, flush=True)
        order = GreedyDesign(as_they_are(), n_points=max(budgets), alpha=ALPHA).fit(Z).indices_
        rows = []
        for budget in budgets:
            greedy = accuracy(order[:budget], Z, y, Z_test, y_test)
            found = [
                accuracy(
                    np.random.default_rng(seed).choice(len(Z), budget, replace=False),
                    Z,
                    y,
                    Z_test,
                    y_test,
                )
                for seed in range(designs)
            ]
            random = f"random, mean of {designs}"
            deviation = float(np.std(found, ddof=1))
            both = (("greedy", greedy, None), (random, float(np.mean(found)), deviation))
            rows += [
                {"method": method, "labels": budget, "accuracy": value, "deviation": spread}
                for method, value, spread in both
            ]
            print(rows[-2:], file=sys.stderr, flush=True)
    title = f"MNIST: {len(X):,} + {len(X_test):,} rows, NTK of depth {DEPTH}, {m:,} features"
    pairs = zip(rows[::2], rows[1::2], strict=True)
    targets = [
        Target(
            f"{ours['labels']} labels: greedy less random",
            "at least",
            0.0,
            ours["accuracy"] - other["accuracy"],
        )
        for ours, other in pairs
        if JUDGED[0] <= ours["labels"] <= JUDGED[1]
    ]
    targets.append(Target("time of a design / bound", "at most", BOUND, times[0]["time / bound"]))
    return Report([Table(title, rows), Table("Time of a design", times)], targets)


def picture(report: Report, path: Path) -> None:
    """Draw accuracy against the number of labels."""
    table = report.tables[0]
    draw(
        path,
        [Panel("MNIST, NTK features", table.rows)],
        [Axis("labels", "labelled rows")],
        Axis("accuracy", "accuracy on test rows", "linear"),
    )


def as_they_are() -> FunctionTransformer:
    """Return a transformer for rows that are features already."""
    return FunctionTransformer()


def accuracy(
    chosen: np.ndarray, Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray
) -> float:
    """Return the accuracy of a classifier that learns from the chosen rows."""
    model = FeatureRidgeClassifier(None, selection="gcv").fit(Z[chosen], y[chosen])
    return float(model.score(Z_test, y_test))


def timed(Z: np.ndarray, n_points: int) -> dict[str, Any]:
    """Return the time of a design, of its bound, and of the naive scheme."""
    seconds, bound = np.inf, np.inf
    for _ in range(2):
        start = time.perf_counter()
        GreedyDesign(as_they_are(), n_points=n_points, alpha=ALPHA).fit(Z)
        seconds = min(seconds, time.perf_counter() - start)
        start = time.perf_counter()
        v = np.ones((Z.shape[1], 1), dtype=Z.dtype)
        for _ in range(2 * n_points):
            tall_times(Z, v)
        tall_transposed_times(Z, Z)
        bound = min(bound, time.perf_counter() - start)
    return {
        "rows": len(Z),
        "features": Z.shape[1],
        "points": n_points,
        "seconds": seconds,
        "bound": bound,
        "time / bound": seconds / bound,
        "naive scheme, extrapolated": naive_seconds(Z, n_points),
    }


def naive_seconds(Z: np.ndarray, n_points: int) -> float:
    """Return the time of a design of so many points by the paper's scheme, extrapolated.

    J of every candidate from products of its design's features, with each other and with their
    moments: O(m s^2) for a design of s points. It is measured for some candidates and some s,
    and added up over all candidates and all s.
    """
    F = Z[: NAIVE_CANDIDATES + n_points].astype(float)
    moved = F @ tall_transposed_times(Z, Z).astype(float)
    sizes = sorted({max(1, round(share * n_points)) for share in NAIVE_SHARES})
    steps = [0.0]
    for size in sizes:
        start = time.perf_counter()
        for candidate in range(n_points, n_points + NAIVE_CANDIDATES):
            design = [*range(size - 1), candidate]
            inner = F[design] @ F[design].T + ALPHA * np.eye(size)
            np.trace(np.linalg.solve(inner, F[design] @ moved[design].T))
        steps.append((time.perf_counter() - start) / NAIVE_CANDIDATES)
    return float(np.trapezoid(steps, [0, *sizes])) * len(Z)
