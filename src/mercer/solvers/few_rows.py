"""Fewer rows than features: kept as they are, and solved in the space of the rows."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, cast

import numpy as np

from .._array import as_floating, device_of, moved, namespace, to_numpy
from .._registry import storable
from .block_rows import chosen_rows
from .device_statistics import gathered_beside
from .dual import solve_kernel
from .posterior import DualPosterior, Form, posterior_of
from .problem import Problem, Solution
from .ridge import Blocks, solve_ridge
from .statistics import RidgeStatistics, accumulator_for
from .symmetric_sums import trace


@storable
class FewRows:
    """Fewer rows than features, kept as they are and solved in the dual.

    More rows are added to statistics instead (:meth:`accumulator`).

    Parameters
    ----------
    Z : array of shape (n, m)
        Features, of any library: what has the size of their products stays there.
    Y : array of shape (n, n_targets)
        Targets.
    weights : array of shape (n,), default=None
        Sample weights.

    Examples
    --------
    >>> from mercer.solvers import FewRows, Problem, solve_ridge
    >>> few = FewRows(np.asarray([[1.0, 2.0, 2.0]]), np.asarray([[10.0]]))
    >>> solve_ridge(few, Problem(1.0, intercept=False)).coef.ravel()
    array([1., 2., 2.])
    """

    weights: np.ndarray | None

    def __init__(self, Z: Any, Y: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.n_rows: int = int(Z.shape[0])
        if weights is not None and not weights.all():
            kept = weights > 0
            Z, Y, weights = chosen_rows(Z, kept), Y[kept], weights[kept]
        self.Z, self.Y, self.weights = Z, Y, weights

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(self.Z.shape[0] if self.weights is None else self.weights.sum())

    def accumulator(self) -> RidgeStatistics:
        """Return the statistics of the rows, which more rows can be added to."""
        statistics = accumulator_for(self.Z, self.Z.shape[1], self.Y.shape[1])
        weights = None if self.weights is None else moved(self.weights, self.Z)
        statistics.add(self.Z, moved(self.Y, self.Z), weights)
        return cast(RidgeStatistics, statistics)

    @property
    def place(self) -> Any:
        """An array that names library and device of the rows."""
        return self.Z

    def beside(self, like: Any) -> FewRows:
        """Return the same, with the features in the library and on the device of an array."""
        found = copy.copy(self)
        found.Z = moved(self.Z, like)
        return found

    def __copy__(self) -> FewRows:
        found = object.__new__(FewRows)
        found.__dict__.update(self.__dict__)
        return found

    def __deepcopy__(self, memo: Any) -> FewRows:
        # Nothing of it is ever changed in place.
        return copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle is for every machine.
        return {**self.__dict__, "Z": to_numpy(self.Z)}

    def variance(self) -> np.ndarray:
        """Return the variance of every target."""
        mean = np.average(self.Y, axis=0, weights=self.weights)
        return np.asarray(np.average((self.Y - mean) ** 2, axis=0, weights=self.weights))

    def centre(self, intercept: bool) -> Any:
        """Return the means of the features; zeros where there is no intercept."""
        xp = namespace(self.Z)
        if not intercept:
            return xp.zeros_like(self.Z[0, :])
        if self.weights is None:
            return xp.mean(self.Z, axis=0)
        return moved(self.weights / self.weights.sum(), self.Z) @ self.Z


@gathered_beside.register
def _(few: FewRows, like: Any) -> FewRows:
    return few if device_of(few.Z) == device_of(like) else few.beside(like)


@solve_ridge.register
def _(few: FewRows, problem: Problem, again: Blocks | None = None) -> Solution:
    mean = few.centre(problem.intercept)
    rows = few.Z - mean
    K = rows @ rows.T
    if problem.intercept:
        # The constant is free whatever K has of it; without any, K would be singular.
        K += max(trace(K) / K.shape[0], float(np.finfo(float).tiny))
    solution = solve_kernel(K, few.Y, problem, few.weights, few.Z.shape[1])
    coef = rows.T @ moved(solution.coef, rows)
    constant = solution.intercept - to_numpy(mean @ coef)
    return replace(solution, coef=to_numpy(coef), intercept=constant)


class _FewRowsForm:
    """The quadratic form of features, from few training rows."""

    def __init__(self, few: FewRows, alpha: float, intercept: bool) -> None:
        self._centre = few.centre(intercept)
        self._rows = few.Z - self._centre
        K = self._rows @ self._rows.T
        self._posterior = DualPosterior(K, few.weights, alpha, intercept)

    def quadratic(self, Z: Any) -> Any:
        """Return the form for every row of ``Z``, which is where the training rows are."""
        new = as_floating(Z, "float64") - self._centre
        own = namespace(new).sum(new * new, axis=1)
        return self._posterior.quadratic(new @ self._rows.T, own)


@posterior_of.register
def _(gathered: FewRows, alpha: float, intercept: bool) -> Form:
    return _FewRowsForm(gathered, alpha, intercept)
