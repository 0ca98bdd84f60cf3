"""Predictions for rows that a function has not learnt from: how good it is, and how sure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.sample import RowSample

#: Rows of many that are enough to fit one number to, or a few.
SAMPLE_ROWS = 2000


class LeftOut(NamedTuple):
    """Predictions for rows that were left out, their targets and their weights."""

    predicted: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


class LeftOutSample:
    """A sample of rows with what was predicted for them, gathered block by block.

    Examples
    --------
    >>> sample = LeftOutSample()
    >>> sample.add(np.asarray([[0.9], [0.1]]), np.asarray([[1.0], [0.0]]), None)
    >>> sample.rows(freedom=0.5).predicted.round(1).tolist()
    [[0.8], [0.2]]
    """

    def __init__(self):
        self._sample = RowSample(SAMPLE_ROWS)

    def add(self, predicted, Y, weights):
        """Add predictions for a block of rows."""
        weights = np.ones(len(Y)) if weights is None else weights
        self._sample.add(np.asarray(predicted, dtype=float), Y, weights)

    def rows(self, freedom=0.0):
        """Return what was gathered.

        Parameters
        ----------
        freedom : float, default=0.0
            Degrees of freedom a row if the function has learnt from these rows: that much
            nearer than to others it is to each.
        """
        predicted, Y, weights = self._sample.columns
        return LeftOut(Y - (Y - predicted) / max(1 - freedom, 1e-9), Y, weights)


def validated(predictor, weights, data):
    """Return the error on rows kept aside, over the variance of the targets, and a sample.

    Parameters
    ----------
    predictor : callable
        Gives predictions for reweighted rows.
    weights : ColumnWeights or Metric
        The weights.
    data : Standardized
        The rows kept aside.
    """
    sample, squares = LeftOutSample(), 0.0
    for X, Y, row_weights in data.blocks(1):
        predicted = predictor(weights.reweighted(X).astype(float))
        sample.add(predicted, Y, row_weights)
        errors = ((Y - predicted) ** 2).sum(axis=1)
        squares += float(errors.sum() if row_weights is None else row_weights @ errors)
    return squares / data.weight / data.variance(), sample.rows()
