"""Fewer rows than features: kept as they are, and solved in the space of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._array import is_foreign
from .._registry import storable
from .device_statistics import gathered_beside
from .dual import solve_kernel
from .posterior import DualPosterior, Form, posterior_of
from .problem import Problem, Solution
from .ridge import Blocks, solve_ridge
from .statistics import RidgeStatistics


@storable
class FewRows:
    """Fewer rows than features, kept as they are and solved in the dual.

    More rows are added to statistics instead (:meth:`accumulator`).

    Parameters
    ----------
    Z, Y : arrays of shape (n, m) and (n, n_targets)
        Features and targets.
    weights : array of shape (n,), default=None
        Sample weights.

    Examples
    --------
    >>> from mercer.solvers import FewRows, Problem, solve_ridge
    >>> few = FewRows(np.asarray([[1.0, 2.0, 2.0]]), np.asarray([[10.0]]))
    >>> solve_ridge(few, Problem(1.0, intercept=False)).coef.ravel()
    array([1., 2., 2.])
    """

    def __init__(self, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.n_rows = len(Z)
        if weights is not None and not weights.all():
            kept = weights > 0
            Z, Y, weights = Z[kept], Y[kept], weights[kept]
        self.Z, self.Y, self.weights = Z, Y, weights

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(len(self.Z) if self.weights is None else self.weights.sum())

    def accumulator(self) -> RidgeStatistics:
        """Return the statistics of the rows, which more rows can be added to."""
        statistics = RidgeStatistics(self.Z.shape[1], self.Y.shape[1])
        statistics.add(self.Z, self.Y, self.weights)
        return statistics

    @property
    def place(self) -> Any:
        """An array that names library and device of the rows."""
        return self.Z

    def variance(self) -> np.ndarray:
        """Return the variance of every target."""
        mean = np.average(self.Y, axis=0, weights=self.weights)
        return np.asarray(np.average((self.Y - mean) ** 2, axis=0, weights=self.weights))

    def centre(self, intercept: bool) -> np.ndarray:
        """Return the means of the features; zeros where there is no intercept."""
        if not intercept:
            return np.zeros(self.Z.shape[1])
        return np.asarray(np.average(self.Z, axis=0, weights=self.weights))


@gathered_beside.register
def _(few: FewRows, like: Any) -> FewRows | RidgeStatistics:
    # The sums of few rows say as much of new ones.
    return gathered_beside(few.accumulator(), like) if is_foreign(like) else few


@solve_ridge.register
def _(few: FewRows, problem: Problem, again: Blocks | None = None) -> Solution:
    mean = few.centre(problem.intercept)
    rows = few.Z - mean
    K = rows @ rows.T
    if problem.intercept:
        # The constant is free whatever K has of it; without any, K would be singular.
        K += max(float(np.trace(K)) / len(K), np.finfo(float).tiny)
    solution = solve_kernel(K, few.Y, problem, few.weights, few.Z.shape[1])
    coef = rows.T @ solution.coef
    return replace(solution, coef=coef, intercept=solution.intercept - mean @ coef)


class _FewRowsForm:
    """The quadratic form of features, from few training rows."""

    def __init__(self, few: FewRows, alpha: float, intercept: bool) -> None:
        self._centre = few.centre(intercept)
        self._rows = few.Z - self._centre
        K = self._rows @ self._rows.T
        self._posterior = DualPosterior(K, few.weights, alpha, intercept)

    def quadratic(self, Z: np.ndarray) -> np.ndarray:
        """Return the form for every row of ``Z``."""
        new = np.asarray(Z, dtype=float) - self._centre
        return self._posterior.quadratic(new @ self._rows.T, np.einsum("ij,ij->i", new, new))


@posterior_of.register
def _(gathered: FewRows, alpha: float, intercept: bool) -> Form:
    return _FewRowsForm(gathered, alpha, intercept)
