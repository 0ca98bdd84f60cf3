"""The posterior of the coefficients: variances of predictions, and leave-one-out residuals."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from .._array import as_floating, beside, is_numpy, moved, namespace, ones_for_rows, to_numpy
from .._devices import algebra_of
from .shifted import cholesky
from .statistics import Moments, RidgeStatistics

#: One minus a leverage that rounding has made.
LOST = 1e-12


class Posterior:
    """The quadratic form zᵀ (S + α)⁻¹ z of centred features, plus 1/n for the intercept.

    Times the variance of the noise it is the variance of a prediction in the Bayesian linear
    model whose prior has the precision α; for a training row it is its leverage.

    Parameters
    ----------
    totals : Moments
        Sums over all training rows.
    alpha : float
        The ridge parameter.
    intercept : bool
        Whether a constant was fitted.

    Examples
    --------
    >>> from mercer.solvers import Moments
    >>> moments = Moments(1, 1)
    >>> moments.add(np.asarray([[1.0], [-1.0]]), np.zeros((2, 1)))
    >>> Posterior(moments, 2.0, intercept=True).quadratic(np.asarray([[2.0]]))
    array([1.5])
    """

    def __init__(self, totals: Moments, alpha: float, intercept: bool) -> None:
        gram, _, _ = totals.centred(intercept)
        self._factor = cholesky(gram, alpha, totals.rounding)
        self._mean = totals.means(intercept)[0]
        self._constant = 1 / totals.weight if intercept else 0.0

    def quadratic(self, Z: Any) -> Any:
        """Return the form for every row of ``Z``, which is where the sums are."""
        centred = as_floating(Z, "float64") - self._mean
        if not is_numpy(centred):
            half = algebra_of(centred).solve_triangular(self._factor, centred.T)
            return namespace(half).sum(half * half, axis=0) + self._constant
        half = scipy.linalg.solve_triangular(self._factor, centred.T, lower=True, overwrite_b=True)
        return np.einsum("ij,ij->j", half, half) + self._constant


class DualPosterior:
    """The same quadratic form from a kernel matrix, or from fewer rows than features.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        Inner products of the training rows that have weight, of any library; it is not changed.
    weights : array of shape (n_rows,) or None
        Their weights.
    alpha : float
        The ridge parameter.
    intercept : bool
        Whether a constant was fitted.

    Examples
    --------
    >>> posterior = DualPosterior(np.eye(2), None, 1.0, intercept=False)
    >>> posterior.quadratic(np.asarray([[1.0, 0.0], [0.0, 0.0]]), np.ones(2))
    array([0.5, 1. ])
    """

    def __init__(self, K: Any, weights: np.ndarray | None, alpha: float, intercept: bool) -> None:
        self._alpha, self._intercept = alpha, intercept
        roots = np.ones(K.shape[0]) if weights is None else np.sqrt(weights)
        self._roots = beside(K, roots[:, None])
        scaled = K if weights is None else self._roots * K * self._roots.T
        self._factor = cholesky(scaled, alpha, float(np.finfo(float).eps))
        self._ones = algebra_of(K).cholesky_solve(self._factor, self._roots)
        self._total = float(to_numpy(self._roots.T @ self._ones)[0, 0])

    def quadratic(self, values: Any, own: Any) -> Any:
        """Return the form of rows, from their products with training rows and with themselves.

        They are of the library of K, and on its device.
        """
        scaled, xp = values.T * self._roots, namespace(values)
        free = 1 - (self._ones.T @ scaled)[0, :]
        half = algebra_of(values).solve_triangular(self._factor, scaled)
        left = own - xp.sum(half * half, axis=0)
        left = xp.where(left > 0, left, xp.zeros_like(left))
        if self._intercept:
            left = left + free**2 / self._total
        return left / self._alpha


class Form(Protocol):
    """The quadratic form of rows of features."""

    def quadratic(self, Z: Any) -> Any:
        """Return the form for every row of ``Z``."""
        ...


@singledispatch
def posterior_of(gathered: Any, alpha: float, intercept: bool) -> Form:
    """Return the posterior of the coefficients of features, from what was gathered of the rows.

    Examples
    --------
    >>> from mercer.solvers import RidgeStatistics
    >>> statistics = RidgeStatistics(1, 1)
    >>> statistics.add(np.asarray([[1.0], [-1.0]]), np.zeros((2, 1)))
    >>> posterior_of(statistics, 2.0, False).quadratic(np.asarray([[2.0]]))
    array([1.])
    """
    raise TypeError(f"There is no posterior for a {type(gathered).__name__}.")


@posterior_of.register
def _(gathered: RidgeStatistics, alpha: float, intercept: bool) -> Form:
    return Posterior(gathered.total(), alpha, intercept)


class LeaveOneOut:
    """Exact leave-one-out errors of every α and target, from one more pass over the rows.

    Parameters
    ----------
    totals : Moments
        Sums over all rows.
    alphas : array of shape (n_alphas,)
        The ridge parameters.
    intercept : bool
        Whether a constant is fitted.
    """

    def __init__(self, totals: Moments, alphas: np.ndarray, intercept: bool) -> None:
        gram, cross, _ = totals.centred(intercept)
        self._means = totals.means(intercept)
        eigenvalues, self._vectors = algebra_of(gram).eigh(gram)
        xp = namespace(gram)
        values, grid = xp.maximum(eigenvalues, 0.0 * eigenvalues), moved(alphas, gram)
        self._shrink = 1 / (values[:, None] + grid[None, :])
        self._rotated = self._vectors.T @ cross
        self._constant = 1 / totals.weight if intercept else 0.0
        self._weight = 0.0
        self._squares = np.zeros((len(alphas), cross.shape[1]))

    def add(self, Z: Any, Y: Any, weights: Any = None) -> None:
        """Add the errors of a block of training rows, which is where the sums are."""
        xp = namespace(Z)
        P = (as_floating(Z, "float64") - self._means[0]) @ self._vectors
        Y = Y - self._means[1]
        w = ones_for_rows(Z) if weights is None else weights
        leverages = (P * P) @ self._shrink + self._constant
        for place, row in enumerate(self._squares):
            residual = Y - P @ (self._shrink[:, place, None] * self._rotated)
            rest = 1 - w * leverages[:, place]
            if bool(xp.any(rest <= LOST)):
                # A row carries its fit alone, as far as rounding tells: nothing is known of it.
                row += np.inf
                continue
            row += to_numpy(xp.sum(w[:, None] * (residual / rest[:, None]) ** 2, axis=0))
        self._weight += float(xp.sum(w))

    def scores(self) -> np.ndarray:
        """Return the mean squared error of every α and target."""
        return self._squares / self._weight
