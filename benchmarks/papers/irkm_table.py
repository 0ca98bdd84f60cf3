"""Sparse polynomials from few rows: how many rows a step of IRKM and of RFM needs.

L. Zhu, D. Davis, D. Drusvyatskiy and M. Fazel, "Iteratively reweighted kernel machines
efficiently learn sparse functions" (arXiv 2505.08277). The target is that of figure 2, x1 + x2 +
x1 x2 x3 + x1 x2 x3 x4 with noise 0.1, whose variance is 4; inputs are signs, and every step has
fresh rows. For RFM the same rows are rotated at random, so that no column matters alone. "Reused"
means that all steps use the rows of the first. A step is an update of the weights; the machine
with the smallest leave-one-out error is kept.

Errors are mean squares on fresh rows with their noise, 0.01. The last table is of the paper's
size, and asks whether the true coordinates have the largest weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer import IRKMRegressor, Laplace, RFMRegressor
from mercer.datasets import HierarchicalTask

from ..report import Report, Table, Target
from .plot import Axis, Panel, draw

NOISE = 0.1
#: The ridge parameter. It nearly interpolates, as the targets have little noise.
ALPHA = 1e-6
TEST_ROWS = 2000
#: Seed of the rows to test on, far from those of the machines.
TEST_SEED = 10**6
#: The exponent s of n = d^s of the table of recovered coordinates.
EXPONENT = 0.8
#: An error below which a seed has found the target.
FOUND = 0.3

METHODS = {
    "IRKM(0)": {"mixing": 0.0},
    "IRKM(1/2)": {"mixing": 0.5},
    "IRKM(1/2), shifted": {"mixing": 0.5, "negative": "shift"},
    "IRKM(1)": {"mixing": 1.0},
    "IRKM(1/2), rows reused": {"mixing": 0.5, "fresh": False},
}
ROTATED_METHODS = {
    "RFM(0)": {"mixing": 0.0},
    "RFM(1/2)": {"mixing": 0.5},
}

Sampler = Callable[[int, Any], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Sizes:
    """How much is computed: columns, rows of a step, steps, and seeds."""

    d: int
    rows: tuple[int, ...]
    steps: int
    n_seeds: int
    rotated_d: int
    rotated_rows: tuple[int, ...]
    rotated_steps: int
    large_d: int
    large_steps: int
    large_seeds: int


FULL = Sizes(100, (40, 63, 100), 10, 20, 40, (100, 150, 300), 15, 500, 20, 10)
QUICK = Sizes(30, (30, 60), 5, 3, 15, (60, 100), 5, 60, 8, 2)


def run(folder: Path | None = None, quick: bool = False) -> Report:
    """Return errors by rows of a step, plain and rotated, and the weights at the paper's size."""
    sizes = QUICK if quick else FULL
    plain = Table(
        f"signs, d={sizes.d}, {sizes.steps} steps, {sizes.n_seeds} seeds",
        plain_rows(sizes),
    )
    rotated = Table(
        f"rotated signs, d={sizes.rotated_d}, {sizes.rotated_steps} steps, {sizes.n_seeds} seeds",
        rotated_rows(sizes),
    )
    n = round(sizes.large_d**EXPONENT)
    large = Table(
        f"signs, d={sizes.large_d}, n=d^{EXPONENT}={n}, {sizes.large_steps} steps of IRKM(1/2)",
        recovery_rows(sizes.large_d, n, sizes.large_steps, sizes.large_seeds),
    )
    targets = [] if quick else promised(plain, rotated, large)
    return Report([plain, rotated, large], targets)


def plain_rows(sizes: Sizes) -> list[dict[str, Any]]:
    """Return a row for each method and number of rows."""
    task = HierarchicalTask(sizes.d, inputs="hypercube", noise=NOISE)
    rows = []
    for n in sizes.rows:
        for name, options in METHODS.items():
            errors = []
            for seed in range(sizes.n_seeds):
                model = IRKMRegressor(Laplace(sizes.d**0.5), **steps(sizes.steps, n, seed, options))
                errors.append(test_error(fitted(model, task.sample, n, seed), task.sample))
            rows.append(summary(name, n, errors))
    return rows


def rotated_rows(sizes: Sizes) -> list[dict[str, Any]]:
    """Return a row for each method and number of rows, the inputs rotated."""
    d, rows = sizes.rotated_d, []
    for n in sizes.rotated_rows:
        for name, options in ROTATED_METHODS.items():
            errors = []
            for seed in range(sizes.n_seeds):
                sample = rotated(HierarchicalTask(d, inputs="hypercube", noise=NOISE), seed)
                model = RFMRegressor(
                    Laplace(d**0.5), **steps(sizes.rotated_steps, n, seed, options)
                )
                errors.append(test_error(fitted(model, sample, n, seed), sample))
            rows.append(summary(name, n, errors))
    return rows


def recovery_rows(d: int, n: int, n_steps: int, n_seeds: int) -> list[dict[str, Any]]:
    """Return a row for each seed: which columns have the largest weights, and the error."""
    task = HierarchicalTask(d, inputs="hypercube", noise=NOISE)
    true, rows = task.polynomial.coordinates, []
    for seed in range(n_seeds):
        model = IRKMRegressor(Laplace(d**0.5), **steps(n_steps, n, seed, {"mixing": 0.5}))
        weights = fitted(model, task.sample, n, seed).feature_importances_
        largest = np.argsort(weights)[::-1][: len(true)]
        others = np.delete(weights, true)
        rows.append(
            {
                "seed": seed,
                "largest weights": ", ".join(f"x{j + 1}" for j in sorted(largest)),
                "all found": "yes" if set(largest) == set(true) else "no",
                "smallest true share": float(weights[list(true)].min()),
                "largest other share": float(others.max()),
                "steps": int(model.best_iteration_),
                "test MSE": test_error(model, task.sample),
            }
        )
    return rows


def steps(n_steps: int, n: int, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a machine that takes ``n_steps`` steps, each on its own rows."""
    shared = {
        "n_iterations": n_steps,
        "alpha": ALPHA,
        "fresh": True,
        "batch_size": n,
        "patience": None,
        "standardize": False,
        "random_state": seed,
    }
    return {**shared, **options}


def fitted(model: Any, sample: Sampler, n: int, seed: int) -> Any:
    """Return the machine after its steps, on fresh rows or on the same ``n`` again and again."""
    return model.fit(sample) if model.fresh else model.fit(*sample(n, seed))


def rotated(task: HierarchicalTask, seed: int) -> Sampler:
    """Return a sampler of the task whose rows are rotated at random."""
    normal = np.random.default_rng(seed).standard_normal((task.n_features, task.n_features))
    Q = np.linalg.qr(normal)[0]

    def sample(n: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = task.sample(n, random_state)
        return X @ Q, y

    return sample


def test_error(model: Any, sample: Sampler) -> float:
    """Return the mean squared error on rows that no machine has seen."""
    X, y = sample(TEST_ROWS, TEST_SEED)
    return float(np.mean((model.predict(X) - y) ** 2))


def summary(method: str, n: int, errors: list[float]) -> dict[str, Any]:
    """Return a row: the median error over seeds, its extremes, and how many seeds succeed."""
    return {
        "method": method,
        "rows of a step": n,
        "median MSE": float(np.median(errors)),
        "smallest": float(np.min(errors)),
        "largest": float(np.max(errors)),
        f"seeds below {FOUND}": int(np.sum(np.asarray(errors) < FOUND)),
    }


def promised(plain: Table, rotated: Table, large: Table) -> list[Target]:
    """Return the targets: bounds on the medians, the seeds and the weights."""
    wanted = [
        (plain, "IRKM(1/2)", 63, "median MSE", "at most", 0.1),
        (plain, "IRKM(1/2)", 100, "median MSE", "at most", 0.05),
        (plain, "IRKM(1/2)", 63, f"seeds below {FOUND}", "at least", 18),
        (plain, "IRKM(1/2)", 100, f"seeds below {FOUND}", "at least", 18),
        (plain, "IRKM(0)", 63, "median MSE", "at least", 1.2),
        (plain, "IRKM(0)", 100, "median MSE", "at least", 1.2),
        (rotated, "RFM(1/2)", 150, "median MSE", "at most", 0.1),
    ]
    targets = [
        Target(
            f"{table.title}: {method}, n={n}, {column}",
            sense,
            bound,
            cell(table, method, n, column),
        )
        for table, method, n, column, sense, bound in wanted
    ]
    found = sum(row["all found"] == "yes" for row in large.rows)
    return [*targets, Target(f"{large.title}: seeds that find all four", "at least", 9, found)]


def cell(table: Table, method: str, n: int, column: str) -> float:
    """Return an entry of a table."""
    return next(
        row[column] for row in table.rows if row["method"] == method and row["rows of a step"] == n
    )


def picture(report: Report, path: Path) -> None:
    """Draw median errors against the rows of a step, plain and rotated."""
    panels = [
        Panel(", ".join(table.title.split(", ")[:2]), table.rows) for table in report.tables[:2]
    ]
    y = Axis("median MSE", "median test MSE (variance 4, noise 0.01)")
    draw(path, panels, [Axis("rows of a step", "rows of a step n")] * len(panels), y)
