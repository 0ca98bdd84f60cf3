"""Predictions for held-out rows: how good a machine is, and how sure its probabilities may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from .._array import as_floating, namespace
from .._registry import storable
from ..engine.sample import RowSample

#: One minus a leverage below which a row carries its fit alone, as far as rounding tells.
ALONE = 1e-6
#: Rows of many that are enough to fit one number to, or a few.
SAMPLE_ROWS = 2000


@storable
@dataclass(frozen=True)
class HeldOut:
    """Predictions for held-out rows, their targets, and two kinds of weights.

    ``weights`` are those that the machine learnt with, class weights included; ``counts`` are
    the sample weights alone, by which new rows are scored.

    Examples
    --------
    >>> ones = np.ones(2)
    >>> HeldOut(np.asarray([[0.5], [2.0]]), np.asarray([[-1.0], [1.0]]), ones, ones).accuracy()
    0.5
    """

    predicted: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    def accuracy(self) -> float:
        """Return the share of rows whose class is right."""
        right = every_class(self.predicted).argmax(axis=1) == self.labels()
        known = self.counts.any()
        return float(np.average(right, weights=self.counts)) if known else float(right.mean())

    def labels(self) -> np.ndarray:
        """Return the places of the classes that the targets stand for."""
        return np.asarray(every_class(self.targets).argmax(axis=1))

    def scale(self) -> float:
        """Return the scale of the softmax that suits these rows best."""
        return best_scale(every_class(self.predicted), self.labels(), self.weights)

    def log_loss(self) -> float:
        """Return the mean negative logarithm of the calibrated probability of the right class."""
        P = log_softmax(self.scale() * every_class(self.predicted), axis=1)
        known = self.weights if self.weights.any() else None
        right = P[np.arange(len(P)), self.labels()]
        return -float(np.average(right, weights=known))


def every_class(decisions: Any) -> Any:
    """Return decisions with a column for each class; those of two classes share one.

    Examples
    --------
    >>> every_class(np.asarray([[0.5]]))
    array([[-0.5,  0.5]])
    """
    if decisions.shape[1] == 1:
        return namespace(decisions).concat([-decisions, decisions], axis=1)
    return decisions


def best_scale(decisions: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Return the scale of the softmax of greatest likelihood, between 1/1000 and 1000.

    Labels are smoothed (Platt): a few rows that are all right do not make a machine certain.

    Examples
    --------
    >>> decisions = np.asarray([[0.0, 1.0]] * 9)
    >>> round(float(np.exp(best_scale(decisions, np.ones(9, dtype=int), np.ones(9)))), 2)
    19.0
    """
    known = weights > 0
    decisions, labels, weights = decisions[known], labels[known], weights[known]
    n_rows, n_classes = decisions.shape
    doubt = 0.5 / (n_rows + 1)
    wanted = np.full(decisions.shape, doubt / (n_classes - 1))
    wanted[np.arange(n_rows), labels] = 1 - doubt

    def loss(log_scale: float) -> float:
        likely = (wanted * log_softmax(np.exp(log_scale) * decisions, axis=1)).sum(axis=1)
        return -float((weights * likely).sum())

    bounds = (-np.log(1000), np.log(1000))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def without_own_row(
    predicted: np.ndarray, Y: np.ndarray, leverages: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return leave-one-out predictions from predictions for training rows.

    Parameters
    ----------
    predicted, Y : arrays of shape (n_rows, n_targets)
        Predictions for training rows, and their targets.
    leverages, weights : arrays of shape (n_rows,)
        Leverages, times the weights, and the weights of the rows.

    Examples
    --------
    >>> half, ones = np.full(2, 0.5), np.ones(2)
    >>> without_own_row(np.asarray([[0.9], [0.1]]), np.asarray([[1.0], [0.0]]), half, ones)
    array([[0.8],
           [0.2]])
    """
    rest = 1 - leverages[:, None]
    # Of a row that carries its fit alone nothing is known without it but the mean.
    mean = np.average(Y, axis=0, weights=weights if weights.any() else None)
    return np.where(rest > ALONE, Y - (Y - predicted) / np.maximum(rest, ALONE), mean)


class PredictedSample:
    """A sample of rows with what was predicted for them, gathered block by block.

    Parameters
    ----------
    n_above : int, default=0
        Rows above these, which other samples get.

    Examples
    --------
    >>> sample = PredictedSample()
    >>> targets = np.asarray([[1.0], [-1.0]])
    >>> sample.add(np.eye(2), np.asarray([[0.9], [-0.1]]), targets, None, None)
    >>> sample.held_out().accuracy()
    1.0
    """

    def __init__(self, n_above: int = 0) -> None:
        self._sample = RowSample(SAMPLE_ROWS)
        self._sample.skip(n_above)

    def merge(self, other: PredictedSample) -> None:
        """Add the rows of another sample, which stand below."""
        self._sample.merge(other._sample)

    def add(
        self,
        rows: Any,
        predicted: Any,
        Y: Any,
        weights: Any,
        counts: Any,
    ) -> None:
        """Add a block of rows and predictions for them, with the weights of :class:`HeldOut`.

        Of arrays on a device the rows that are kept come to the host.
        """
        ones = np.ones(Y.shape[0])
        self._sample.add(
            rows,
            as_floating(predicted, "float64"),
            Y,
            ones if weights is None else weights,
            ones if counts is None else counts,
        )

    def held_out(self, leverage: Callable[[np.ndarray], np.ndarray] | None = None) -> HeldOut:
        """Return what was gathered.

        Parameters
        ----------
        leverage : callable, default=None
            Gives the leverages of rows over their weights, if the function has learnt from
            them; ``None`` if it has not.
        """
        rows, predicted, Y, weights, counts = self._sample.columns
        if leverage is not None:
            predicted = without_own_row(predicted, Y, weights * leverage(rows), weights)
        return HeldOut(predicted, Y, weights, counts)
