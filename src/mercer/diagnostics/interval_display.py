"""Pictures of how far error bars can be trusted: the share of targets inside, by level."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf
from scipy.stats import binom

from .._sklearn import check_is_fitted
from .axes import axes_or_new


class IntervalDisplay:
    """Calibration of predictive intervals: how many targets are inside, and how many should be.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`, which draw it too;
    :meth:`plot` draws it again.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        The shares that should be inside.
    observed : array of shape (n_levels,)
        The shares that are.
    n_rows : int
        Targets that were looked at.

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
    >>> from mercer.diagnostics import IntervalDisplay
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(0, 6, (600, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * generator.standard_normal(600)
    >>> model = KernelRidge(Gaussian(1.0)).fit(X[:200], y[:200])
    >>> display = IntervalDisplay.from_estimator(model, X[200:], y[200:])
    >>> bool(abs(display.coverage(0.95) - 0.95) < 0.03)
    True
    """

    ax_: Any
    figure_: Any

    def __init__(self, levels: Any, observed: Any, *, n_rows: int) -> None:
        self.levels: np.ndarray = np.asarray(levels, dtype=float)
        self.observed: np.ndarray = np.asarray(observed, dtype=float)
        self.n_rows = n_rows

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any
    ) -> IntervalDisplay:
        """Draw the calibration of a fitted machine on rows that it has not seen.

        Parameters
        ----------
        model : estimator
            Fitted; its ``predict`` takes ``return_std=True``, as those of mercer's and
            scikit-learn's Gaussian regressions do.
        X : array of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their targets.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : IntervalDisplay
        """
        check_is_fitted(model)
        try:
            mean, std = model.predict(X, return_std=True)
        except TypeError as error:
            raise ValueError(
                f"{type(model).__name__} has no error bars: its predict takes no return_std; use "
                "FeatureRidge, KernelRidge, or give predictions to from_predictions."
            ) from error
        return cls.from_predictions(y, mean, std, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, y: Any, mean: Any, std: Any, *, ax: Any = None, **kwargs: Any
    ) -> IntervalDisplay:
        """Draw the calibration of predictions with standard deviations.

        Parameters
        ----------
        y : array of shape (n_samples,)
            The targets.
        mean, std : arrays of shape (n_samples,)
            Predictions and their standard deviations.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : IntervalDisplay
        """
        y, mean, std = (np.asarray(part, dtype=float).ravel() for part in (y, mean, std))
        if not len(y) == len(mean) == len(std) or not len(y):
            raise ValueError(
                "y, mean and std must have a number for each row, got "
                f"{len(y)}, {len(mean)} and {len(std)}."
            )
        if not (std >= 0).all():
            raise ValueError("std must hold standard deviations, which are not negative.")
        # The level of the narrowest normal interval that holds the target.
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(y == mean, 0.0, np.abs(y - mean) / std)
        inside = np.sort(erf(far / np.sqrt(2.0)))
        levels = np.linspace(0, 1, 101)
        observed = np.searchsorted(inside, levels, side="right") / len(y)
        return cls(levels, observed, n_rows=len(y)).plot(ax=ax, **kwargs)

    def coverage(self, level: float) -> float:
        """Return the share of targets inside intervals of a level.

        Parameters
        ----------
        level : float
            Between 0 and 1, such as 0.95.
        """
        if not 0 <= level <= 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}.")
        return float(np.interp(level, self.levels, self.observed))

    def plot(self, *, ax: Any = None, **kwargs: Any) -> IntervalDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : IntervalDisplay
            This object.
        """
        ax = axes_or_new(ax, self)
        self.ax_, self.figure_ = ax, ax.figure
        low, high = self.expected_band()
        ax.fill_between(self.levels, low, high, color="0.5", alpha=0.25, lw=0, label="by chance")
        ax.plot([0, 1], [0, 1], color="0.5", lw=1, ls="--", label="calibrated")
        label = f"observed, {self.coverage(0.95):.1%} at 95 %"
        ax.plot(self.levels, self.observed, **{"label": label} | kwargs)
        ax.set(xlabel="level of the interval", ylabel="share of targets inside", title="Error bars")
        ax.set(xlim=(0, 1), ylim=(0, 1.01))
        ax.legend(fontsize="small")
        return self

    def expected_band(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where 95 % of the observed shares lie, level by level, if all is calibrated.

        Returns
        -------
        low, high : arrays of shape (n_levels,)
        """
        low, high = (binom.ppf(share, self.n_rows, self.levels) for share in (0.025, 0.975))
        return np.maximum(low, 0.0) / self.n_rows, high / self.n_rows
