"""Kernel ridge regression by preconditioned conjugate gradients, for more rows than n³ allows.

With the roots s of the rows' weights the system of :mod:`mercer.solvers.dual` is

    (S K S + α) r = S (y - b),    sᵀ r = 0,

and held-out rows are rows of weight 0: the product with K that an iteration needs anyway gives
their predictions, so that the error on them is known after every iteration at no cost. Several α
share each product. The preconditioner is F Fᵀ + μ with F from randomly pivoted Cholesky and
μ = α + the mean of what F misses of the diagonal [1]_.

References
----------
.. [1] M. Díaz, E. N. Epperly, Z. Frangella, J. A. Tropp and R. J. Webber, "Robust, randomized
   preconditioning for kernel ridge regression", 2023.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.linalg

from ..engine.tall import tall_times, tall_transposed_times
from ..engine.threads import single_threaded_blas
from .pivoted_cholesky import LowRank

#: Iterations over which the held-out error must still fall by this share.
SETTLED_AFTER, SETTLED = 4, 1e-3
#: Iterations after which the residual is computed anew.
REPLACED_EVERY = 30


class Matrix(Protocol):
    """A symmetric matrix that can be multiplied with columns."""

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the matrix times float64 columns."""
        ...


@dataclass(frozen=True)
class Iteration:
    """When to stop.

    Attributes
    ----------
    tolerance : float
        Relative residual at which the system counts as solved.
    most : int
        Iterations, at most.
    deadline : float
        Value of ``time.perf_counter()`` after which no iteration starts.
    """

    tolerance: float = 1e-6
    most: int = 500
    deadline: float = np.inf


@dataclass(frozen=True)
class IterativeSolution:
    """What conjugate gradients found, and how far they came.

    Attributes
    ----------
    coef : array of shape (n_rows, n_targets)
        Coefficients of the kernel functions; 0 for held-out rows.
    intercept : array of shape (n_targets,)
        The constants.
    alpha : float
        The ridge parameter.
    residual : float
        The largest relative residual of a target, computed at the end, not carried along.
    n_iterations : int
        Iterations of this alpha.
    stopped : str
        Why no more: ``"residual"``, ``"held-out error"``, ``"iterations"``, ``"time"`` or
        ``"interrupted"``.
    held_out : array of shape (n_held_out, n_targets)
        Predictions for the held-out rows.
    errors : list of float
        The mean squared error of held-out rows after every iteration.
    degrees_of_freedom : float
        An estimate from the preconditioner.
    """

    coef: np.ndarray = field(repr=False)
    intercept: np.ndarray
    alpha: float
    residual: float
    n_iterations: int
    stopped: str
    held_out: np.ndarray = field(repr=False)
    errors: list[float] = field(repr=False)
    degrees_of_freedom: float


class _Preconditioner:
    """(F Fᵀ + μ)⁻¹ for scaled rows of F."""

    def __init__(self, low_rank: LowRank, roots: np.ndarray, gram: np.ndarray, alpha: float):
        self._F, self._roots, size = low_rank.factor, roots[:, None], len(gram)
        weight = float((roots**2).sum())
        rest = float((roots**2) @ low_rank.missing) / max(weight, 1e-300)
        self._shift = alpha + rest
        # Small, and multiplied in every iteration: the inverse itself.
        self._inverse = scipy.linalg.inv(gram + self._shift * np.eye(size), check_finite=False)
        self._inverse = (self._inverse + self._inverse.T) / 2
        # tr K (K + α)⁻¹ of the part that F knows; what it misses counts by its diagonal.
        known = size - self._shift * float(np.trace(self._inverse))
        self.degrees_of_freedom = known + max(weight - known, 0.0) * rest / self._shift

    def solve(self, R: np.ndarray) -> np.ndarray:
        """Return the preconditioner's inverse times columns."""
        inner = self._inverse @ tall_transposed_times(self._F, self._roots * R)
        return np.asarray((R - self._roots * tall_times(self._F, inner)) / self._shift)


class _Columns:
    """The columns of one alpha: iterates of all targets and of the constant."""

    def __init__(self, alpha: float, preconditioner: _Preconditioner, right: np.ndarray) -> None:
        self.alpha, self.preconditioner = alpha, preconditioner
        self.right = right
        self.norms = np.maximum(np.linalg.norm(right, axis=0), 1e-300)
        self.X = np.zeros_like(right)
        self.R = right.copy()
        self.seen: np.ndarray = np.zeros((0, right.shape[1]))
        self.errors: list[float] = []
        self.n_iterations, self.stopped = 0, "iterations"
        self.restart()

    def restart(self) -> None:
        """Forget directions."""
        Z = self.preconditioner.solve(self.R)
        self.P, self.rho = Z, np.einsum("ij,ij->j", self.R, Z)

    def advance(self, Q: np.ndarray, U: np.ndarray) -> None:
        """Take a step, from the products of the directions; ``U`` are those of held-out rows."""
        curvature = np.einsum("ij,ij->j", self.P, Q)
        step = np.divide(self.rho, curvature, out=np.zeros_like(curvature), where=curvature > 0)
        self.X += step * self.P
        self.R -= step * Q
        self.seen = self.seen + step * U
        Z = self.preconditioner.solve(self.R)
        rho = np.einsum("ij,ij->j", self.R, Z)
        ratio = np.divide(rho, self.rho, out=np.zeros_like(rho), where=self.rho > 0)
        self.P, self.rho = Z + ratio * self.P, rho
        self.n_iterations += 1

    def residual(self) -> float:
        """Return the largest relative residual."""
        return float((np.linalg.norm(self.R, axis=0) / self.norms).max())


class KernelSystem:
    """Kernel ridge regression with all rows as centres.

    Parameters
    ----------
    matrix : Matrix
        The kernel matrix of all rows, held-out ones included.
    low_rank : LowRank
        Its low-rank approximation.
    Y : array of shape (n_rows, n_targets)
        Targets.
    weights : array of shape (n_rows,), default=None
        Sample weights; 0 holds a row out.

    Examples
    --------
    >>> from mercer.solvers.pivoted_cholesky import pivoted_cholesky
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
        Y: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> None:
        self._matrix, self._low_rank = matrix, low_rank
        self._roots = np.ones(len(Y)) if weights is None else np.sqrt(weights)
        self._held = np.flatnonzero(self._roots == 0)
        self._Y = Y
        self._mean = np.average(Y, axis=0, weights=self._roots**2)

    def solve(
        self,
        alphas: list[float],
        iteration: Iteration | None = None,
        start: np.ndarray | None = None,
        exact: Matrix | None = None,
        note: Callable[[int, float], None] | None = None,
    ) -> list[IterativeSolution]:
        """Return a solution for each ridge parameter; all share the products.

        Parameters
        ----------
        alphas : list of float
            The ridge parameters.
        iteration : Iteration, default=None
            When to stop.
        start : array of shape (n_rows, n_targets), default=None
            Coefficients to begin with, of fewer rows or of another alpha.
        exact : Matrix, default=None
            A more exact matrix for the residual: the solution is refined until its residual is
            at the tolerance.
        note : callable, default=None
            Called as ``note(n_iterations, residual)`` after every iteration.
        """
        iteration = iteration or Iteration()
        right = np.column_stack([self._roots[:, None] * (self._Y - self._mean), self._roots])
        F, roots = self._low_rank.factor, self._roots
        gram = tall_transposed_times(F, (roots**2)[:, None] * F)
        systems = [
            _Columns(alpha, _Preconditioner(self._low_rank, roots, gram, alpha), right)
            for alpha in alphas
        ]
        for one in systems:
            one.seen = np.zeros((len(self._held), right.shape[1]))
        live, stopped = list(systems), None
        with single_threaded_blas():
            live, stopped = self._iterate(systems, iteration, start, exact, note)
        for one in live:
            one.stopped = stopped or one.stopped
        if stopped != "interrupted":
            self._replace(systems, exact or self._matrix)
        return [self._solution(one) for one in systems]

    def _iterate(
        self,
        systems: list[_Columns],
        iteration: Iteration,
        start: np.ndarray | None,
        exact: Matrix | None,
        note: Callable[[int, float], None] | None,
    ) -> tuple[list[_Columns], str | None]:
        """Iterate, and return the systems that are not done, and what stopped them."""
        live, stopped = list(systems), None
        try:
            if start is not None:
                for one in systems:
                    one.X[:, :-1] = np.divide(
                        start,
                        self._roots[:, None],
                        out=np.zeros_like(start),
                        where=self._roots[:, None] > 0,
                    )
                self._replace(systems, exact or self._matrix)
            while live:
                if live[0].n_iterations >= iteration.most:
                    break
                if time.perf_counter() > iteration.deadline:
                    stopped = "time"
                    break
                live = self._step(live, iteration, exact)
                if note is not None:
                    done = max(systems, key=lambda one: one.n_iterations)
                    note(done.n_iterations, done.residual())
        except KeyboardInterrupt:
            stopped = "interrupted"
        return live, stopped

    def _step(
        self, live: list[_Columns], iteration: Iteration, exact: Matrix | None
    ) -> list[_Columns]:
        """Take a step with each alpha, and return those that go on."""
        roots = self._roots[:, None]
        found = self._matrix.product(np.hstack([roots * one.P for one in live]))
        width = live[0].P.shape[1]
        for k, one in enumerate(live):
            own = found[:, k * width : (k + 1) * width]
            one.advance(roots * own + one.alpha * one.P, own[self._held])
            if len(self._held):
                one.errors.append(self._error(one))
        if live[0].n_iterations % REPLACED_EVERY == 0:
            self._replace(live, exact or self._matrix)
            for one in live:
                one.restart()
        done = [one for one in live if one.residual() <= iteration.tolerance]
        if done and exact is not None:
            self._replace(done, exact)
            for one in done:
                one.restart()
        going = []
        for one in live:
            if one.residual() <= iteration.tolerance:
                one.stopped = "residual"
            elif _settled(one.errors):
                one.stopped = "held-out error"
            else:
                going.append(one)
        return going

    def _replace(self, systems: list[_Columns], matrix: Matrix) -> None:
        """Compute residuals and held-out predictions anew."""
        roots = self._roots[:, None]
        found = matrix.product(np.hstack([roots * one.X for one in systems]))
        width = systems[0].X.shape[1]
        for k, one in enumerate(systems):
            own = found[:, k * width : (k + 1) * width]
            one.R = one.right - roots * own - one.alpha * one.X
            one.seen = own[self._held]
            one.restart()

    def _constants(self, one: _Columns) -> np.ndarray:
        total = float(self._roots @ one.X[:, -1])
        if total <= 0:
            return np.zeros(self._Y.shape[1])
        return np.asarray(self._roots @ one.X[:, :-1] / total)

    def _predicted(self, one: _Columns) -> np.ndarray:
        b = self._constants(one)
        return np.asarray(one.seen[:, :-1] - one.seen[:, -1:] * b + b + self._mean)

    def _error(self, one: _Columns) -> float:
        return float(((self._predicted(one) - self._Y[self._held]) ** 2).mean())

    def _solution(self, one: _Columns) -> IterativeSolution:
        b = self._constants(one)
        r = one.X[:, :-1] - one.X[:, -1:] * b
        # The scaled coefficients sum to zero but for what the residual leaves.
        r = r - self._roots[:, None] * ((self._roots @ r) / float((self._roots**2).sum()))
        norms = np.maximum(one.norms[:-1], 1e-300)
        residual = float((np.linalg.norm(one.R[:, :-1], axis=0) / norms).max())
        return IterativeSolution(
            coef=self._roots[:, None] * r,
            intercept=self._mean + b,
            alpha=one.alpha,
            residual=residual,
            n_iterations=one.n_iterations,
            stopped=one.stopped,
            held_out=self._predicted(one),
            errors=one.errors,
            degrees_of_freedom=one.preconditioner.degrees_of_freedom,
        )


def _settled(errors: list[float]) -> bool:
    """Return whether the error on held-out rows no longer falls."""
    if len(errors) <= 2 * SETTLED_AFTER:
        return False
    best = min(errors[:-SETTLED_AFTER])
    return min(errors[-SETTLED_AFTER:]) > (1 - SETTLED) * best
