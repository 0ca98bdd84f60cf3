"""The posterior of the coefficients: variances of predictions, and leave-one-out residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .ridge import Problem
from .statistics import Moments


class Posterior:
    """The quadratic form zᵀ (S + λ)⁻¹ z of centred features, plus 1/n for the intercept.

    Times the variance of the noise it is the variance of a prediction in the Bayesian linear
    model whose prior has the precision λ; for a training row it is its leverage.

    Parameters
    ----------
    totals : Moments
        Sums over all training rows.
    lam : float
        The ridge parameter.
    intercept : bool
        Whether a constant was fitted.
    """

    def __init__(self, totals: Moments, lam: float, intercept: bool) -> None:
        gram, _, _ = totals.centred(intercept)
        self._factor = cholesky(gram, lam, totals.rounding)
        self._mean = totals.means(intercept)[0]
        self._constant = 1 / totals.weight if intercept else 0.0

    def quadratic(self, Z: np.ndarray) -> np.ndarray:
        """Return the form for every row of ``Z``."""
        centred = np.asarray(Z, dtype=float) - self._mean
        half = scipy.linalg.solve_triangular(self._factor, centred.T, lower=True, overwrite_b=True)
        return np.einsum("ij,ij->j", half, half) + self._constant


class DualPosterior:
    """The same quadratic form from the rows themselves, for fewer rows than features.

    Parameters
    ----------
    few : FewRows
        The training rows.
    lam : float
        The ridge parameter.
    """

    def __init__(self, few: Any, lam: float) -> None:
        self._few, self._lam = few, lam
        self._factor = cholesky(few.gram(), lam, few.rounding)

    def quadratic(self, Z: np.ndarray) -> np.ndarray:
        """Return the form for every row of ``Z``."""
        products, norms = self._few.products(np.asarray(Z, dtype=float))
        half = scipy.linalg.solve_triangular(self._factor, products, lower=True, overwrite_b=True)
        explained = np.einsum("ij,ij->j", half, half)
        return np.maximum(norms - explained, 0.0) / self._lam + self._few.constant


def cholesky(S: np.ndarray, lam: float, rounding: float) -> np.ndarray:
    """Return the lower Cholesky factor of S + λ I, with as much added as rounding asks for.

    S may have lost its definiteness to the rounding of the features; the diagonal is raised
    by that size, tenfold each time, until the factor exists.
    """
    size = float(np.trace(S)) / len(S)
    raised = 0.0
    while True:
        A = S.copy()
        A[np.diag_indices_from(A)] += lam + raised
        try:
            return scipy.linalg.cholesky(A, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raised = max(10 * raised, rounding * size)
            if not raised <= size:
                raise


def dual_leave_one_out(few: Any, lams: np.ndarray) -> np.ndarray:
    """Return the exact leave-one-out error of every λ and target, from few rows.

    Parameters
    ----------
    few : FewRows
        The rows.
    lams : array of shape (n_lams,)
        The ridge parameters.
    """
    eigenvalues, Q = np.linalg.eigh(few.gram())
    eigenvalues = np.maximum(eigenvalues, 0.0)
    rotated = Q.T @ few.targets()
    w = few.weights
    scores = []
    for lam in lams:
        shrunk = lam / (eigenvalues + lam)
        # Residuals and leverages of rows scaled by the roots of their weights.
        residual = Q @ (shrunk[:, None] * rotated) / np.sqrt(w)[:, None]
        leverage = (1 - (Q * Q) @ shrunk) / w + few.constant
        rest = 1 - w * leverage
        scores.append((w[:, None] * (residual / rest[:, None]) ** 2).sum(axis=0) / few.weight)
    return np.array(scores)


class LeaveOneOut:
    """Exact leave-one-out errors of every λ and target, from one more pass over the rows.

    Parameters
    ----------
    totals : Moments
        Sums over all rows.
    lams : array of shape (n_lams,)
        The ridge parameters.
    problem : Problem
        What is asked.
    """

    def __init__(self, totals: Moments, lams: np.ndarray, problem: Problem) -> None:
        gram, cross, _ = totals.centred(problem.intercept)
        self._means = totals.means(problem.intercept)
        eigenvalues, self._vectors = np.linalg.eigh(gram)
        self._shrink = 1 / (np.maximum(eigenvalues, 0.0)[:, None] + lams)
        self._rotated = self._vectors.T @ cross
        self._constant = 1 / totals.weight if problem.intercept else 0.0
        self._weight = 0.0
        self._squares = np.zeros((len(lams), cross.shape[1]))

    def add(self, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add the errors of a block of training rows."""
        P = (np.asarray(Z, dtype=float) - self._means[0]) @ self._vectors
        Y = Y - self._means[1]
        w = np.ones(len(P)) if weights is None else weights
        leverages = (P * P) @ self._shrink + self._constant
        for row, shrink, h in zip(self._squares, self._shrink.T, leverages.T, strict=True):
            residual = Y - P @ (shrink[:, None] * self._rotated)
            rest = 1 - w * h
            row += (w[:, None] * (residual / rest[:, None]) ** 2).sum(axis=0)
        self._weight += float(w.sum())

    def scores(self) -> np.ndarray:
        """Return the mean squared error of every λ and target."""
        return self._squares / self._weight
