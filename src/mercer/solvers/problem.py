"""What is asked of a ridge solver, and the record of what it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .._registry import storable

#: The default grid: alpha over the mean eigenvalue of the features.
GRID = np.logspace(-8, 2, 31)
#: Below this many times the rounding error of the features, as a share of the largest
#: eigenvalue, sums of their products know nothing of what an alpha does: about 1e-6 for float32.
KNOWN = 10.0
#: Below this share of the largest eigenvalue the normal equations lose the coefficients.
TRUSTED = 1e-10


class Totals(Protocol):
    """What the choice of alpha must know of all rows."""

    weight: float
    n_positive: int
    rounding: float

    @property
    def n_features(self) -> int:
        """Columns of the features."""
        ...

    @property
    def n_targets(self) -> int:
        """Columns of the targets."""
        ...

    def means(self, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of features and targets; zeros where there is no intercept."""
        ...


@storable
@dataclass(frozen=True)
class Solution:
    """What a solver did.

    Attributes
    ----------
    coef : array of shape (n_features, n_targets)
        The coefficients θ of the features, or β of the kernel functions of the rows.
    intercept : array of shape (n_targets,)
        The constants.
    alpha : array of shape (n_targets,)
        The ridge parameter of every target.
    method : str
        ``"primal"``, ``"dual"`` or ``"qr"``.
    criterion : str
        How alpha was chosen: ``"given"``, ``"gcv"``, ``"cv"`` or ``"loo"``.
    alphas : array of shape (n_alphas,)
        The candidates; with many features those of them that were evaluated.
    scores : array of shape (n_alphas, n_targets)
        The mean squared error that the criterion expects of each; empty if alpha was given.
    degrees_of_freedom : array of shape (n_targets,)
        The effective dimension at alpha: the trace of S (S + alpha)⁻¹.
    condition : float
        Largest over smallest eigenvalue of S + alpha, at the smallest alpha; an upper bound
        where the eigenvalues are not computed.
    residual : array of shape (n_targets,)
        The mean squared error on the training rows.
    expected : array of shape (n_targets,)
        The mean squared error to expect on new rows: the criterion's at alpha, or that of
        generalised cross-validation if alpha was given.
    expected_by : str
        By which criterion it is expected: ``"gcv"``, ``"cv"`` or ``"loo"``.
    noise : array of shape (n_targets,)
        The estimated variance of the noise: RSS over the residual degrees of freedom.
    trusted : bool
        Whether alpha is large enough for the coefficients of this method to be exact.
    seconds : float
        Time of the solve.
    left_out : array of shape (n_rows, n_targets) or None
        In the dual: the leave-one-out residual of every row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> solution = FeatureRidge(alpha=1.0).fit(X, X[:, 0]).solution_
    >>> solution.method, solution.criterion, solution.trusted
    ('primal', 'given', True)
    """

    coef: np.ndarray = field(repr=False)
    intercept: np.ndarray = field(repr=False)
    alpha: np.ndarray
    method: str
    criterion: str
    alphas: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    degrees_of_freedom: np.ndarray
    condition: float
    residual: np.ndarray
    expected: np.ndarray
    expected_by: str
    noise: np.ndarray
    trusted: bool
    seconds: float
    left_out: np.ndarray | None = field(default=None, repr=False)


@storable
@dataclass(frozen=True)
class Problem:
    """What is asked of a solver.

    Attributes
    ----------
    alpha : float, array or None
        The ridge parameter, candidates for it, or ``None`` for a grid of 31.
    intercept : bool
        Fit a constant, which is not penalised.
    per_target : bool
        Choose alpha for every target by itself.
    leave_one_out : bool
        Choose by exact leave-one-out; otherwise by the folds of the statistics or, without
        folds, by generalised cross-validation.
    above_rounding : bool
        Leave out candidates that were given, too, if the rounding of the features hides them.
    count_weights : bool
        Whether a row of weight two counts as two rows where alpha is chosen.
    briefly : bool
        Score only a few candidates, as is done with many features, also with few of them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Problem
    >>> len(Problem().candidates(mean=2.0, floor=0.0))
    31
    """

    alpha: float | np.ndarray | None = None
    intercept: bool = True
    per_target: bool = False
    leave_one_out: bool = False
    above_rounding: bool = False
    count_weights: bool = True
    briefly: bool = False

    def counted(self, weight: float, n_positive: int) -> float:
        """Return how many rows there are for the choice of alpha.

        A row of weight two counts as two; weights below one are those of less certain rows,
        each of which still is a row.
        """
        return max(weight, float(n_positive)) if self.count_weights else float(n_positive)

    def candidates(self, mean: float, floor: float) -> np.ndarray:
        """Return the candidates: those given, or a grid about the mean eigenvalue.

        Those of the grid below ``floor``, which the rounding of the features hides, are left out.
        """
        if self.alpha is not None:
            grid = np.unique(np.asarray(self.alpha, dtype=float))
            if not self.above_rounding or len(grid) == 1:
                return grid
        else:
            grid = GRID * (mean if mean > 0 else 1.0)
        known = grid[grid >= floor]
        return known if known.size else grid[-1:]


def choose(scores: np.ndarray, alphas: np.ndarray, per_target: bool) -> np.ndarray:
    """Return the alpha of every target: its own best, or the best of all.

    Examples
    --------
    >>> choose(np.asarray([[2.0], [1.0]]), np.asarray([0.1, 1.0]), per_target=False)
    array([1.])
    """
    if not np.isfinite(scores).any():
        # Too few rows to tell: the most cautious one.
        return np.full(scores.shape[1], alphas.max())
    # Of candidates that are equally good the largest, the most cautious one.
    order = np.argsort(-alphas, kind="stable")
    scores, alphas = scores[order], alphas[order]
    if per_target:
        return alphas[scores.argmin(axis=0)]
    return np.full(scores.shape[1], alphas[over_targets(scores).argmin()])


def over_targets(scores: np.ndarray) -> np.ndarray:
    """Return one score for all targets: those of different scale count alike.

    Examples
    --------
    >>> over_targets(np.asarray([[2.0, 10.0], [1.0, 20.0]]))
    array([3., 3.])
    """
    scale = scores.min(axis=0)
    usable = np.isfinite(scale) & (scale > 0)
    return np.asarray((scores / np.where(usable, scale, 1.0)).sum(axis=1))


def generalised_error(residual: np.ndarray, left: float, counted: float) -> np.ndarray:
    """Return the generalised cross-validation score of residual mean squares.

    Parameters
    ----------
    residual : array of shape (n_targets,)
        Mean squared errors on the training rows.
    left : float
        Residual degrees of freedom.
    counted : float
        Rows that count.
    """
    if left <= 0:
        return np.full_like(residual, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        found = residual * np.square(np.float64(counted) / left)
    # What is beyond all numbers is not known to be good.
    return np.where(np.isnan(found), np.inf, found)
