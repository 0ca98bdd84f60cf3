"""Classification tables, split so that no test row has a copy among the training rows.

Rows with the same input stay together, and so do those of one speaker. Tables in the order of
time are trained on the past and tested on the future. No column is an identifier of a row, a
speaker or a split. What splits cannot correct: missing values were imputed from all rows, several
rows of one molecule ("musk") are not marked as such, and some tables are derived from others:
"dna" and "splice", "ada" and "adult", "sylva" and "covtype", "digits" and "optdigits".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

#: Rows in the order of time, and the share of them that is the past.
IN_TIME, PAST = ("electricity", "weather"), 0.7
#: The most rows of a table that are used.
MOST_ROWS = 20_000

Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Dataset:
    """Rows, labels, which rows belong together, and whether rows are in the order of time."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    in_time: bool = False


def names(folder: Path) -> list[str]:
    """Return the names of all tables, small ones first."""
    files = sorted((folder / "uci_classification").glob("*.npz"))
    sizes = {path.stem: np.load(path)["y"].size for path in files}
    return sorted(sizes, key=lambda name: sizes[name])


def load(folder: Path, name: str) -> Dataset:
    """Return a table; a long one is subsampled at random, in the original order."""
    file = np.load(folder / "uci_classification" / f"{name}.npz")
    X, y = file["X"], file["y"].astype(int)
    rows = np.arange(len(X))
    if len(X) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False))
    X, y = X[rows].astype(float), y[rows]
    if "speaker" in file:
        groups = file["speaker"][rows]
    else:
        groups = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    return Dataset(name, X, y, groups, name in IN_TIME)


def splits(table: Dataset, n_folds: int, train_rows: int, test_rows: int) -> list[Split]:
    """Return rows to train and to test on: folds of a short table, one split of a long one."""
    if len(table.y) * (n_folds - 1) <= train_rows * n_folds:
        return list(folds(table.X, table.y, table.groups, n_folds))
    generator = np.random.default_rng(0)
    order = generator.permutation(table.groups.max() + 1)[table.groups]
    shuffled = np.argsort(order, kind="stable")
    if table.in_time:
        past = int(PAST * len(table.y))
        earlier, later = shuffled[shuffled < past], shuffled[shuffled >= past]
    else:
        earlier, later = shuffled[:train_rows], shuffled[train_rows:]
    train, test = earlier[:train_rows], later[:test_rows]
    return [(train, test[~np.isin(table.groups[test], table.groups[train])])]


def folds(X: np.ndarray, y: np.ndarray, groups: np.ndarray, n_folds: int) -> Iterator[Split]:
    """Yield stratified folds that keep groups together."""
    folding = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # Classes with fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        yield from folding.split(X, y, groups)
