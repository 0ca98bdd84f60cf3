"""What a feature-learning machine has learnt, and the attributes that users see of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import as_floating
from ..._registry import storable
from ...kernels import Kernel
from ..estimator import Machine
from ..targets import Targets
from .data import Scales
from .functions import Function
from .report import LearnerReport
from .weights import Weights


@storable
@dataclass
class LearnerState:
    """The state of :class:`IRKMRegressor` and its like.

    Attributes
    ----------
    seed : int
        The seed of everything that was drawn.
    targets : Targets
        Numbers or labels.
    scales : Scales
        How columns and targets are standardised.
    standardized : bool
        Whether columns are.
    weights : Weights
        The weights of the columns, or the matrix, of the best iteration.
    function : Function
        The fitted function of reweighted rows.
    kernel : Kernel
        The kernel of reweighted rows.
    solver, solver_reason : str
        How it was solved, and why so.
    alpha, error : float
        The ridge parameter, and the error by which the iteration was chosen.
    best_iteration : int
        The iteration that was kept.
    history : list of dict
        Error, alpha and importances of every iteration.
    validation_fraction : float or None
        The share of the rows that was held out.
    probability_scale : float
        The scale of the softmax of decisions.
    report : LearnerReport
        All of it in words.
    """

    seed: int
    targets: Targets
    scales: Scales
    standardized: bool
    weights: Weights
    function: Function
    kernel: Kernel
    solver: str
    solver_reason: str
    alpha: float
    error: float
    best_iteration: int
    history: list[dict[str, Any]]
    validation_fraction: float | None
    probability_scale: float
    report: LearnerReport


class LearntAttributes(Machine):
    """The fitted attributes of feature-learning machines."""

    _state: LearnerState | None = None

    @property
    def targets_(self) -> Any:
        """What is known of the targets."""
        return self._fitted().targets

    @property
    def probability_scale_(self) -> float:
        """The scale of the softmax, calibrated on held-out rows."""
        return float(self._fitted().probability_scale)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The shares of the columns."""
        return np.asarray(self._fitted().weights.importances())

    @property
    def history_(self) -> list[dict[str, Any]]:
        """Error, ridge parameter and importances of every iteration."""
        return self._fitted().history

    @property
    def n_iter_(self) -> int:
        """How often the weights were updated."""
        return len(self._fitted().history) - 1

    @property
    def best_iteration_(self) -> int:
        """The iteration of the smallest error, whose machine is kept."""
        return int(self._fitted().best_iteration)

    @property
    def left_out_error_(self) -> float:
        """The squared error of held-out rows, over the variance of the targets."""
        return float(self._fitted().error)

    @property
    def validation_fraction_(self) -> float | None:
        """The share of the rows that was held out."""
        return self._fitted().validation_fraction

    @property
    def alpha_(self) -> float:
        """The ridge parameter."""
        return float(self._fitted().alpha)

    @property
    def kernel_(self) -> Kernel:
        """The kernel of reweighted rows."""
        return self._fitted().kernel

    @property
    def solver_(self) -> str:
        """How it was solved."""
        return str(self._fitted().solver)

    @property
    def solver_reason_(self) -> str:
        """Why it was solved so."""
        return str(self._fitted().solver_reason)

    @property
    def report_(self) -> LearnerReport:
        """What was chosen and why, what was learnt, and how good it is, in words."""
        return self._fitted().report

    def reweighted(self, block: Any) -> Any:
        """Return a block of checked rows as the kernel sees it: standardised and reweighted.

        Parameters
        ----------
        block : array of shape (n_rows, n_features)
            Of any library, or CSR.

        Returns
        -------
        rows : array of shape (n_rows, n_features)
        """
        state = self._fitted()
        return state.weights.reweighted(state.scales.rows(block))

    def block_values(self, block: Any) -> Any:
        """Return the predictions for a block of checked rows, before they are decoded.

        Parameters
        ----------
        block : array of shape (n_rows, n_features)
            Of any library, or CSR.

        Returns
        -------
        values : array of shape (n_rows, n_targets)
        """
        state = self._fitted()
        rows = as_floating(self.reweighted(block), "float64")
        return state.scales.original(state.function(rows))

    def _chosen(self) -> list[tuple[str, str]]:
        return [] if self._state is None else self._state.report.lines()
