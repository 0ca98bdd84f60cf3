"""The frame of machines with an exact kernel: checks rows, and chooses how to solve."""

from __future__ import annotations

import time
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .._array import take_rows
from .._random import seed_of
from .._sklearn import RANDOM_STATE, Interval, StrOptions, check_rows, checked
from ..engine.config import matrix_memory
from ..engine.streams import as_weights, is_stream, refuse_beside_stream, stream_names
from ..engine.threads import allowed_threads
from ..kernels import Gaussian, Kernel
from ..solvers import Problem
from ..solvers.cost import exact_memory
from ..solvers.row_systems import IterativeOptions
from .estimator import ALPHA, Values, adopt, checked_alpha
from .kernel_state import UNSOLVED, KernelState, dense_rows, gathered_rows
from .solved import SolvedMachine
from .targets import Targets

#: Rows up to which the kernel matrix is decomposed by default.
DIRECT_ROWS = 8000
#: The same where conjugate gradients cannot solve the system.
MOST_DIRECT_ROWS = 16_000
#: Rows that the iterative solver needs.
FEWEST_ROWS = 10
CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [Kernel, None],
    "alpha": ALPHA,
    "selection": [StrOptions({"gcv", "loo"})],
    "per_target": ["boolean"],
    "fit_intercept": ["boolean"],
    "solver": [StrOptions({"auto", "direct", "iterative"})],
    "n_centres": [Interval(Integral, 2, None, closed="left"), None],
    "tol": [Interval(Real, 0, 1, closed="neither"), None],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "random_state": RANDOM_STATE,
}


class ExactKernelMachine(SolvedMachine):
    """What :class:`KernelRidge` and :class:`KernelRidgeClassifier` share."""

    _state: KernelState | None = None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: Any = None,
        selection: str = "loo",
        per_target: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centres: int | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.selection = selection
        self.per_target = per_target
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_centres = n_centres
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return targets of which nothing is known yet."""

    @abstractmethod
    def _loss(self, targets: Any, centres: bool) -> str:
        """Return the loss that is asked for, where its solver and the classes allow it."""

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its fitted lengthscale."""
        return self._fitted().kernel

    @property
    def solver_report_(self) -> str:
        """How far an iterative solver came, and which loss did better; else empty."""
        return str(self._fitted().how)

    @property
    def rows_(self) -> np.ndarray:
        """The training rows with positive weight, in float64."""
        return self._fitted().rows

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from scratch; only a fit that succeeds replaces what was learnt before."""
        fresh = clone(self)
        names = stream_names(X)
        kernel = checked(Gaussian("median") if self.kernel is None else self.kernel)
        if is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            X, y, sample_weight = gathered_rows(X, fresh._new_targets(), fresh)
        else:
            X, kernel = kernel.as_rows(X)
            X = check_rows(X, owner=fresh, reset=True)
        if names is not None:
            fresh.feature_names_in_ = names
        fresh._learn(X, y, sample_weight, kernel)
        return adopt(self, fresh)

    @allowed_threads()
    def _learn(self, X: Any, y: Any, sample_weight: Any, kernel: Kernel) -> None:
        """Learn from checked rows."""
        alpha = checked_alpha(self.alpha)
        targets = self._new_targets()
        found = targets.check(y, X.shape[0])
        targets.observe(found)
        encoded = targets.encode(found)
        counts = as_weights(sample_weight, X.shape[0])
        weights = targets.weights(encoded, counts, whole=True)
        # Rows on a device stay there, and their kernel matrix with them; what has their length, as
        # targets and coefficients do, is NumPy's.
        rows, kernel = dense_rows(X), kernel.fitted_to(X)
        Y = targets.expand(encoded)
        if weights is not None:
            if not weights.any():
                raise ValueError(
                    "sample_weight is zero for every row; at least one weight must be positive."
                )
            known = np.flatnonzero(weights > 0)
            rows, Y, weights = take_rows(rows, known), Y[known], weights[known]
            counts = None if counts is None else counts[known]
        state = KernelState(targets, kernel, rows, weights, counts)
        problem = Problem(alpha, self.fit_intercept, self.per_target, self.selection == "loo")
        n_rows = int(rows.shape[0])
        loss = self._loss(targets, self.n_centres is not None and self.n_centres < n_rows)
        if self._iterates(n_rows):
            limit = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
            options = IterativeOptions(self.n_centres, self.tol, seed_of(self.random_state), limit)
            state.learn_iteratively(Y, problem, options, loss)
            # In float64 and by a decomposition, small ridge parameters can still be solved.
            able = self.solver == "auto" and self.n_centres is None and self.time_limit is None
            if able and state.residual >= UNSOLVED and _is_decomposable(rows):
                state.learn_after_all(Y, problem, loss)
            else:
                state.warn_of_residual(self.tol)
        else:
            state.learn(Y, problem, loss)
        state.settle()
        state.n_rows = int(X.shape[0])
        self._state = state

    def _iterates(self, n_rows: int) -> bool:
        """Return whether conjugate gradients solve, or say why they cannot."""
        asked = self.solver == "iterative" or self.n_centres is not None
        if self.solver == "direct" and self.n_centres is not None:
            raise ValueError("n_centres needs the iterative solver; use solver='auto'.")
        if asked and self.per_target:
            raise ValueError(
                "The iterative solver chooses one alpha for all targets; use per_target=False, or "
                "solver='direct' without n_centres."
            )
        enough = n_rows >= FEWEST_ROWS
        if asked and not enough:
            raise ValueError(
                f"The iterative solver holds rows out and needs {FEWEST_ROWS} at least, but "
                f"n_samples={n_rows} have weight; use solver='direct'."
            )
        many = self.solver == "auto" and n_rows > DIRECT_ROWS
        return asked or (many and not self.per_target)

    def raw_predict(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions of shape (n_rows, n_targets), and their variances."""
        state = self._fitted()
        return state.values(check_rows(state.kernel.as_rows(X)[0], owner=self), with_variance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_decomposable(rows: Any) -> bool:
    """Return whether rows that were too many by choice are few enough by need."""
    n_rows = rows.shape[0]
    return bool(n_rows <= MOST_DIRECT_ROWS and exact_memory(n_rows) <= matrix_memory(rows))
