"""Ridge regression on feature maps of equal dimension: the protocol of a paper's tables.

The protocol of "Random Gegenbauer features" (I. Han, A. Zandieh and H. Avron, ICML 2022),
appendix J.1: 90 % of the rows to train on, drawn at random, 10 % to test on, and the ridge
parameter by cross-validation in two folds, from the machine's own grid: its smallest value is
what the rounding of float32 features allows, which is different for each map, and for most maps
this value is the best. Other parameters of a map, above all its lengthscale, are chosen by the
cross-validated error on some of the training rows. Seconds are those of the last fit, all ridge
parameters included, and of predictions.

The fields are grids on the sphere. Every test cell has neighbours among the training cells: the
benchmark measures how much detail a number of features can represent, not a forecast. Cells get
smaller towards the poles; errors weigh all cells alike, as in the paper, and "by area" by their
size.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import FeatureRidge, TableEncoder

from ..report import Table
from . import data
from .plot import Axis, Panel, draw

#: The paper's number of features.
N_COMPONENTS = 1024
#: Rows that lengthscales are chosen on.
CHOICE_ROWS = 20_000
TEST_SHARE = 0.1
FOLDS = 2
WARM_UP_ROWS = 3000
#: Columns of rows with coordinates and a time.
PLACE_AND_TIME = 4
#: Factors of the times, which first span a radius of the sphere.
STRETCHES = (1.0, 0.5)
#: Name of a field: the meaning of its values, and their unit.
FIELDS = {
    "elevation": ("height in km", 1000.0),
    "sea_surface": ("temperature of the sea surface in degrees", 1.0),
    "wind": ("eastward wind in m/s", 1.0),
}


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    n_components: int
    train_rows: int | None
    choice_rows: int


FULL = Sizes(N_COMPONENTS, None, CHOICE_ROWS)
QUICK = Sizes(120, 3000, 1000)


@dataclass(frozen=True)
class Task:
    """Rows and targets to train on and to test on; ``area`` holds weights of the test rows."""

    name: str
    target: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    area: np.ndarray | None = None

    @property
    def stretches(self) -> tuple[float, ...]:
        """Factors of the last column: more than one if it is a time."""
        timed = self.area is not None and self.X.shape[1] == PLACE_AND_TIME
        return STRETCHES if timed else (1.0,)

    @property
    def title(self) -> str:
        """Title of the task, with its size."""
        rows = f"{len(self.X):,} + {len(self.X_test):,} rows, d={self.X.shape[1]}"
        return f"{self.name}: {self.target}, variance {self.y_test.var():.3g}; {rows}"


@dataclass(frozen=True)
class Candidate:
    """A feature map, and a note on what distinguishes it from other candidates of its method.

    ``stretch`` is the factor of the last column of the rows, the time.
    """

    features: Any
    note: str = ""
    stretch: float = 1.0

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return rows with their time stretched."""
        if self.stretch == 1:
            return X
        X = X.copy()
        X[:, -1] *= self.stretch
        return X


@dataclass(frozen=True)
class Reference:
    """The method of the ratios, and what the paper printed: error, seconds."""

    method: str
    printed: Mapping[str, Mapping[str, tuple[float, float]]]


def fields(folder: Path, sizes: Sizes) -> Iterator[Task]:
    """Yield the fields on the sphere."""
    for name, (target, unit) in FIELDS.items():
        X, y, area = data.field(folder, name)
        order = np.random.default_rng(0).permutation(len(X))
        n_test = round(TEST_SHARE * len(X))
        test, train = order[:n_test], order[n_test:][: sizes.train_rows]
        y, name = y / unit, name.replace("_", " ")
        yield Task(name, target, X[train], y[train], X[test], y[test], area[test])


def protein(folder: Path, sizes: Sizes, constant: bool = False) -> Task:
    """Return the table of proteins with standardised columns, and a constant one if asked for.

    The constant is the norm of a typical row. The target here is log(1 + RMSD); the paper's has
    a variance of 36 or 37.
    """
    X, y, X_test, y_test = data.split_table(folder, "protein")
    order = np.random.default_rng(0).permutation(len(X))[: sizes.train_rows]
    X, y = X[order], y[order]
    size = float(np.sqrt(np.mean(np.sum(np.square(TableEncoder().fit_transform(X)), axis=1))))
    encoder = TableEncoder(constant=size if constant else None).fit(X)
    X, X_test = (encoder.transform(part).astype(np.float32) for part in (X, X_test))
    return Task("protein", "log(1 + RMSD)", X, y, X_test, y_test)


def tables(
    tasks: Iterable[Task],
    makers: Callable[[Task], Mapping[str, Sequence[Candidate]]],
    reference: Reference,
    sizes: Sizes,
) -> list[Table]:
    """Return error and time of every method, a table for each task."""
    with mercer.config(progress=False):
        return [table(task, makers(task), reference, sizes) for task in tasks]


def table(
    task: Task,
    methods: Mapping[str, Sequence[Candidate]],
    reference: Reference,
    sizes: Sizes,
) -> Table:
    """Return error and time of every method on a task.

    Parameters
    ----------
    task : Task
        Rows and targets.
    methods : dict
        Candidates of every method.
    reference : Reference
        What to compare with.
    sizes : Sizes
        How much is computed.
    """
    rows = []
    for name, candidates in methods.items():
        rows.append({"method": name, **measured(chosen(candidates, task, sizes), task)})
        print(f"{task.name}: {rows[-1]}", file=sys.stderr, flush=True)
    base = next(row for row in rows if row["method"] == reference.method)
    printed = reference.printed.get(task.name, {})
    ratios = {"MSE": 0, "seconds": 1}
    for row in rows:
        note = row.pop("note")
        for column, k in ratios.items():
            row[f"{column} / {reference.method}"] = row[column] / base[column]
            known = row["method"] in printed
            row[f"printed {column} / {reference.method}"] = (
                printed[row["method"]][k] / printed[reference.method][k] if known else None
            )
        row["note"] = note
    return Table(task.title, rows)


def chosen(candidates: Sequence[Candidate], task: Task, sizes: Sizes) -> Candidate:
    """Return the candidate with the least cross-validated error on the first rows.

    A map may refuse a lengthscale that is much too small for it.
    """
    if len(candidates) == 1:
        return candidates[0]
    X, y = task.X[: sizes.choice_rows], task.y[: sizes.choice_rows]
    errors = []
    for candidate in candidates:
        try:
            model = fitted(candidate.features, candidate.rows(X), y)
        except ValueError as refusal:
            print(f"{task.name}: {candidate.note}: {refusal}", file=sys.stderr, flush=True)
            errors.append(np.inf)
        else:
            errors.append(float(np.min(model.solution_.scores)))
    return candidates[int(np.argmin(errors))]


def fitted(features: Any, X: np.ndarray, y: np.ndarray) -> FeatureRidge:
    """Return the ridge machine on features, its parameter chosen in two folds."""
    with warnings.catch_warnings():
        # Maps that hold little of a kernel warn; the table shows their errors.
        warnings.simplefilter("ignore", UserWarning)
        return FeatureRidge(features, selection=FOLDS).fit(X, y)


def measured(candidate: Candidate, task: Task) -> dict[str, Any]:
    """Return error and time of a method on all rows."""
    X, X_test, features = candidate.rows(task.X), candidate.rows(task.X_test), candidate.features
    # Compiles what the method needs; not timed.
    fitted(features, X[:WARM_UP_ROWS], task.y[:WARM_UP_ROWS]).predict(X_test[:WARM_UP_ROWS])
    start = time.perf_counter()
    model = fitted(features, X, task.y)
    middle = time.perf_counter()
    squares = (model.predict(X_test) - task.y_test) ** 2
    end = time.perf_counter()
    place = " (the smallest)" if model.alpha_ == model.solution_.alphas.min() else ""
    alpha = f"alpha {model.alpha_ / len(task.X):.2g} n{place}"
    return {
        "columns": int(model.coef_.size),
        "MSE": float(squares.mean()),
        "1 - R2": float(squares.mean() / task.y_test.var()),
        "1 - R2 by area": None if task.area is None else by_area(squares, task),
        "fit seconds": middle - start,
        "predict seconds": end - middle,
        "seconds": end - start,
        "note": f"{candidate.note}, {alpha}" if candidate.note else alpha,
    }


def by_area(squares: np.ndarray, task: Task) -> float:
    """Return 1 - R² with cells weighted by their area."""
    mean = np.average(task.y_test, weights=task.area)
    variance = np.average((task.y_test - mean) ** 2, weights=task.area)
    return float(np.average(squares, weights=task.area) / variance)


def draw_tables(tables: Sequence[Table], path: Path) -> None:
    """Draw error against time, a panel for each task; errors above 1 are drawn at 1."""

    def bounded(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "1 - R2": min(row["1 - R2"], 1.0)}

    panels = [
        Panel(task.title.partition(":")[0], [bounded(row) for row in task.rows]) for task in tables
    ]
    x = Axis("seconds", "seconds to fit and predict")
    y = Axis("1 - R2", "test MSE / variance of the target, at most 1")
    draw(path, panels, [x] * len(panels), y, one_scale=False)
