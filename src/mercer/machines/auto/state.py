"""What the front door has chosen and learnt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._registry import storable
from ..._words import shortened
from ...kernels import Kernel, Polynomial
from ...solvers.cost import FOLDS
from ..report import AS_ASKED, CRITERIA, FitReport
from .plan import Method
from .preparation import LinearModel


@storable
@dataclass
class AutoState:
    """The state of :class:`KernelRegressor` and :class:`KernelClassifier`.

    Attributes
    ----------
    seed : int
        The seed of everything that was drawn.
    target_name : str or None
        The name of the target, where the data had one.
    encoder : fitted transformer
        What turns rows into numbers.
    kernel, kernel_reason : Kernel, str
        The kernel, and why it is that one.
    method : Method
        Exact, landmarks, features or linear.
    machine : estimator
        The machine on encoded rows.
    options : dict
        Further arguments of its fit, such as all classes.
    linear_score : float or None
        What a linear model would score.
    rival : LinearModel or None
        That model, as long as it may still be chosen.
    outlook : str
        What a larger budget would buy.
    approximation_error : float or None
        How far the features are from the kernel.
    repeated_rows : float
        The share of rows that occur more than once in a sample.
    report : FitReport or None
        What was done; ``None`` while rows are being learnt.
    """

    seed: int
    target_name: str | None
    encoder: Any
    kernel: Kernel
    kernel_reason: str
    method: Method
    machine: Any
    options: dict[str, Any]
    linear_score: float | None
    approximation_error: float | None
    repeated_rows: float
    rival: LinearModel | None = None
    outlook: str = ""
    report: FitReport | None = None

    def better_of_both(self) -> AutoState:
        """Return the state of the linear model if it expects no lower score than the kernel."""
        rival = self.rival
        if rival is None or self.machine.expectation().score > rival.score:
            return replace(self, rival=None)
        return self.as_linear(rival)

    def as_linear(self, rival: LinearModel) -> AutoState:
        """Return the state of a fitted linear model."""
        return replace(
            self,
            encoder=rival.encoder,
            kernel=Polynomial(degree=1),
            method=Method("linear", None, "no kernel does better on held-out rows", 0),
            machine=rival.machine,
            approximation_error=None,
            rival=None,
        )

    def reported(self, task: str, n_columns: int, alpha: Any, seconds: float) -> AutoState:
        """Return the state of a fitted machine with its report.

        Parameters
        ----------
        task : str
            ``"regression"`` or ``"classification"``.
        n_columns : int
            Columns of the table.
        alpha : float, array or None
            The ridge parameter that was asked for.
        seconds : float
            Time of the fit.
        """
        found, solution = self.machine.expectation(), self.machine.solution_
        folds = f"{FOLDS}-fold " if solution.criterion == "cv" else ""
        name = CRITERIA.get(solution.criterion, "")
        how = f"{folds}{name} over {len(solution.alphas)} candidates"
        if solution.criterion == "given":
            how = AS_ASKED if alpha is not None else "the only candidate above rounding errors"
        encoder = self.encoder
        described = encoder.describe() if hasattr(encoder, "describe") else type(encoder).__name__
        report = FitReport(
            task=task,
            n_rows=found.n_rows,
            n_columns=n_columns,
            encoding=described,
            kernel=shortened(repr(self.kernel)),
            kernel_reason=self.kernel_reason,
            method=self.method.name,
            method_reason=self.method.reason,
            n_components=self.method.n_components,
            alpha=float(np.mean(self.machine.alpha_)),
            alpha_reason=how,
            score_name=found.score_name,
            score=found.score,
            score_reason=found.reason,
            linear_score=self.linear_score,
            approximation_error=self.approximation_error,
            repeated_rows=self.repeated_rows,
            seconds=seconds,
            memory=self.method.memory,
            solver=str(getattr(self.machine, "solver_report_", "")),
            outlook=self.outlook,
        )
        return replace(self, report=report)
