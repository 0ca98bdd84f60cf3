"""Pictures of how alpha was chosen: the score of every candidate of a fitted ridge machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._sklearn import check_is_fitted
from .axes import axes_or_new

#: What the criteria are called.
CRITERIA = {
    "gcv": "generalised cross-validation",
    "loo": "leave-one-out",
    "cv": "cross-validation",
}


class PathDisplay:
    """The expected error by ridge parameter, with the one that was chosen.

    Make one with :meth:`from_estimator`, which draws it too; :meth:`plot` draws it again.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        The candidates.
    scores : array of shape (n_alphas, n_targets)
        The mean squared error that is expected of each.
    chosen : array of shape (n_targets,)
        The ridge parameter of each target.
    criterion : {"gcv", "loo", "cv"}, default="gcv"
        By what it is expected.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidge
    >>> from mercer.diagnostics import PathDisplay
    >>> X = np.random.default_rng(0).uniform(0, 6, (100, 1))
    >>> model = KernelRidge(Gaussian(1.0)).fit(X, np.sin(X[:, 0]))
    >>> display = PathDisplay.from_estimator(model)
    >>> display.scores.shape, display.ax_.get_xlabel()
    ((31, 1), 'ridge parameter')
    """

    ax_: Any
    figure_: Any

    def __init__(self, alphas: Any, scores: Any, *, chosen: Any, criterion: str = "gcv") -> None:
        order = np.argsort(np.asarray(alphas, dtype=float), kind="stable")
        self.alphas: np.ndarray = np.asarray(alphas, dtype=float)[order]
        self.scores: np.ndarray = np.asarray(scores, dtype=float).reshape(len(order), -1)[order]
        self.chosen: np.ndarray = np.atleast_1d(np.asarray(chosen, dtype=float))
        self.criterion = criterion

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draw the candidates of a fitted machine.

        Parameters
        ----------
        model : estimator
            A fitted :class:`~mercer.FeatureRidge`, :class:`~mercer.KernelRidge`, a classifier of
            these kinds, or a front door that holds one.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : PathDisplay
        """
        check_is_fitted(model)
        machine = getattr(model, "machine_", model)
        solution = getattr(machine, "solution_", None)
        if solution is None:
            raise ValueError(
                f"{type(machine).__name__} has no candidates for a ridge parameter; use "
                "FeatureRidge, KernelRidge or one of their classifiers."
            )
        if not len(solution.scores):
            raise ValueError(
                "alpha was given, so there are no candidates to draw; fit with alpha=None or with "
                "several values."
            )
        display = cls(
            solution.alphas, solution.scores, chosen=solution.alpha, criterion=solution.criterion
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : PathDisplay
            This object.
        """
        ax = axes_or_new(ax, self)
        self.ax_, self.figure_ = ax, ax.figure
        style = {"marker": "o", "markersize": 3} | kwargs
        for number, column in enumerate(self.scores.T):
            several = self.scores.shape[1] > 1
            label = {"label": f"target {number}"} if several and number < 10 else {}
            known = np.isfinite(column)
            ax.plot(self.alphas[known], column[known], **style | label)
        for number, alpha in enumerate(np.unique(self.chosen)):
            own = {"label": f"chosen: {alpha:.3g}"} if number == 0 else {}
            ax.axvline(alpha, color="0.4", lw=1, ls="--", **own)
        ax.set(xscale="log", yscale="log", xlabel="ridge parameter")
        ax.set(ylabel="expected squared error", title=CRITERIA.get(self.criterion, self.criterion))
        ax.legend(fontsize="small")
        return self
