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

from .._array import beside, moved, namespace, to_numpy, zeros_beside
from .._devices import algebra_of
from ..engine.panels import RowPanels
from .conjugate_gradients import Iterate, Iteration, conjugate_gradients
from .kernel_system import IterativeSolution
from .shifted import cholesky, inverse_diagonal

#: What is added to the kernel matrix of the centres, over its mean diagonal.
JITTER = 1e-7
EPSILON = float(np.finfo(float).eps)


class _CentrePreconditioner:
    """((Σ w / m) T Tᵀ + α)⁻¹ for several ridge parameters, with T = Lᵀ."""

    def __init__(self, L: Any, weight: float, alphas: list[float]) -> None:
        n = L.shape[0]
        product = (weight / n) * (L.T @ L)
        self._factors, self.degrees_of_freedom = [], []
        for alpha in alphas:
            factor = cholesky(product, alpha, EPSILON)
            self._factors.append(factor)
            trace = float(namespace(factor).sum(inverse_diagonal(factor)))
            self.degrees_of_freedom.append(n - alpha * trace)

    def solve(self, R: Any, which: list[int]) -> Any:
        """Return the inverses of the alphas ``which`` times equal shares of the columns of R."""
        width, algebra = R.shape[1] // len(which), algebra_of(R)
        parts = [
            algebra.cholesky_solve(self._factors[number], R[:, k * width : (k + 1) * width])
            for k, number in enumerate(which)
        ]
        return namespace(R).concat(parts, axis=1)


class LandmarkSystem:
    """Kernel ridge regression with some rows as centres.

    Parameters
    ----------
    panels : RowPanels
        The kernel of all rows, held-out ones first, with the centres.
    K : array of shape (n_centres, n_centres)
        The kernel of the centres; it goes where the targets are.
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
        K: Any,
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
        K = moved(K, Y)
        size = float(namespace(K).linalg.trace(K)) / K.shape[0]
        #: The transpose of T.
        self._L = cholesky(K, JITTER * size, EPSILON)
        self._algebra, self._like = algebra_of(K), Y
        # What every product needs, where it is made.
        self._beside = beside(Y, self._weights[:, None])
        self._held_beside = beside(Y, self._held)
        share = self._held_weights / max(float(self._held_weights.sum()), 1e-300)
        self._shares = beside(Y, share[:, None] / max(values.shape[1], 1))
        self._mean_beside = beside(Y, self._mean[None, :])
        right = self._weights[:, None] * (values - self._mean)
        sums = self._collected(beside(Y, np.column_stack([right, self._weights])))
        #: The weighted mean of the features, as a column.
        self._center = sums[:, -1:] / self._total * float(intercept)
        self._right = sums[:, :-1] - self._center * beside(Y, right.sum(axis=0)[None, :])

    def _collected(self, values: Any) -> Any:
        """Return T⁻ᵀ Kᵀ times a value for every row."""
        nothing = zeros_beside(self._like, (self._L.shape[0], values.shape[1]))
        return self._features(self._panels.both_sides(nothing, lambda rows, U: values[rows, :]))

    def _features(self, V: Any) -> Any:
        return self._algebra.solve_triangular(self._L, V)

    def _coefficients(self, X: Any) -> Any:
        return self._algebra.solve_triangular(self._L, X, transposed=True)

    def product(self, P: Any) -> tuple[Any, Any]:
        """Return the centred second moments times columns, and predictions for held-out rows."""
        seen = zeros_beside(P, (self._n_held, P.shape[1]))

        def weighted(rows: slice, U: Any) -> Any:
            if rows.start < self._n_held:
                stop = min(rows.stop, self._n_held)
                seen[rows.start : stop, :] = U[: stop - rows.start, :]
            return self._beside[rows, :] * U

        found = self._features(self._panels.both_sides(self._coefficients(P), weighted))
        found = found - self._total * (self._center @ (self._center.T @ P))
        return found, seen

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
        preconditioner = _CentrePreconditioner(self._L, self._total, alphas)
        found = conjugate_gradients(
            self,
            preconditioner,
            self._right,
            alphas,
            iteration or Iteration(),
            n_held=self._n_held,
            start=None if start is None else self._L.T @ start.coef,
            judge=self._error if self._n_held else None,
            note=note,
        )
        degrees = preconditioner.degrees_of_freedom
        return [self._solution(one, degrees[k]) for k, one in enumerate(found)]

    def _constants(self, X: Any) -> Any:
        """Return the constants as a row."""
        return self._mean_beside - self._center.T @ X

    def _error(self, X: Any, seen: Any) -> Any:
        gaps = seen + self._constants(X) - self._held_beside
        return namespace(X).sum(self._shares * gaps**2)

    def _solution(self, one: Iterate, degrees_of_freedom: float) -> IterativeSolution:
        constants = to_numpy(self._constants(one.X))[0]
        return IterativeSolution(
            coef=self._coefficients(one.X),
            intercept=constants,
            alpha=one.alpha,
            residual=one.residual,
            n_iterations=one.best_iteration,
            stopped=one.stopped,
            held_out=to_numpy(one.seen) + constants,
            errors=one.errors,
            degrees_of_freedom=degrees_of_freedom,
        )
