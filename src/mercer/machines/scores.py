"""How good predictions are, computed where they are."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, r2_score

from .._array import is_foreign, moved, namespace, to_numpy

#: Bytes of float64 differences that are held at once.
PART_BYTES = 2**28


def r_squared(true: Any, predicted: Any, weights: Any = None) -> float:
    """Return R², the mean over several targets.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows,) or (n_rows, n_targets)
        Of one library, and on one device.
    weights : array of shape (n_rows,), default=None
        Sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> r_squared(np.asarray([1.0, 2.0, 3.0]), np.asarray([1.0, 2.0, 4.0]))
    0.5
    """
    if not is_foreign(predicted):
        return float(r2_score(true, predicted, sample_weight=weights))
    xp, n_rows = namespace(predicted), predicted.shape[0]
    if n_rows < 2:
        warnings.warn(
            "R^2 score is not well-defined with less than two samples.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    true, predicted = (part[:, None] if part.ndim == 1 else part for part in (true, predicted))
    own = None if weights is None else xp.astype(moved(weights, predicted), xp.float64)[:, None]
    rows = max(1, PART_BYTES // (8 * predicted.shape[1]))

    def total(terms: Any) -> Any:
        """Return the weighted sums of what a function makes of some rows."""
        found = 0.0
        for start in range(0, n_rows, rows):
            some = slice(start, min(start + rows, n_rows))
            part = terms(some)
            found = found + xp.sum(part if own is None else part * own[some, :], axis=0)
        return found

    weight = float(n_rows) if own is None else xp.sum(own)
    mean = total(lambda some: xp.astype(true[some, :], xp.float64)) / weight
    lost = total(lambda some: (xp.astype(true[some, :], xp.float64) - predicted[some, :]) ** 2)
    spread = total(lambda some: (xp.astype(true[some, :], xp.float64) - mean) ** 2)
    return _mean_score(to_numpy(lost), to_numpy(spread))


def _mean_score(lost: Any, spread: Any) -> float:
    """Return the mean of one minus lost over spread; of a constant target 1 if nothing is lost."""
    scores = [
        1 - part / whole if whole else float(part == 0)
        for part, whole in zip(lost.tolist(), spread.tolist(), strict=True)
    ]
    return sum(scores) / len(scores)


def accuracy(true: Any, predicted: Any, weights: Any = None) -> float:
    """Return the share of labels that are right.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows,)
        Labels, of one library and on one device.
    weights : array of shape (n_rows,), default=None
        Sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> accuracy(np.asarray([0, 1]), np.asarray([0, 0]))
    0.5
    """
    if not is_foreign(predicted):
        return float(accuracy_score(true, predicted, sample_weight=weights))
    xp = namespace(predicted)
    right = xp.astype(true == predicted, xp.float64)
    if weights is None:
        return float(xp.mean(right))
    own = moved(weights, predicted)
    return float(xp.sum(right * own) / xp.sum(own))
