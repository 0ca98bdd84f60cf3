"""Rows to learn from and rows to test, encoded as all methods see them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from ..._array import is_foreign, is_sparse
from ..._checked_targets import check_labels, check_targets
from ..._frame import is_frame, series
from ..._random import Stream
from ...preprocessing import TableEncoder

#: Different whole numbers that are still taken for classes.
MOST_CLASSES = 30
TASKS = ("auto", "regression", "classification")
#: How methods see the rows: encoded; with a constant column, which tells kernels of angles how long
#: a row is; without the soft clipping of outliers, which no linear model can undo.
ENCODED, WITH_CONSTANT, UNCLIPPED = "encoded", "with a constant column", "unclipped"


@dataclass(frozen=True)
class Data:
    """Encoded rows and their targets.

    Attributes
    ----------
    X_train, X_test : arrays of shape (n_rows, n_columns)
        Encoded.
    y_train, y_test : arrays of shape (n_rows,)
        Numbers or labels.
    linear_train, linear_test : arrays of shape (n_rows, n_columns)
        Encoded without soft clipping.
    names : tuple of str
        Of the encoded columns.
    task, reason : str
        ``"regression"`` or ``"classification"``, and why.
    """

    X_train: Any
    X_test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    linear_train: Any
    linear_test: Any
    names: tuple[str, ...]
    task: str
    reason: str

    def training(self, most: int | None, view: str) -> tuple[Any, np.ndarray]:
        """Return the first rows to learn from (they are in random order) and their targets.

        Parameters
        ----------
        most : int or None
            How many; ``None`` is all.
        view : {"encoded", "with a constant column", "unclipped"}
            How the rows are seen.
        """
        rows = slice(0, most)
        X = self.linear_train if view == UNCLIPPED else self.X_train
        return self._seen(X[rows], view), self.y_train[rows]

    def testing(self, view: str) -> Any:
        """Return the test rows.

        Parameters
        ----------
        view : {"encoded", "with a constant column", "unclipped"}
            How the rows are seen.
        """
        return self._seen(self.linear_test if view == UNCLIPPED else self.X_test, view)

    def _seen(self, X: Any, view: str) -> Any:
        """Return rows, with a constant column as long as a row is on average if asked for."""
        if view != WITH_CONSTANT or is_sparse(X):
            return X
        length = float(np.sqrt(np.mean(np.sum(np.square(self.X_train[:4096]), axis=1))))
        return np.column_stack([X, np.full(len(X), length or 1.0, dtype=X.dtype)])


def prepared(X: Any, y: Any, task: str, test_size: float, max_rows: int, seed: int) -> Data:
    """Return the data of a comparison, drawn at random and encoded.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows as users have them.
    y : array of shape (n_samples,)
        Numbers or labels.
    task : {"auto", "regression", "classification"}
        What to learn.
    test_size : float or int
        The share, or the number, of test rows.
    max_rows : int
        More rows are drawn from.
    seed : int
        Of the split.

    Examples
    --------
    >>> data = prepared(np.arange(20.0).reshape(10, 2), np.arange(10.0), "auto", 0.2, 100, 0)
    >>> data.X_train.shape, data.X_test.shape, data.task
    ((8, 2), (2, 2), 'regression')
    """
    if is_foreign(X) and not is_frame(X):
        raise TypeError(
            "compare takes rows of the host; bring them there, for example with X.cpu().numpy()."
        )
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    n_rows = int(X.shape[0])
    targets = np.asarray(series(y))
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise ValueError(
            f"y must hold one number or label for each row, got shape {targets.shape}; compare "
            "several targets one by one."
        )
    task, reason = _task(targets, task)
    checked = (check_targets if task == "regression" else check_labels)(targets, n_rows)
    n_used = min(n_rows, _checked_rows(max_rows))
    n_test = _test_rows(test_size, n_used)
    split_seed = int(Stream(seed).child("split").generator().integers(2**31))
    X_train, X_test, y_train, y_test = train_test_split(
        X, checked, train_size=n_used - n_test, test_size=n_test, random_state=split_seed
    )
    encoder = TableEncoder().fit(X_train)
    linear = encoder.rescaled(limit=None)
    names = tuple(str(name) for name in encoder.get_feature_names_out())
    if n_used < n_rows:
        reason += f"; {n_used:,} of {n_rows:,} rows were drawn"
    return Data(
        encoder.transform(X_train),
        encoder.transform(X_test),
        np.asarray(y_train),
        np.asarray(y_test),
        linear.transform(X_train),
        linear.transform(X_test),
        names,
        task,
        reason,
    )


def _task(y: np.ndarray, task: str) -> tuple[str, str]:
    """Return what to learn, and why."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {list(TASKS)}, got {task!r}.")
    if task != "auto":
        return task, "as asked for"
    if y.dtype.kind == "f":
        return "regression", "the target holds floating point numbers"
    count = len(np.unique(y.astype(str) if y.dtype.kind == "O" else y))
    if y.dtype.kind in "iu" and count > MOST_CLASSES:
        return "regression", f"the target holds {count:,} different whole numbers"
    return "classification", f"the target holds {count} different labels"


def _checked_rows(max_rows: Any) -> int:
    if isinstance(max_rows, bool) or not isinstance(max_rows, Integral) or max_rows < 20:
        raise ValueError(f"max_rows must be an integer of at least 20, got {max_rows!r}.")
    return int(max_rows)


def _test_rows(test_size: Any, n_rows: int) -> int:
    """Return how many rows to test on."""
    whole = isinstance(test_size, Integral) and not isinstance(test_size, bool)
    if whole and 2 <= test_size <= n_rows - 2:
        return int(test_size)
    share = isinstance(test_size, Real) and not whole and not isinstance(test_size, bool)
    if share and 0 < test_size < 1 and n_rows >= 10:
        return min(max(2, round(float(test_size) * n_rows)), n_rows - 2)
    raise ValueError(
        "test_size must be a share between 0 and 1 of at least 10 rows, or a number of rows that "
        f"leaves two to learn from; got {test_size!r} for {n_rows:,} rows."
    )
