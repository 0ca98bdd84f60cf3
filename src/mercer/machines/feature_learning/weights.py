"""Weights of columns, and matrices in their place: what feature-learning machines learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from ..._array import like
from ..._registry import storable
from ...ops.products import product_beside_scipy
from ...solvers.semidefinite import lowest_ratio, positive_part, root_of


@dataclass(frozen=True)
class Rule:
    """How new weights are made of gradients E and derivatives D.

    Attributes
    ----------
    mixing : float
        The share of D.
    safeguard : float
        What every column gets before anything is known of it, over the columns.
    negative : {"clip", "shift"}
        What becomes of negative derivatives: set to zero, or all shifted by the smallest.
    """

    mixing: float
    safeguard: float
    negative: str = "clip"


class Weights(Protocol):
    """What a machine learns of its columns: it reweights rows, and is updated by derivatives.

    The weights themselves are on the host, wherever the rows are.
    """

    matrix: bool
    value: np.ndarray

    def reweighted(self, X: Any) -> Any:
        """Return rows whose distances are those of the weights."""
        ...

    def updated(self, E: np.ndarray, D: np.ndarray, rule: Rule) -> Self:
        """Return new weights from gradients E and derivatives D."""
        ...

    def importances(self) -> np.ndarray:
        """Return the shares of the columns."""
        ...


@storable
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

    def __init__(self, weights: np.ndarray) -> None:
        self.value = weights
        self._roots = np.sqrt(weights)

    @classmethod
    def equal(cls, n_features: int) -> ColumnWeights:
        """Return the weights before anything is known."""
        return cls(np.ones(n_features))

    def reweighted(self, X: Any) -> Any:
        """Return rows with columns multiplied by the roots of their weights."""
        return X * like(X, self._roots)

    def updated(self, E: np.ndarray, D: np.ndarray, rule: Rule) -> ColumnWeights:
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
        mixed = (1 - rule.mixing) * first / first.sum() + rule.mixing * second / second.sum()
        return ColumnWeights(mixed * d)

    def importances(self) -> np.ndarray:
        """Return the shares of the columns."""
        return np.asarray(self.value / self.value.sum())


@storable
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

    def __init__(self, metric: np.ndarray) -> None:
        self.value = metric
        self._root = root_of(metric)

    @classmethod
    def equal(cls, n_features: int) -> Metric:
        """Return the matrix before anything is known."""
        return cls(np.eye(n_features))

    def reweighted(self, X: Any) -> Any:
        """Return rows times the root of the matrix."""
        return product_beside_scipy(X, like(X, self._root))

    def updated(self, E: np.ndarray, D: np.ndarray, rule: Rule) -> Metric:
        """Return a new matrix; parameters as those of :class:`ColumnWeights`, but matrices."""
        d = len(self.value)
        D = (D + D.T) / 2
        floor = rule.safeguard / d * np.eye(d)
        first = self._root @ E @ self._root + floor
        if rule.negative == "shift":
            # As much of the matrix itself as makes the sum positive semi-definite.
            D = D - min(0.0, lowest_ratio(D, self._root)) * self.value
        # Where the matrix has nothing, nothing is moved up.
        second = positive_part(D) + floor
        mixed = (1 - rule.mixing) * first / np.trace(first) + rule.mixing * second / np.trace(
            second
        )
        return Metric((mixed + mixed.T) * (d / 2))

    def importances(self) -> np.ndarray:
        """Return the shares of the columns."""
        diagonal = np.maximum(np.diag(self.value), 0.0)
        return np.asarray(diagonal / diagonal.sum())
