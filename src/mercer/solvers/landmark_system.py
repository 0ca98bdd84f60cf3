"""Kernel ridge regression with some rows as centres, as a system for conjugate gradients.

With the kernel matrix TᵀT of the centres and features z(x) = T⁻ᵀ k(x), the coefficients γ of the
features solve

    (Σ wᵢ (zᵢ - z̄)(zᵢ - z̄)ᵀ + α) γ = Σ wᵢ (zᵢ - z̄)(yᵢ - ȳ),

and β = T⁻¹ γ are those of the kernel functions. The rows enter through products with their kernel
with the centres only. If the centres are drawn from the rows, Σ wᵢ zᵢ zᵢᵀ is about (Σ w / m) T Tᵀ,
which makes a preconditioner [1]_.

References
----------
.. [1] A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method",
   NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from .._array import beside, namespace, to_numpy
from ..engine.panels import RowPanels
from .conjugate_gradients import Iterate, Iteration, conjugate_gradients
from .kernel_system import IterativeSolution

#: What is added to the kernel matrix of the centres, over its mean diagonal.
JITTER = 1e-7


class _CentrePreconditioner:
    """((Σ w / m) T Tᵀ + α)⁻¹ for several ridge parameters."""

    def __init__(self, T: np.ndarray, weight: float, alphas: list[float]) -> None:
        product = (weight / len(T)) * (T @ T.T)
        self._factors, self.degrees_of_freedom = [], []
        for alpha in alphas:
            shifted = product.copy()
            shifted[np.diag_indices_from(shifted)] += alpha
            factor = scipy.linalg.cholesky(
                shifted, lower=True, overwrite_a=True, check_finite=False
            )
            self._factors.append(factor)
            inverse = scipy.linalg.lapack.dtrtri(factor, lower=1)[0]
            self.degrees_of_freedom.append(len(T) - alpha * float((inverse**2).sum()))

    def solve(self, R: Any, which: list[int]) -> Any:
        """Return the inverses of the alphas ``which`` times equal shares of the columns of R."""
        values, width = to_numpy(R), R.shape[1] // len(which)
        parts = [
            scipy.linalg.cho_solve(
                (self._factors[number], True),
                values[:, k * width : (k + 1) * width],
                check_finite=False,
            )
            for k, number in enumerate(which)
        ]
        return beside(R, np.concatenate(parts, axis=1))


class LandmarkSystem:
    """Kernel ridge regression with some rows as centres.

    Parameters
    ----------
    panels : RowPanels
        The kernel of all rows, held-out ones first, with the centres.
    K : array of shape (n_centres, n_centres)
        The kernel of the centres.
    Y : array of shape (n_rows, n_targets)
        Targets.
    weights : array of shape (n_rows,), default=None
        Sample weights.
    n_held : int, default=0
        How many rows are held out: the first ones.
    intercept : bool, default=True
        Whether to fit a constant.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> K = np.exp(-abs(x - x.T))
    >>> def tile(rows, columns, out):
    ...     out[:] = K[rows, ::2][:, columns]
    >>> system = LandmarkSystem(RowPanels(tile, (20, 10), 10**6), K[::2, ::2], x)
    >>> solution = system.solve([1e-4])[0]
    >>> bool(np.abs(K[:, ::2] @ solution.coef + solution.intercept - x).max() < 0.01)
    True
    """

    def __init__(
        self,
        panels: RowPanels,
        K: np.ndarray,
        Y: Any,
        weights: np.ndarray | None = None,
        n_held: int = 0,
        intercept: bool = True,
    ) -> None:
        self._panels, self._n_held, self._intercept = panels, n_held, intercept
        values = np.asarray(to_numpy(Y), dtype=float)
        self._weights = np.ones(len(values)) if weights is None else weights.astype(float)
        self._held_weights, self._held = self._weights[:n_held].copy(), values[:n_held]
        if n_held:
            self._weights = self._weights.copy()
            self._weights[:n_held] = 0.0
        self._total = float(self._weights.sum())
        self._mean = np.average(values, axis=0, weights=self._weights) * float(intercept)
        shifted = np.array(K, dtype=float)
        shifted[np.diag_indices_from(shifted)] += JITTER * np.trace(shifted) / len(shifted)
        self._T = scipy.linalg.cholesky(shifted, lower=False, overwrite_a=True)
        self._like = Y
        right = self._weights[:, None] * (values - self._mean)
        sums = self._collected(np.column_stack([right, self._weights]))
        #: The weighted mean of the features.
        self._center = sums[:, -1] / self._total * float(intercept)
        self._right = beside(Y, sums[:, :-1] - np.outer(self._center, right.sum(axis=0)))

    def _collected(self, values: np.ndarray) -> np.ndarray:
        """Return T⁻ᵀ Kᵀ times a value for every row."""
        width = values.shape[1]
        nothing = beside(self._like, np.zeros((len(self._T), width)))
        found = self._panels.both_sides(nothing, lambda rows, U: beside(self._like, values[rows]))
        return self._features(to_numpy(found))

    def _features(self, V: np.ndarray) -> np.ndarray:
        return np.asarray(scipy.linalg.solve_triangular(self._T, V, trans="T", check_finite=False))

    def product(self, P: Any) -> tuple[Any, Any]:
        """Return the centred second moments times columns, and predictions for held-out rows."""
        values = to_numpy(P)
        V = beside(P, scipy.linalg.solve_triangular(self._T, values, check_finite=False))
        seen = np.zeros((self._n_held, values.shape[1]))
        weights = beside(P, self._weights[:, None])

        def weighted(rows: slice, U: Any) -> Any:
            if rows.start < self._n_held:
                stop = min(rows.stop, self._n_held)
                seen[rows.start : stop] = to_numpy(U)[: stop - rows.start]
            return weights[rows, :] * U

        found = self._features(to_numpy(self._panels.both_sides(V, weighted)))
        found -= self._total * np.outer(self._center, self._center @ values)
        return beside(P, found), beside(P, seen)

    def solve(
        self,
        alphas: list[float],
        iteration: Iteration | None = None,
        start: IterativeSolution | None = None,
        note: Callable[[int, float], None] | None = None,
    ) -> list[IterativeSolution]:
        """Return a solution for each ridge parameter; all share the products.

        Parameters
        ----------
        alphas : list of float
            The ridge parameters.
        iteration : Iteration, default=None
            When to stop; with held-out rows also when the error on them has settled.
        start : IterativeSolution, default=None
            Where to begin: a solution of fewer rows or of another alpha.
        note : callable, default=None
            Called as ``note(n_iterations, residual)`` after every iteration.
        """
        preconditioner = _CentrePreconditioner(self._T, self._total, alphas)
        found = conjugate_gradients(
            self,
            preconditioner,
            self._right,
            alphas,
            iteration or Iteration(),
            n_held=self._n_held,
            start=None if start is None else beside(self._right, self._T @ to_numpy(start.coef)),
            judge=self._error if self._n_held else None,
            note=note,
        )
        degrees = preconditioner.degrees_of_freedom
        return [self._solution(one, degrees[k]) for k, one in enumerate(found)]

    def _constants(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._mean - self._center @ X)

    def _error(self, X: Any, seen: Any) -> Any:
        predicted = to_numpy(seen) + self._constants(to_numpy(X))
        squares = ((predicted - self._held) ** 2).mean(axis=1)
        error = np.average(squares, weights=self._held_weights)
        return namespace(X).sum(beside(X, np.asarray([error])))

    def _solution(self, one: Iterate, degrees_of_freedom: float) -> IterativeSolution:
        X = to_numpy(one.X)
        constants = self._constants(X)
        coef = scipy.linalg.solve_triangular(self._T, X, check_finite=False)
        return IterativeSolution(
            coef=beside(self._like, coef),
            intercept=constants,
            alpha=one.alpha,
            residual=one.residual,
            n_iterations=one.best_iteration,
            stopped=one.stopped,
            held_out=to_numpy(one.seen) + constants,
            errors=one.errors,
            degrees_of_freedom=degrees_of_freedom,
        )
