"""A block of rows: some of them, their mean, and whether float32 can hold their targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_foreign, take_rows


def chosen_rows(block: Any, rows: np.ndarray) -> Any:
    """Return the rows of a block of any kind that a mask of NumPy's chooses.

    Examples
    --------
    >>> chosen_rows(np.asarray([1.0, 2.0]), np.asarray([False, True]))
    array([2.])
    """
    return take_rows(block, np.flatnonzero(rows)) if is_foreign(block) else block[rows]


def beyond_float32(Y: np.ndarray, weights: np.ndarray | None) -> bool:
    """Return whether targets, or roots of weights, would overflow or vanish in float32.

    Examples
    --------
    >>> beyond_float32(np.asarray([[1e35]]), None)
    True
    """
    small = 1.0 if weights is None else float(weights.min())
    large = float(np.abs(Y).max()) if weights is None else max(np.abs(Y).max(), weights.max())
    return large > 1e30 or small < 1e-30


def mean_row(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the mean of rows in float64.

    Examples
    --------
    >>> mean_row(np.eye(2), np.asarray([3.0, 1.0]))
    array([0.75, 0.25])
    """
    if weights is None:
        return np.asarray(rows.mean(axis=0, dtype=float))
    # A row of next to no weight must not move the reference point far from the others.
    return np.asarray(weights @ rows.astype(float) / weights.sum())
