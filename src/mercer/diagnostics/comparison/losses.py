"""Errors on test rows, with intervals, and which methods the rows cannot tell apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: The standard normal quantile of a 95 % interval.
QUANTILE = 1.959963984540054


def losses_of(truth: Any, predicted: Any, task: str) -> np.ndarray:
    """Return a loss for each row: the squared error, or 1 where the label is wrong.

    Examples
    --------
    >>> losses_of([1.0, 2.0], [1.0, 4.0], "regression")
    array([0., 4.])
    >>> losses_of(["a", "b"], ["a", "a"], "classification")
    array([0., 1.])
    """
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if task == "classification":
        return np.asarray(truth != predicted, dtype=float)
    return np.square(predicted.astype(float) - truth.astype(float))


def error_interval(losses: np.ndarray, task: str) -> tuple[float, float, float]:
    """Return the error on test rows, and a 95 % interval for that on all rows.

    Of numbers it is the root mean squared error, its interval that of the logarithm of the mean
    of squares; of labels the share of wrong ones, with Wilson's interval.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        What :func:`losses_of` returns.
    task : {"regression", "classification"}
        Numbers or labels.

    Examples
    --------
    >>> error_interval(np.array([4.0, 4.0, 4.0]), "regression")
    (2.0, 2.0, 2.0)
    >>> low_high = error_interval(np.array([0.0] * 90 + [1.0] * 10), "classification")
    >>> [round(value, 3) for value in low_high]
    [0.1, 0.055, 0.174]
    """
    n, mean = len(losses), float(losses.mean())
    if task == "classification":
        z = QUANTILE**2 / n
        centre = (mean + z / 2) / (1 + z)
        half = math.sqrt(z * mean * (1 - mean) + z**2 / 4) / (1 + z)
        return mean, max(0.0, centre - half), min(1.0, centre + half)
    error = math.sqrt(mean)
    if n < 2 or not mean:
        return error, error, error
    # The logarithm keeps the lower end above zero, however few rows hold most of the sum.
    half = QUANTILE * float(losses.std(ddof=1)) / math.sqrt(n) / mean / 2
    return error, error * math.exp(-half), error * math.exp(half)


def are_tied(losses: np.ndarray, best: np.ndarray) -> bool:
    """Return whether the same rows cannot tell two methods apart.

    They cannot if the 95 % interval of the mean difference of their losses, row by row, holds
    zero: it is much narrower than what the intervals of the two errors suggest.

    Examples
    --------
    >>> steady = np.array([1.0, 9.0, 1.0, 9.0])
    >>> are_tied(steady + 0.1, steady), are_tied(steady[::-1], steady)
    (False, True)
    """
    difference = losses - best
    if len(difference) < 2:
        return True
    half = QUANTILE * float(difference.std(ddof=1)) / math.sqrt(len(difference))
    return bool(abs(float(difference.mean())) <= half)
