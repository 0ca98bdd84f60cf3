"""How good predictions are, computed where they are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, r2_score

from .._array import is_foreign, moved, namespace, to_numpy
from ..engine.moments import ColumnMoments

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


@dataclass
class RSquaredSums:
    """What R² of all rows follows from, of some of them.

    Attributes
    ----------
    spread : ColumnMoments
        Of the true targets.
    lost : array of shape (n_targets,)
        Weighted sums of squared errors.

    Examples
    --------
    >>> import numpy as np
    >>> true, predicted = np.asarray([1.0, 2.0, 3.0]), np.asarray([1.0, 2.0, 4.0])
    >>> sums = RSquaredSums.of(true[:1], predicted[:1])
    >>> sums.merge(RSquaredSums.of(true[1:], predicted[1:]))
    >>> sums.score()
    0.5
    """

    spread: ColumnMoments
    lost: np.ndarray

    @classmethod
    def of(cls, true: Any, predicted: Any, weights: np.ndarray | None = None) -> RSquaredSums:
        """Return the sums of some rows; weights are on the host."""
        true, predicted = (to_numpy(p).reshape(len(p), -1) for p in (true, predicted))
        squares = (true.astype(float) - predicted) ** 2
        lost = squares.sum(axis=0) if weights is None else weights @ squares
        return cls(ColumnMoments.of(true.astype(float), weights), lost)

    def merge(self, other: RSquaredSums) -> None:
        """Add the sums of other rows."""
        self.spread.merge(other.spread)
        self.lost = self.lost + other.lost

    def score(self) -> float:
        """Return R², the mean over several targets."""
        return _mean_score(self.lost, self.spread.squares)


@dataclass
class AccuracySums:
    """The weight of the rows whose label is right, and of all, of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> AccuracySums.of(np.asarray([0, 1]), np.asarray([0, 0])).score()
    0.5
    """

    right: float
    weight: float

    @classmethod
    def of(cls, true: Any, predicted: Any, weights: np.ndarray | None = None) -> AccuracySums:
        """Return the sums of some rows; weights are on the host."""
        right = to_numpy(true) == to_numpy(predicted)
        own = np.ones(len(right)) if weights is None else weights
        return cls(float(own @ right), float(own.sum()))

    def merge(self, other: AccuracySums) -> None:
        """Add the sums of other rows."""
        self.right += other.right
        self.weight += other.weight

    def score(self) -> float:
        """Return the share of labels that are right."""
        return self.right / self.weight


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
