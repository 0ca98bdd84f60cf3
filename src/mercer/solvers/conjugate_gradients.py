"""Preconditioned conjugate gradients for several ridge parameters and all targets at once.

Solves (A + α) X = B. One product with A serves the columns of every α. Recurrences run in float64
whatever A is made of; the residual that they carry along drifts away from the true one, which is
computed anew whenever the carried one has fallen far, or claims that the system is solved.

Everything stays where the right-hand sides are: an iteration waits for one small array of errors
and residuals.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._array import namespace, to_numpy, zeros_beside
from ..engine.threads import single_threaded_blas

#: The share by which the held-out error must still fall over a window of the last iterations, and
#: the window: so many, and so large a share of all.
SETTLED, WINDOW, WINDOW_SHARE = 1e-3, 8, 1 / 3
#: A residual above which the error may only pause: the window is then so many times as long.
COARSE, PATIENCE = 0.1, 3
#: The fall of the carried residual after which the true one is computed.
DRIFT = 1e-4
#: The true residual may be so many times the carried one.
NEAR = 1.5


class Operator(Protocol):
    """A symmetric positive semi-definite matrix, and what its columns say of held-out rows."""

    def product(self, P: Any) -> tuple[Any, Any]:
        """Return A P, and the predictions for held-out rows that coefficients P would give."""
        ...


class Preconditioner(Protocol):
    """An approximate inverse of A + α for each α."""

    def solve(self, R: Any, which: list[int]) -> Any:
        """Return the inverses of the alphas ``which`` times equal shares of the columns of R."""
        ...


#: Called as ``judge(X, seen)``: the error of an iterate with its held-out predictions, as an array
#: of no dimensions.
Judge = Callable[[Any, Any], Any]


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


@dataclass
class Iterate:
    """The columns of one ridge parameter.

    Attributes
    ----------
    alpha : float
        The ridge parameter.
    X : array of shape (n, n_columns)
        The iterate with the smallest held-out error or, without one, the smallest residual.
    seen : array of shape (n_held_out, n_columns)
        Its predictions for held-out rows.
    residual : float
        The largest relative residual of a column.
    n_iterations : int
        Iterations so far; ``best_iteration`` of them lead to ``X``.
    stopped : str
        Why no more: ``"residual"``, ``"rounding"`` (the residual cannot fall further),
        ``"held-out error"``, ``"iterations"``, ``"time"`` or ``"interrupted"``.
    errors : list of float
        The held-out error at the start, and after every iteration.
    """

    alpha: float
    X: Any = field(repr=False)
    seen: Any = field(repr=False)
    residual: float = 1.0
    n_iterations: int = 0
    best_iteration: int = 0
    stopped: str = "iterations"
    errors: list[float] = field(default_factory=list, repr=False)


class _Columns:
    """Iterates, residuals and directions of one alpha."""

    def __init__(self, number: int, alpha: float, right: Any, n_held: int) -> None:
        self.xp = namespace(right)
        self.number, self.right = number, right
        self.norms = self._floored(self._norms(right))
        self.X = zeros_beside(right, right.shape)
        self.R = self.xp.asarray(right, copy=True)
        self.P = self.rho = self.R
        self.seen = zeros_beside(right, (n_held, right.shape[1]))
        self.checked = 1.0
        #: The held-out error, if there is one, and the largest relative residual as carried along.
        self.error: float | None = None
        self.residual = np.inf
        self.record = Iterate(alpha, self.X, self.seen)

    def _norms(self, V: Any) -> Any:
        return self.xp.sqrt(self.xp.sum(V * V, axis=0))

    def _floored(self, norms: Any) -> Any:
        return self.xp.where(norms > 0, norms, self.xp.ones_like(norms))

    def restart(self, Z: Any) -> None:
        """Begin with the direction of the preconditioned residual."""
        self.P, self.rho = Z, self.xp.sum(self.R * Z, axis=0)

    def step(self, Q: Any, U: Any) -> None:
        """Take a step, from the products of the directions; ``U`` are those of held-out rows."""
        size = _ratio(self.rho, self.xp.sum(self.P * Q, axis=0), self.xp)
        # New arrays: the best iterate so far may be one of the old ones.
        self.X = self.X + size * self.P
        self.R = self.R - size * Q
        self.seen = self.seen + size * U
        self.record.n_iterations += 1

    def turn(self, Z: Any) -> None:
        """Find the next direction from the preconditioned residual."""
        rho = self.xp.sum(self.R * Z, axis=0)
        self.P, self.rho = Z + _ratio(rho, self.rho, self.xp) * self.P, rho

    def largest_residual(self) -> Any:
        """Return the largest relative residual, as an array of no dimensions."""
        return self.xp.max(self._norms(self.R) / self.norms)

    def keep(self, error: float | None, always: bool = False) -> None:
        """Keep this iterate, if no other has a smaller held-out error, by a margin, or residual.

        Where rounding has the word, residuals grow again, and with them the error.
        """
        record, residual = self.record, self.residual
        if error is not None:
            record.errors.append(error)
            if error > (1 + SETTLED) * min(record.errors):
                return
        elif residual > record.residual and not always:
            return
        record.X, record.seen, record.residual = self.X, self.seen, residual
        record.best_iteration = record.n_iterations


def conjugate_gradients(
    operator: Operator,
    preconditioner: Preconditioner,
    right: Any,
    alphas: list[float],
    iteration: Iteration,
    *,
    n_held: int = 0,
    start: Any = None,
    judge: Judge | None = None,
    exact: Operator | None = None,
    note: Callable[[int, float], None] | None = None,
) -> list[Iterate]:
    """Return an iterate for each ridge parameter.

    Parameters
    ----------
    operator, preconditioner : Operator, Preconditioner
        The matrix, and an approximate inverse for each alpha.
    right : float64 array of shape (n, n_columns)
        The right-hand sides.
    alphas : list of float
        The ridge parameters.
    iteration : Iteration
        When to stop.
    n_held : int, default=0
        Held-out rows of the operator.
    start : array of shape (n, n_columns), default=None
        Where to begin.
    judge : callable, default=None
        Gives the held-out error; iterations then stop when it has settled.
    exact : Operator, default=None
        A more exact matrix for true residuals: the solution is then refined to them.
    note : callable, default=None
        Called as ``note(n_iterations, residual)`` after every iteration.

    Examples
    --------
    >>> class Dense:
    ...     def product(self, P):
    ...         return np.asarray([[2.0, 1.0], [1.0, 2.0]]) @ P, P[:0]
    >>> class Plain:
    ...     def solve(self, R, which):
    ...         return R
    >>> found = conjugate_gradients(Dense(), Plain(), np.ones((2, 1)), [1.0], Iteration())[0]
    >>> found.X.ravel(), found.stopped
    (array([0.25, 0.25]), 'residual')
    """
    systems = [_Columns(k, alpha, right, n_held) for k, alpha in enumerate(alphas)]
    solver = _Solver(operator, preconditioner, exact or operator, iteration, judge)
    with single_threaded_blas():
        solver.run(systems, start, note)
    return [one.record for one in systems]


class _Solver:
    """The loop: a product for all columns, a step and a look at each alpha."""

    def __init__(
        self,
        operator: Operator,
        preconditioner: Preconditioner,
        exact: Operator,
        iteration: Iteration,
        judge: Judge | None,
    ) -> None:
        self._operator, self._preconditioner, self._exact = operator, preconditioner, exact
        self._iteration, self._judge = iteration, judge

    def run(self, systems: list[_Columns], start: Any, note: Any) -> None:
        """Iterate until every alpha is done."""
        live = list(systems)
        try:
            if start is not None:
                for one in systems:
                    # An interruption leaves at least what was there before.
                    one.X = one.record.X = start
                self._replace(systems)
                self._look(systems)
                for one in systems:
                    one.keep(one.error, always=True)
                live = [one for one in systems if one.residual > self._iteration.tolerance]
                for one in systems:
                    one.record.stopped = "residual"
            else:
                self._look(systems)
                if self._judge is not None:
                    # Nothing learnt is a candidate, too.
                    for one in systems:
                        one.keep(one.error)
            self._precondition(live, restart=True)
            while live and live[0].record.n_iterations < self._iteration.most:
                if time.perf_counter() > self._iteration.deadline:
                    self._stop(live, "time")
                    return
                self._advance(live)
                if note is not None:
                    note(live[0].record.n_iterations, min(one.residual for one in live))
                live = self._unfinished(live)
                self._precondition(live, restart=False)
            self._stop(live, "iterations")
        except KeyboardInterrupt:
            self._stop(live, "interrupted")

    @staticmethod
    def _stop(live: list[_Columns], why: str) -> None:
        for one in live:
            one.record.stopped = why

    def _advance(self, live: list[_Columns]) -> None:
        """Take a step with each alpha."""
        xp, width = live[0].xp, live[0].P.shape[1]
        Q, U = self._operator.product(xp.concat([one.P for one in live], axis=1))
        for k, one in enumerate(live):
            own = slice(k * width, (k + 1) * width)
            one.step(Q[:, own] + one.record.alpha * one.P, U[:, own])
        self._look(live)
        for one in live:
            one.keep(one.error)

    def _look(self, systems: list[_Columns]) -> None:
        """Fetch errors and residuals, all with one wait for the device."""
        numbers = [one.largest_residual() for one in systems]
        if self._judge is not None:
            numbers += [self._judge(one.X, one.seen) for one in systems]
        found = to_numpy(systems[0].xp.stack(numbers)).tolist()
        for number, one in enumerate(systems):
            one.residual = found[number]
            if self._judge is not None:
                one.error = found[len(systems) + number]

    def _unfinished(self, live: list[_Columns]) -> list[_Columns]:
        """Return the columns that go on; true residuals are computed where that is due."""
        claims = [one for one in live if one.residual <= self._iteration.tolerance]
        drifted = [one for one in live if one.residual < DRIFT * one.checked]
        if self._judge is None and (claims or drifted):
            self._check([one for one in live if one in claims or one in drifted])
        going = []
        for one in live:
            if one.record.stopped == "rounding" or one.residual <= self._iteration.tolerance:
                if one.record.stopped != "rounding":
                    one.record.stopped = "residual"
            elif settled(one.record.errors, PATIENCE if one.residual > COARSE else 1):
                one.record.stopped = "held-out error"
            else:
                going.append(one)
        return going

    def _check(self, systems: list[_Columns]) -> None:
        """Replace residuals by true ones; where these no longer fall, rounding has the word."""
        before = [(one.residual, one.checked) for one in systems]
        self._replace(systems)
        self._look(systems)
        for one, (carried, last) in zip(systems, before, strict=True):
            true = one.residual
            one.keep(None, always=True)
            if true > max(self._iteration.tolerance, NEAR * carried, last / 2):
                one.record.stopped = "rounding"
            # The old directions belong to another residual, however near it was.
            one.P = one.P * 0.0
            one.checked = true

    def _replace(self, systems: list[_Columns]) -> None:
        """Compute residuals and held-out predictions anew."""
        xp, width = systems[0].xp, systems[0].X.shape[1]
        Q, U = self._exact.product(xp.concat([one.X for one in systems], axis=1))
        for k, one in enumerate(systems):
            own = slice(k * width, (k + 1) * width)
            one.R = one.right - Q[:, own] - one.record.alpha * one.X
            one.seen = U[:, own]

    def _precondition(self, live: list[_Columns], restart: bool) -> None:
        if not live:
            return
        xp, width = live[0].xp, live[0].R.shape[1]
        which = [one.number for one in live]
        Z = self._preconditioner.solve(xp.concat([one.R for one in live], axis=1), which)
        for k, one in enumerate(live):
            own = Z[:, k * width : (k + 1) * width]
            if restart:
                one.restart(own)
            else:
                one.turn(own)


def _ratio(above: Any, below: Any, xp: Any) -> Any:
    """Return quotients, and 0 where nothing is left to divide by."""
    usable = below > 0
    safe = xp.where(usable, below, xp.ones_like(below))
    return xp.where(usable, above / safe, xp.zeros_like(below))


def settled(errors: list[float], patience: int = 1) -> bool:
    """Return whether the error on held-out rows no longer falls.

    Parameters
    ----------
    errors : list of float
        The error after every iteration.
    patience : int, default=1
        A factor of the window in which it must fall.

    Examples
    --------
    >>> settled([1.0, 0.5] + [0.4] * 20), settled([1.0, 0.5, 0.4])
    (True, False)
    """
    window = max(patience * WINDOW, int(WINDOW_SHARE * len(errors)))
    if len(errors) <= window + 2:
        return False
    return min(errors[-window:]) > (1 - SETTLED) * min(errors[:-window])
