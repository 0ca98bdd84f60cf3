"""Weighted ridge regressions with all rows as centres, by conjugate gradients on one matrix.

With the roots s of the weights, and from coefficients β and values f that are known, the change d
of the scaled coefficients solves

    Π (S K S + α) d = Π (S (t - f) - α S⁻¹ β),    d = Π d,

with Π the projection that makes sᵀd = 0: the constant is the weighted mean of what is left of the
targets t. One column is enough for it, and a product with K gives the values of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import beside, namespace, to_numpy
from ..features.nystrom.pivoted_cholesky import LowRank
from .conjugate_gradients import Iteration, conjugate_gradients
from .kernel_system import LowRankPreconditioner, Matrix
from .logistic import Decisions

#: Columns of the preconditioner: it is made anew for all weights.
RANK = 600


class RowRegression:
    """Weighted ridge regressions with all rows as centres.

    Parameters
    ----------
    matrix : Matrix
        The kernel matrix of all rows, held-out ones first.
    low_rank : LowRank
        Its low-rank approximation.
    like : array
        Names the array library and device of the matrix.
    n_held : int, default=0
        How many rows are held out: the first ones, whose weights are 0.
    intercept : bool, default=True
        Whether to fit a constant.
    iteration : Iteration, default=None
        When to stop; the tolerance is over the residual at the start.
    note : callable, default=None
        Called as ``note(n_iterations, residual)`` after every iteration.

    Examples
    --------
    >>> from mercer.features.nystrom.pivoted_cholesky import pivoted_cholesky
    >>> class Dense:
    ...     def __init__(self, K):
    ...         self.K = K
    ...     def product(self, V):
    ...         return self.K @ V
    >>> x, zero = np.linspace(0, 1, 20), np.zeros(20)
    >>> K = np.exp(-abs(x[:, None] - x))
    >>> rank = pivoted_cholesky(lambda at: K[:, at], np.ones(20), 5, np.random.default_rng(0))
    >>> system = RowRegression(Dense(K), rank, x)
    >>> found = system.solve(Decisions(zero, 0.0, zero), x, np.ones(20), 1e-4)
    >>> bool(abs(found.values - x).max() < 0.01)
    True
    """

    stopped: str
    n_iterations: int
    degrees_of_freedom: float

    def __init__(
        self,
        matrix: Matrix,
        low_rank: LowRank,
        like: Any,
        n_held: int = 0,
        intercept: bool = True,
        iteration: Iteration | None = None,
        note: Callable[[int, float], None] | None = None,
    ) -> None:
        self._matrix, self._low_rank, self._like = matrix, leading(low_rank, RANK), like
        self._n_held, self._intercept = n_held, intercept
        self._iteration, self._note = iteration or Iteration(), note
        self.stopped, self.n_iterations, self.degrees_of_freedom = "", 0, np.nan

    def values(self, coef: np.ndarray, constant: float) -> Decisions:
        """Return a function with its values at all rows."""
        product = self._matrix.product(beside(self._like, coef[:, None]))
        return Decisions(coef, constant, to_numpy(product)[:, 0] + constant)

    def solve(
        self, start: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> Decisions:
        """Return the regression, as near as the iterations come."""
        roots = np.sqrt(weights)
        learnt = roots > 0
        scaled = np.divide(start.coef, roots, out=np.zeros_like(roots), where=learnt)
        right = roots * (targets - start.values) - alpha * scaled
        preconditioner = LowRankPreconditioner(self._low_rank, roots, [alpha])
        projected = _Projected(
            self._matrix,
            preconditioner,
            beside(self._like, roots[:, None]),
            self._intercept,
        )
        found = conjugate_gradients(
            projected,
            projected,
            projected.projection(beside(self._like, right[:, None])),
            [alpha],
            self._iteration,
            n_held=len(roots),
            note=self._note,
        )[0]
        self.stopped, degrees = found.stopped, preconditioner.degrees_of_freedom
        self.degrees_of_freedom = degrees[0]
        self.n_iterations += found.n_iterations
        coef = start.coef + roots * to_numpy(found.X)[:, 0]
        values = start.values - start.constant + to_numpy(found.seen)[:, 0]
        constant = float(np.average(targets - values, weights=weights)) if self._intercept else 0.0
        return Decisions(coef, constant, values + constant)

    def held_out(
        self, now: Decisions, targets: np.ndarray, weights: np.ndarray, alpha: float
    ) -> np.ndarray:
        """Return decisions for held-out rows, whose values are known."""
        return now.values[: self._n_held]


def leading(low_rank: LowRank, rank: int) -> LowRank:
    """Return the factor of the first pivots.

    Examples
    --------
    >>> both = LowRank(np.eye(2), np.arange(2), np.zeros(2))
    >>> leading(both, 1).missing
    array([0., 1.])
    """
    factor = low_rank.factor
    if rank >= factor.shape[1]:
        return low_rank
    rest = to_numpy(namespace(factor).sum(factor[:, rank:] ** 2, axis=1))
    return LowRank(factor[:, :rank], low_rank.pivots[:rank], low_rank.missing + rest)


class _Projected:
    """Π S K S Π, with the values of all rows; and Π A⁻¹ Π of a preconditioner, in its plane."""

    def __init__(
        self, matrix: Matrix, preconditioner: LowRankPreconditioner, roots: Any, intercept: bool
    ) -> None:
        self._matrix, self._preconditioner, self._roots = matrix, preconditioner, roots
        self._intercept, self._xp = intercept, namespace(roots)
        self._total = self._xp.sum(roots * roots)
        if intercept:
            self._along = preconditioner.solve(roots, [0])
            self._share = self._xp.sum(roots * self._along)

    def projection(self, V: Any) -> Any:
        """Return columns without their part along the roots."""
        if not self._intercept:
            return V
        return V - self._roots * (self._xp.sum(self._roots * V, axis=0) / self._total)

    def product(self, P: Any) -> tuple[Any, Any]:
        """Return the matrix times columns, and the values that they give."""
        values = self._matrix.product(self._roots * P)
        return self.projection(self._roots * values), values

    def solve(self, R: Any, which: list[int]) -> Any:
        """Return the preconditioned residual, whose part along the roots is taken out."""
        found = self._preconditioner.solve(R, which)
        if not self._intercept:
            return found
        shares = self._xp.sum(self._roots * found, axis=0) / self._share
        return self.projection(found - self._along * shares)
