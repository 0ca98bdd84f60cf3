"""Kernel ridge regression with all rows as centres, as a system for conjugate gradients.

With the roots s of the rows' weights the system of :mod:`mercer.solvers.dual` is

    (S K S + α) r = S (y - b),    sᵀ r = 0,

and held-out rows are rows of weight 0: the product with K that an iteration needs anyway gives
their predictions, so that the error on them is known after every iteration at no cost. The
preconditioner is F Fᵀ + μ with F from randomly pivoted Cholesky and μ = α + the mean of what F
misses of the diagonal [1]_.

References
----------
.. [1] M. Díaz, E. N. Epperly, Z. Frangella, J. A. Tropp and R. J. Webber, "Robust, randomized
   preconditioning for kernel ridge regression", 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._array import beside, namespace, to_numpy
from ..engine.tall import tall_times, tall_transposed_times
from ..features.nystrom.pivoted_cholesky import LowRank
from .conjugate_gradients import Iterate, Iteration, Operator, conjugate_gradients
from .semidefinite import inverse_of


class Matrix(Protocol):
    """A symmetric matrix that can be multiplied with columns."""

    def product(self, V: Any) -> Any:
        """Return the matrix times float64 columns."""
        ...


@dataclass(frozen=True)
class IterativeSolution:
    """What conjugate gradients found, and the residual they left.

    Attributes
    ----------
    coef : array of shape (n_centres, n_targets)
        Coefficients of the kernel functions; 0 for held-out rows.
    intercept : array of shape (n_targets,)
        The constants.
    alpha : float
        The ridge parameter.
    residual : float
        The largest relative residual of a target.
    n_iterations : int
        Iterations that lead to these coefficients.
    stopped : str
        Why no more; see :class:`~mercer.solvers.conjugate_gradients.Iterate`.
    held_out : array of shape (n_held_out, n_targets)
        Predictions for the held-out rows.
    errors : list of float
        The mean squared error of held-out rows after every iteration.
    degrees_of_freedom : float
        An estimate from the preconditioner.
    ones : array of shape (n_rows,) or None
        The unknowns whose right-hand side is constant, for a start from this solution.
    """

    coef: Any = field(repr=False)
    intercept: np.ndarray
    alpha: float
    residual: float
    n_iterations: int
    stopped: str
    held_out: np.ndarray = field(repr=False)
    errors: list[float] = field(repr=False)
    degrees_of_freedom: float
    ones: np.ndarray | None = field(default=None, repr=False)


class LowRankPreconditioner:
    """(S F Fᵀ S + μ)⁻¹ for several ridge parameters.

    Parameters
    ----------
    low_rank : LowRank
        The factor F, and the diagonal that it misses.
    roots : array of shape (n_rows,)
        Roots of the weights, the diagonal of S.
    alphas : list of float
        The ridge parameters.
    """

    degrees_of_freedom: list[float]

    def __init__(self, low_rank: LowRank, roots: np.ndarray, alphas: list[float]) -> None:
        F, squares = low_rank.factor, roots**2
        self._F, self._roots = F, beside(F, roots[:, None])
        gram = to_numpy(tall_transposed_times(F, beside(F, squares[:, None]) * F))
        weight = float(squares.sum())
        rest = float(squares @ low_rank.missing) / max(weight, 1e-300)
        self._shifts = [alpha + rest for alpha in alphas]
        self._inverses, self.degrees_of_freedom = [], []
        for shift in self._shifts:
            # Small, and multiplied in every iteration: the inverse itself.
            inverse = inverse_of(gram + shift * np.eye(len(gram)))
            # tr K (K + α)⁻¹ of the part that F knows; what it misses counts by its diagonal.
            known = len(gram) - shift * float(np.trace(inverse))
            self.degrees_of_freedom.append(known + max(weight - known, 0.0) * rest / shift)
            self._inverses.append(beside(F, inverse))
        self._divisors: dict[tuple[int, ...], Any] = {}

    def solve(self, R: Any, which: list[int]) -> Any:
        """Return the inverses of the alphas ``which`` times equal shares of the columns of R."""
        xp, width = namespace(R), R.shape[1] // len(which)
        inner = tall_transposed_times(self._F, self._roots * R)
        parts = [
            self._inverses[number] @ inner[:, k * width : (k + 1) * width]
            for k, number in enumerate(which)
        ]
        out = R - self._roots * tall_times(self._F, xp.concat(parts, axis=1))
        # Sent once for each choice of alphas: a copy would wait for the device.
        key = tuple(which)
        if key not in self._divisors:
            shifts = np.repeat([self._shifts[number] for number in which], width)
            self._divisors[key] = beside(R, shifts[None, :])
        return out / self._divisors[key]


class _Weighted:
    """S K S, and the rows of K S that belong to held-out rows."""

    def __init__(self, matrix: Matrix, roots: Any, n_held: int) -> None:
        self._matrix, self._roots, self._n_held = matrix, roots, n_held

    def product(self, P: Any) -> tuple[Any, Any]:
        found = self._matrix.product(self._roots * P)
        return self._roots * found, found[: self._n_held, :]


class KernelSystem:
    """Kernel ridge regression with all rows as centres.

    Parameters
    ----------
    matrix : Matrix
        The kernel matrix of all rows, held-out ones first.
    low_rank : LowRank
        Its low-rank approximation.
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
    >>> from mercer.features.nystrom.pivoted_cholesky import pivoted_cholesky
    >>> class Dense:
    ...     def __init__(self, K):
    ...         self.K = K
    ...     def product(self, V):
    ...         return self.K @ V
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> K = np.exp(-abs(x - x.T))
    >>> rank = pivoted_cholesky(lambda at: K[:, at], np.ones(20), 5, np.random.default_rng(0))
    >>> solution = KernelSystem(Dense(K), rank, x).solve([0.1])[0]
    >>> solution.stopped, bool(solution.residual < 1e-5)
    ('residual', True)
    """

    def __init__(
        self,
        matrix: Matrix,
        low_rank: LowRank,
        Y: Any,
        weights: np.ndarray | None = None,
        n_held: int = 0,
        intercept: bool = True,
    ) -> None:
        self._matrix, self._low_rank, self._n_held = matrix, low_rank, n_held
        values = np.asarray(to_numpy(Y), dtype=float)
        self._weights = np.ones(len(values)) if weights is None else weights.astype(float)
        self._held_weights = self._weights[:n_held]
        self._held = values[:n_held]
        roots = np.sqrt(self._weights)
        roots[:n_held] = 0.0
        self._roots, self._intercept = roots, intercept
        self._mean = np.average(values, axis=0, weights=roots**2) * float(intercept)
        right = roots[:, None] * (values - self._mean)
        if intercept:
            right = np.column_stack([right, roots])
        self._right = beside(Y, right)
        # What every iteration needs to judge its predictions, where they are made.
        self._beside = beside(Y, roots[:, None])
        self._held_beside = beside(Y, self._held)
        share = self._held_weights / max(float(self._held_weights.sum()), 1e-300)
        self._shares = beside(Y, share[:, None] / max(values.shape[1], 1))
        self._mean_beside = beside(Y, self._mean[None, :])

    def solve(
        self,
        alphas: list[float],
        iteration: Iteration | None = None,
        start: IterativeSolution | None = None,
        exact: Matrix | None = None,
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
        exact : Matrix, default=None
            A more exact matrix for true residuals, to which the solution is refined.
        note : callable, default=None
            Called as ``note(n_iterations, residual)`` after every iteration.
        """
        roots = self._beside
        preconditioner = LowRankPreconditioner(self._low_rank, self._roots, alphas)
        found = conjugate_gradients(
            _Weighted(self._matrix, roots, self._n_held),
            preconditioner,
            self._right,
            alphas,
            iteration or Iteration(),
            n_held=self._n_held,
            start=None if start is None else self._scaled(start),
            judge=self._error if self._n_held else None,
            exact=None if exact is None else self._exact(exact, roots),
            note=note,
        )
        degrees = preconditioner.degrees_of_freedom
        return [self._solution(one, degrees[k]) for k, one in enumerate(found)]

    def _exact(self, matrix: Matrix, roots: Any) -> Operator:
        return _Weighted(matrix, roots, self._n_held)

    def _scaled(self, start: IterativeSolution) -> Any:
        """Return a solution as unknowns of the system: its constant must come out as it was."""
        usable = self._roots > 0
        inverse = np.divide(1.0, self._roots, out=np.zeros_like(self._roots), where=usable)
        scaled = to_numpy(start.coef) * inverse[:, None]
        if self._intercept:
            ones = np.zeros(len(scaled)) if start.ones is None else start.ones
            scaled = scaled + ones[:, None] * (start.intercept - self._mean)
            scaled = np.column_stack([scaled, ones])
        return beside(self._right, scaled)

    def _constants(self, X: Any) -> Any:
        """Return the constants with which the scaled coefficients sum to zero, as a row."""
        sums, xp = self._beside.T @ X, namespace(X)
        last = sums[:, -1:]
        usable = last > 0
        safe = xp.where(usable, last, xp.ones_like(last))
        return xp.where(usable, sums[:, :-1] / safe, xp.zeros_like(sums[:, :-1]))

    def _predicted(self, X: Any, seen: Any) -> Any:
        if not self._intercept:
            return seen
        b = self._constants(X)
        return seen[:, :-1] - seen[:, -1:] * b + b + self._mean_beside

    def _error(self, X: Any, seen: Any) -> Any:
        return namespace(X).sum(self._shares * (self._predicted(X, seen) - self._held_beside) ** 2)

    def _solution(self, one: Iterate, degrees_of_freedom: float) -> IterativeSolution:
        X = to_numpy(one.X)
        r, constant = X, self._mean
        if self._intercept:
            b = to_numpy(self._constants(one.X))[0]
            r, constant = X[:, :-1] - X[:, -1:] * b, self._mean + b
            # The scaled coefficients sum to zero but for what the residual leaves.
            r = r - self._roots[:, None] * ((self._roots @ r) / float((self._roots**2).sum()))
        return IterativeSolution(
            coef=beside(self._right, self._roots[:, None] * r),
            intercept=constant,
            alpha=one.alpha,
            residual=one.residual,
            n_iterations=one.best_iteration,
            stopped=one.stopped,
            held_out=np.asarray(to_numpy(self._predicted(one.X, one.seen))),
            errors=one.errors,
            degrees_of_freedom=degrees_of_freedom,
            ones=X[:, -1] if self._intercept else None,
        )
