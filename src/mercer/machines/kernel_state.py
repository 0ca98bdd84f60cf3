"""What an exact kernel machine has learnt: its rows, their coefficients, and error bars."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from .._array import (
    as_floating,
    beside,
    device_of,
    is_foreign,
    is_numpy,
    joined_rows,
    like,
    moved,
    namespace,
    take_rows,
    to_numpy,
)
from .._devices import placed
from .._registry import storable
from .._settings import settings
from .._sklearn import check_rows
from .._words import one_line
from ..engine.blocks import cut
from ..engine.progress import Progress
from ..engine.streams import as_weights, from_stream, learning_rows, rows_between
from ..engine.threads import allowed_threads
from ..kernels import Kernel
from ..solvers import DualPosterior, Problem, Solution, solve_kernel
from ..solvers.iterative import MOST_ITERATIONS, solve_kernel_rows
from ..solvers.low_rank_posterior import LowRankPosterior
from ..solvers.row_systems import IterativeOptions
from .calibration import HeldOut
from .described import Described, described
from .estimator import Values
from .logistic import LogisticSolution, logistic_directly, logistic_iteratively
from .report import CRITERIA, Expectation
from .targets import LabelTargets, Targets
from .units import in_units, unit_of

#: Rows that are predicted at once, where memory allows: on a CPU, and on an accelerator.
FEW_ROWS, MANY_ROWS = 256, 8192
#: A relative residual that is hardly a solution, and how far from a tolerance one may end.
UNSOLVED, FAR = 0.5, 10.0


@storable
class KernelState:
    """The state of :class:`KernelRidge` and :class:`KernelRidgeClassifier`.

    Parameters
    ----------
    targets : Targets
        Numbers or labels.
    kernel : Kernel
        The kernel with its fitted lengthscale.
    rows : array of shape (n_rows, n_features)
        The training rows with positive weight, in float64: all that is as large as their kernel
        matrix is made where they are. Once they are learnt they are kept as a NumPy array, as all
        else of the state.
    weights, counts : arrays of shape (n_rows,) or None
        Weights of the rows, class weights included, and sample weights alone.
    """

    targets: Targets
    kernel: Kernel
    rows: Any

    def __init__(
        self,
        targets: Targets,
        kernel: Kernel,
        rows: Any,
        weights: np.ndarray | None,
        counts: np.ndarray | None,
    ) -> None:
        self.targets, self.kernel, self.rows = targets, kernel, rows
        self.weights, self.counts = weights, counts
        self.intercept: bool = True
        self.n_rows: int = int(rows.shape[0])
        #: What an iterative solver did, in words.
        self.how: str = ""
        self.solution: Solution
        self._Y: np.ndarray | None = None
        self._scale: float | None = None
        self._posteriors: dict[tuple[float, Any], DualPosterior] = {}
        self._low_rank: LowRankPosterior | None = None
        #: The relative residual that an iterative solver has left.
        self.residual: float = 0.0
        self._held: HeldOut | None = None
        #: The loss whose function was taken, and the curvatures of a logistic one.
        self.loss: str = "squared"
        self._curvature: np.ndarray | None = None

    def learn(self, Y: np.ndarray, problem: Problem, loss: str = "squared") -> None:
        """Solve for expanded targets; ``"auto"`` keeps the loss that is better on held-out rows."""
        self._Y, self.intercept = Y, problem.intercept
        with allowed_threads(4 / 3 * self.n_rows**3):
            K = self.kernel(self.rows)
            self.solution = solve_kernel(K, Y, problem, self.weights)
            if loss != "squared":
                given = loss == "logistic" and problem.alpha is not None
                found = logistic_directly(K, self.solution, self.held_out(), problem, given)
                self._compare(found, loss)
                if found is not None and found.stopped == "interrupted":
                    self._warn_of_interruption()

    def learn_after_all(self, Y: np.ndarray, problem: Problem, loss: str = "squared") -> None:
        """Solve by a decomposition what conjugate gradients have not solved."""
        ended = f"conjugate gradients ended at a residual of {self.residual:.1g}"
        self._low_rank, self._held, self._curvature, self._scale = None, None, None, None
        self.loss, self.residual = "squared", 0.0
        self.how = f"decomposition of the kernel matrix, as {ended}"
        self.learn(Y, problem, loss)

    def learn_iteratively(
        self,
        Y: np.ndarray,
        problem: Problem,
        options: IterativeOptions,
        loss: str = "squared",
    ) -> None:
        """Solve by conjugate gradients; rows that are no centres are forgotten."""
        with Progress("conjugate gradients", MOST_ITERATIONS) as progress:

            def note(n_iterations: int, residual: float) -> None:
                progress.detail = f", residual {residual:.0e}"
                progress.advance(1)
                progress.show()

            options = replace(options, note=note, keep_system=loss != "squared")
            unit = unit_of(Y)
            with allowed_threads(self.n_rows**3):
                fit = solve_kernel_rows(
                    self.kernel,
                    self.rows,
                    beside(self.rows, Y / unit),
                    problem,
                    self.weights,
                    options,
                )
            self.intercept, at = problem.intercept, fit.places
            self.solution, self._low_rank, self.how = fit.solution, fit.posterior, fit.described()
            # Where nothing is to be learnt, as of constant targets, a share of nothing is left.
            self.residual = 0.0 if fit.stopped == "residual" else fit.residual
            if unit != 1:
                self.solution = in_units(self.solution, unit)
            ones = np.ones(len(at))
            self._held = HeldOut(
                fit.held_out * unit,
                Y[at],
                ones if self.weights is None else self.weights[at],
                ones if self.counts is None else self.counts[at],
            )
            stopped = fit.stopped
            if loss != "squared":
                given = loss == "logistic" and problem.alpha is not None
                try:
                    found = logistic_iteratively(
                        fit, Y[:, 0], self.weights, self._held, options, given
                    )
                    self._compare(found, loss)
                    stopped = stopped if found is None else found.stopped
                except KeyboardInterrupt:
                    stopped = "interrupted"
        if fit.centres is not None:
            self.rows = take_rows(self.rows, fit.centres)
            self.weights, self.counts = None, None
        if stopped == "interrupted":
            self._warn_of_interruption()

    def _warn_of_interruption(self) -> None:
        warnings.warn(
            f"Interrupted; the best iterate is kept: {self.how}.", UserWarning, stacklevel=3
        )

    def _compare(self, found: LogisticSolution | None, loss: str) -> None:
        """Take a logistic function if it was asked for, or is the better one on held-out rows."""
        if found is None:
            return
        squared = self.held_out().log_loss()
        taken = loss == "logistic" or found.beats(squared)
        sentence = found.described(squared, taken)
        self.how = f"{self.how}; {sentence}" if self.how else sentence
        if taken:
            self.loss, self._scale = "logistic", None
            self.solution, self._curvature = found.solution, found.curvature
            if found.posterior is not None:
                self._held, self._low_rank = found.held_out, found.posterior

    def warn_of_residual(self, tolerance: float | None) -> None:
        """Warn if conjugate gradients have ended far from the solution, or from the tolerance."""
        asked = np.inf if tolerance is None else FAR * tolerance
        if self.residual < UNSOLVED and self.residual <= asked:
            return
        alpha = float(np.mean(self.solution.alpha))
        warnings.warn(
            f"The iterative solver has not reached the solution ({self.how}): predictions may be "
            f"far from those of alpha={alpha:.3g}. Give a larger alpha, more time where that has "
            "ended it, or solver='direct' where the kernel matrix fits in memory.",
            UserWarning,
            stacklevel=2,
        )

    def solve(self) -> Solution:
        """Return the solution."""
        return self.solution

    def settle(self) -> None:
        """Keep the rows as a NumPy array: predictions move them to where they are wanted, once."""
        self.rows = to_numpy(self.rows)

    def values(self, X: Any, with_variance: bool) -> Values:
        """Return predictions for checked rows, and their variances, in the library of the rows.

        Rows of the host are predicted on the device of the settings, if one is named.
        """
        worthwhile = FEW_ROWS if is_numpy(X) and settings().device is None else MANY_ROWS
        parts = []
        for span in cut(X.shape[0], learning_rows(len(self.rows) + 1, 8, worthwhile)):
            rows = dense_rows(rows_between(X, *span))
            known, n_targets = self.solution.coef.shape
            # The largest product is that with a factor of the matrix, or with the coefficients.
            each = known * (known if with_variance else 2 * n_targets)
            with allowed_threads(rows.shape[0] * each, total=X.shape[0] * each):
                found = self._block_values(rows, with_variance)
            parts.append([moved(one, None if is_numpy(X) else X) for one in found])
        values = joined_rows([part[0] for part in parts])
        return values, joined_rows([part[1] for part in parts]) if with_variance else None

    def _block_values(self, rows: Any, with_variance: bool) -> list[Any]:
        """Return predictions for a block, and their variances if they are wanted."""
        solution = self.solution
        K = self.kernel(rows, like(rows, self.rows))
        values = K @ like(K, solution.coef) + beside(K, solution.intercept)
        if not with_variance:
            return [values]
        own, columns = self.kernel.diag(rows), []
        forms = {
            float(alpha): 1 + self._posterior(float(alpha), K).quadratic(K, own)
            for alpha in np.unique(solution.alpha)
        }
        for alpha, noise in zip(solution.alpha.tolist(), solution.noise.tolist(), strict=True):
            columns.append(forms[alpha] * noise)
        return [values, namespace(K).stack(columns, axis=1)]

    def _posterior(self, alpha: float, near: Any) -> DualPosterior | LowRankPosterior:
        """Return the posterior for one alpha, made once for each device it is needed on."""
        if self._low_rank is not None:
            return self._low_rank
        key = alpha, device_of(near)
        if key not in self._posteriors:
            K = self.kernel(like(near, self.rows))
            weights = self.weights if self._curvature is None else self._curvature
            self._posteriors[key] = DualPosterior(K, weights, alpha, self.intercept)
        return self._posteriors[key]

    def held_out(self) -> HeldOut:
        """Return exact leave-one-out predictions of all rows, or those for held-out rows."""
        if self._held is not None:
            return self._held
        if self._Y is None or self.solution.left_out is None:
            raise ValueError(
                "This compact model does not hold leave-one-out predictions; save it with "
                "compact=False."
            )
        ones = np.ones(len(self._Y))
        weights = ones if self.weights is None else self.weights
        counts = ones if self.counts is None else self.counts
        return HeldOut(self._Y - self.solution.left_out, self._Y, weights, counts)

    def scale(self) -> float:
        """Return the scale of the softmax of decisions, fitted once."""
        if self._scale is None:
            self._scale = self.held_out().scale()
        return self._scale

    def expected_error(self) -> float:
        """Return the mean squared error to expect of new rows, over the targets' variance."""
        held_out = self.held_out()
        Y = held_out.targets
        mean = np.average(Y, axis=0, weights=held_out.weights)
        variance = np.average((Y - mean) ** 2, axis=0, weights=held_out.weights)
        known = variance > 0
        shares = self.solution.expected[known] / variance[known]
        return float(np.mean(shares)) if known.any() else 0.0

    def expectation(self) -> Expectation:
        """Return what to expect on new rows, and by what criterion."""
        error = self.expected_error()
        score, reason = 1 - error, CRITERIA[self.solution.expected_by]
        if isinstance(self.targets, LabelTargets):
            score = self.held_out().accuracy()
            reason = f"leave-one-out of {len(self.rows):,} rows"
        if self._held is not None:
            reason = f"{len(self._held.targets):,} held-out rows"
        return Expectation(self.targets.score_name, score, error, reason, self.n_rows)

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, no targets of the training rows."""
        state = {**self.__dict__, "_posteriors": {}}
        if compact:
            if isinstance(self.targets, LabelTargets):
                state["_scale"] = self.scale()
            state["solution"] = replace(self.solution, left_out=None)
            state.update(_Y=None, counts=None, _held=None)
        return state


@described.register
def _described(state: KernelState) -> Described:
    """Return the rows, the kernel, and what an iterative solver did."""
    kernel = f"{one_line(state.kernel)}, with {len(state.rows):,} centres"
    lines = [("data", f"{state.n_rows:,} rows"), ("kernel", kernel)]
    left_out = state._Y is not None and state.solution.left_out is not None
    lines += [("solver", state.how)] if state.how else []
    return Described(lines, knows_score=state._held is not None or left_out)


def dense_rows(X: Any) -> Any:
    """Return checked rows in float64 where they are to be learnt, sparse ones dense.

    Examples
    --------
    >>> dense_rows(np.eye(1, dtype=np.float32))
    array([[1.]])
    """
    return as_floating(X, "float64") if is_foreign(X) else placed(to_numpy(X).astype(float))


def gathered_rows(
    stream: Any, targets: Targets, owner: Any
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return the rows, targets and weights of all blocks of a stream, which an exact kernel needs.

    Rows stay where they are; targets and weights are NumPy arrays.

    Parameters
    ----------
    stream : iterable of (X, y) or (X, y, sample_weight)
        The blocks.
    targets : Targets
        Check what is predicted.
    owner : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` to set.
    """
    rows, checked, weights, weighted = [], [], [], False
    for number, block in enumerate(from_stream(stream)):
        X = dense_rows(check_rows(block.X, owner=owner, reset=number == 0))
        given = as_weights(block.weights, X.shape[0])
        weighted = weighted or given is not None
        rows.append(X)
        checked.append(targets.check(block.y, X.shape[0]))
        weights.append(np.ones(X.shape[0]) if given is None else given)
    return (
        joined_rows(rows),
        np.concatenate(checked),
        np.concatenate(weights) if weighted else None,
    )
