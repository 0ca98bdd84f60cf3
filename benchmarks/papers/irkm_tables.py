"""Classification tables: the protocol of table 1 of the paper of :mod:`.irkm_table`.

The paper takes 121 tables and the folds of others; here there are 53, split as
:mod:`.classification_sets` says, with every choice made on training rows alone
(:mod:`.classifiers`). Tables of a thousand rows or so are tested row by row in four folds; of a
longer one a thousand rows are for training and up to four thousand for testing. P90 and P95 are
the shares of tables on which a method reaches 90 and 95 % of the best accuracy; the Friedman rank
is the mean rank, 1 for the best. Kernel ridge is IRKM without steps. Splits run in parallel, one
per core: seconds are those of one core, all choices included.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata

from ..report import Report, Table, Target
from .classification_sets import Dataset, folds, load, names, splits
from .classifiers import FOREST, IRKM, METHODS, RFM, choice, fitted
from .plot import Axis, Panel, draw

N_FOLDS, INNER_FOLDS = 4, 3


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    train_rows: int
    test_rows: int
    n_tables: int | None
    n_splits: int | None


FULL = Sizes(1000, 4000, None, None)
QUICK = Sizes(80, 100, 3, 1)


@dataclass(frozen=True)
class Found:
    """Results on one split of a table: correct test rows, seconds and choices."""

    name: str
    n_test: int
    right: dict[str, int]
    seconds: dict[str, float]
    choices: dict[str, str]


def run(folder: Path, quick: bool = False) -> Report:
    """Return a summary of all methods, and their accuracies table by table."""
    sizes = QUICK if quick else FULL
    tables = [load(folder, name) for name in names(folder)[: sizes.n_tables]]
    # Long tables first, so that no core waits for another at the end.
    tasks = [
        delayed(measured)(part(table, train), part(table, test))
        for table in reversed(tables)
        for train, test in splits(table, N_FOLDS, sizes.train_rows, sizes.test_rows)[
            : sizes.n_splits
        ]
    ]
    found = []
    for one in Parallel(n_jobs=1 if quick else -1, return_as="generator_unordered")(tasks):
        print(one, file=sys.stderr, flush=True)
        found.append(one)
    rows = [row_of(table, [one for one in found if one.name == table.name]) for table in tables]
    limit = f"at most {sizes.train_rows:,} training rows"
    title = f"{len(tables)} classification tables, {limit}"
    report = [Table(title, summary(rows, found)), Table(f"accuracy by table, {limit}", rows)]
    return Report(report, [] if quick else promised(report[0]))


def part(table: Dataset, rows: np.ndarray) -> Dataset:
    """Return some rows of a table."""
    return Dataset(table.name, table.X[rows], table.y[rows], table.groups[rows])


def measured(train: Dataset, test: Dataset) -> Found:
    """Return the result of every method on one split."""
    inner = list(folds(train.X, train.y, train.groups, INNER_FOLDS))
    found = Found(train.name, len(test.y), {}, {}, {})
    with warnings.catch_warnings():
        # Networks that have not converged.
        warnings.simplefilter("ignore")
        for name, fit in fitted(train.X, train.y, inner).items():
            start = time.perf_counter()
            model = fit()
            found.right[name] = int(np.sum(model.predict(test.X) == test.y))
            found.seconds[name] = time.perf_counter() - start
            found.choices[name] = choice(model)
    return found


def row_of(table: Dataset, found: list[Found]) -> dict[str, Any]:
    """Return sizes and accuracies of a table, and what IRKM chose first."""
    n_test = sum(one.n_test for one in found)
    return {
        "table": table.name,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "classes": len(np.unique(table.y)),
        "splits": len(found),
        **{method: sum(one.right[method] for one in found) / n_test for method in METHODS},
        "IRKM's first choice": found[0].choices[IRKM],
        "RFM's first choice": found[0].choices[RFM],
    }


def summary(rows: list[dict[str, Any]], found: list[Found]) -> list[dict[str, Any]]:
    """Return a row for each method."""
    accuracies = np.asarray([[row[method] for method in METHODS] for row in rows])
    shares = accuracies / accuracies.max(axis=1, keepdims=True)
    ranks = np.asarray([rankdata(-line) for line in accuracies])
    forest = accuracies[:, METHODS.index(FOREST)]
    return [
        {
            "method": method,
            "average accuracy %": 100 * float(accuracies[:, k].mean()),
            "P90 %": 100 * float(np.mean(shares[:, k] >= 0.9)),
            "P95 %": 100 * float(np.mean(shares[:, k] >= 0.95)),
            "Friedman rank": float(ranks[:, k].mean()),
            "better than random forest": int(np.sum(accuracies[:, k] > forest)),
            "worse": int(np.sum(accuracies[:, k] < forest)),
            "core seconds": sum(one.seconds[method] for one in found),
        }
        for k, method in enumerate(METHODS)
    ]


def promised(table: Table) -> list[Target]:
    """Return the target: the better of two machines is no worse than a random forest."""
    means = {row["method"]: row["average accuracy %"] for row in table.rows}
    name = f"{table.title}: average accuracy of the better of IRKM and RFM (bound: random forest)"
    return [Target(name, "at least", means[FOREST], max(means[IRKM], means[RFM]))]


def picture(report: Report, path: Path) -> None:
    """Draw the difference of each method from a random forest, tables sorted by it."""
    rows = report.tables[1].rows
    lines = []
    for method in METHODS:
        gains = sorted(100 * (row[method] - row[FOREST]) for row in rows)
        lines += [{"method": method, "x": k + 1, "y": gain} for k, gain in enumerate(gains)]
    x = Axis("x", "tables, sorted by the difference", "linear")
    y = Axis("y", "accuracy less that of a random forest, %", "linear")
    draw(path, [Panel(f"{len(rows)} classification tables", lines)], [x], y)
