"""Weights of columns, and matrices in their place: what machines that learn features learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ops.products import product_beside_scipy


@dataclass(frozen=True)
class Rule:
    """How new weights are made of gradients E and derivatives D.

    Attributes
    ----------
    alpha : float
        The share of D.
    safeguard : float
        What every column gets before anything is known of it, over the columns.
    negative : {"clip", "shift"}
        What becomes of negative derivatives: zero, or all are moved up by the smallest.
    """

    alpha: float
    safeguard: float
    negative: str = "clip"


class ColumnWeights:
    """A weight for every column, not negative, with the number of columns as sum.

    Parameters
    ----------
    weights : array of shape (n_features,)
        The weights.

    Examples
    --------
    >>> ColumnWeights(np.asarray([4.0, 0.0])).reweighted(np.ones((1, 2)))
    array([[2., 0.]])
    """

    matrix = False

    def __init__(self, weights):
        self.value = weights
        self._roots = np.sqrt(weights)

    @classmethod
    def equal(cls, n_features):
        """Return the weights before anything is known."""
        return cls(np.ones(n_features))

    def reweighted(self, X):
        """Return rows with columns multiplied by the roots of their weights."""
        return X * self._roots.astype(X.dtype)

    def updated(self, E, D, rule):
        """Return new weights.

        Parameters
        ----------
        E, D : arrays of shape (n_features,)
            Mean squared gradients by reweighted rows, and w D over the number of rows.
        rule : Rule
            How to mix them.
        """
        d = len(self.value)
        if rule.negative == "clip":
            D = np.maximum(D, 0.0)
        else:
            # The smallest derivative itself, not the smallest product with a weight.
            slopes = np.divide(D, self.value, out=np.zeros_like(D), where=self.value > 0)
            D = self.value * (slopes - min(0.0, float(slopes.min())))
        first, second = self.value * E + rule.safeguard / d, D + rule.safeguard / d
        mixed = (1 - rule.alpha) * first / first.sum() + rule.alpha * second / second.sum()
        return ColumnWeights(mixed * d)

    def importances(self):
        """Return the shares of the columns."""
        return self.value / self.value.sum()


class Metric:
    """A positive semi-definite matrix whose trace is the number of columns.

    Parameters
    ----------
    metric : array of shape (n_features, n_features)
        The matrix M of the distance (x - y)ᵀ M (x - y).

    Examples
    --------
    >>> Metric(np.diag([4.0, 0.0])).reweighted(np.ones((1, 2)))
    array([[2., 0.]])
    """

    matrix = True

    def __init__(self, metric):
        self.value = metric
        values, vectors = np.linalg.eigh(metric)
        self._root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    @classmethod
    def equal(cls, n_features):
        """Return the matrix before anything is known."""
        return cls(np.eye(n_features))

    def reweighted(self, X):
        """Return rows times the root of the matrix."""
        return product_beside_scipy(X, self._root.astype(X.dtype))

    def updated(self, E, D, rule):
        """Return a new matrix; parameters as those of :class:`ColumnWeights`, but matrices."""
        d = len(self.value)
        D = (D + D.T) / 2
        values, vectors = np.linalg.eigh(D)
        floor = rule.safeguard / d * np.eye(d)
        first = self._root @ E @ self._root + floor
        if rule.negative == "clip":
            second = (vectors * np.maximum(values, 0.0)) @ vectors.T + floor
        else:
            # As much of the matrix itself as makes the sum positive semi-definite.
            inverse = np.linalg.pinv(self._root, rcond=1e-8, hermitian=True)
            lowest = float(np.linalg.eigvalsh(inverse @ D @ inverse)[0])
            second = D - min(0.0, lowest) * self.value
            # Where the matrix has nothing, nothing is moved up.
            values, vectors = np.linalg.eigh(second)
            second = (vectors * np.maximum(values, 0.0)) @ vectors.T + floor
        mixed = (1 - rule.alpha) * first / np.trace(first) + rule.alpha * second / np.trace(second)
        return Metric((mixed + mixed.T) * (d / 2))

    def importances(self):
        """Return the shares of the columns."""
        diagonal = np.maximum(np.diag(self.value), 0.0)
        return diagonal / diagonal.sum()
