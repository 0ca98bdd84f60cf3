"""Predictions for held-out rows: how good a machine is, and how sure its probabilities may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from ..engine.sample import RowSample

#: Rows of many that are enough to fit one number to, or a few.
SAMPLE_ROWS = 2000


class HeldOut(NamedTuple):
    """Predictions for held-out rows, their targets, and two kinds of weights.

    ``weights`` are those that the machine learnt with, class weights included; ``counts`` are
    the sample weights alone, by which new rows are scored.
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


def every_class(decisions: np.ndarray) -> np.ndarray:
    """Return decisions with a column for each class; those of two classes share one.

    Examples
    --------
    >>> every_class(np.asarray([[0.5]]))
    array([[-0.5,  0.5]])
    """
    if decisions.shape[1] == 1:
        return np.concatenate([-decisions, decisions], axis=1)
    return decisions


def best_scale(decisions: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Return the scale of the softmax of greatest likelihood, between 1/1000 and 1000.

    Labels are smoothed as Platt does, as if half a row more had been wrong: rows that are all
    right do not make a machine certain, few of them even less than many.

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


class PredictedSample:
    """A sample of rows with what was predicted for them, gathered block by block.

    Examples
    --------
    >>> sample = PredictedSample()
    >>> sample.add(np.asarray([[0.9], [0.1]]), np.asarray([[1.0], [0.0]]), None, None)
    >>> sample.rows(freedom=0.5).predicted.round(1).tolist()
    [[0.8], [0.2]]
    """

    def __init__(self) -> None:
        self._sample = RowSample(SAMPLE_ROWS)

    def add(
        self,
        predicted: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        counts: np.ndarray | None,
    ) -> None:
        """Add predictions for a block of rows, with the weights of :class:`HeldOut`."""
        ones = np.ones(len(Y))
        self._sample.add(
            np.asarray(predicted, dtype=float),
            Y,
            ones if weights is None else weights,
            ones if counts is None else counts,
        )

    def rows(self, freedom: float = 0.0) -> HeldOut:
        """Return what was gathered.

        Parameters
        ----------
        freedom : float, default=0.0
            Degrees of freedom per row if the function has learnt from these rows: it is that
            much nearer to each of them than to others.
        """
        predicted, Y, weights, counts = self._sample.columns
        return HeldOut(Y - (Y - predicted) / max(1 - freedom, 1e-9), Y, weights, counts)
