"""Pictures of what a feature-learning machine has learnt: column weights, their path, a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import require
from .._sklearn import check_is_fitted
from ..datasets.arguments import checked_integer
from .axes import axes_or_new

#: What can be drawn: the title of the picture.
KINDS = {
    "bars": "Largest weights",
    "path": "Weights by iteration",
    "eigenvalues": "Eigenvalues of the metric",
    "matrix": "Metric of the largest columns",
}
#: Colours of the lines of a path: all of matplotlib's but the grey one.
COLOURS = ("C0", "C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9")


class WeightsDisplay:
    """Column weights, or the matrix of a learnt metric, as a picture.

    Make one with :meth:`from_estimator`, which draws it too; :meth:`plot` draws it again, as
    another kind or on other axes.

    Parameters
    ----------
    importances : array of shape (n_features,)
        The column weights as shares of their sum.
    feature_names : sequence of str or None, default=None
        The names of the columns; ``None`` is ``x0``, ``x1`` and so on.
    kind : {"bars", "path", "eigenvalues", "matrix"}, default="bars"
        What to draw.
    path : array of shape (n_iterations + 1, n_features) or None, default=None
        The shares after every iteration.
    best_iteration : int or None, default=None
        The iteration with the smallest error, whose weights the model has.
    metric : array of shape (n_features, n_features) or None, default=None
        The matrix of the learnt metric.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    kind : str
        What was drawn last.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from mercer import IRKMRegressor
    >>> from mercer.diagnostics import WeightsDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> model = IRKMRegressor(random_state=0).fit(X, X[:, 1] * X[:, 3])
    >>> display = WeightsDisplay.from_estimator(model, n_features=2)
    >>> sorted(label.get_text() for label in display.ax_.get_yticklabels())
    ['x1', 'x3']
    >>> display.plot(kind="path").ax_.get_xlabel()
    'iteration'
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        importances: Any,
        *,
        feature_names: Any = None,
        kind: str = "bars",
        path: Any = None,
        best_iteration: int | None = None,
        metric: Any = None,
    ) -> None:
        self.importances: np.ndarray = np.asarray(importances, dtype=float)
        self.feature_names: np.ndarray = _checked_names(feature_names, len(self.importances))
        self.kind: str = kind
        self.path = path
        self.best_iteration = best_iteration
        self.metric = metric

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        kind: str = "bars",
        feature_names: Any = None,
        n_features: int | None = 20,
        ax: Any = None,
        **kwargs: Any,
    ) -> WeightsDisplay:
        """Draw what a fitted machine has learnt.

        Parameters
        ----------
        model : estimator
            A fitted :class:`~mercer.IRKMRegressor`, :class:`~mercer.RFMRegressor` or
            classifier of these kinds. Bars need ``feature_importances_`` only, which forests
            have too.
        kind : {"bars", "path", "eigenvalues", "matrix"}, default="bars"
            The largest column weights; all column weights by iteration; the eigenvalues of the
            metric, or the metric itself, of machines that learn one.
        feature_names : sequence of str or None, default=None
            The names of the columns; ``None`` takes those that the model has seen.
        n_features : int or None, default=20
            How many to draw, the largest; ``None`` is all. In a path they have colours (nine at
            most), and the others are grey.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``barh``, ``plot`` or ``imshow`` of matplotlib.

        Returns
        -------
        display : WeightsDisplay
        """
        check_is_fitted(model)
        if not hasattr(model, "feature_importances_"):
            raise ValueError(
                f"{type(model).__name__} has no feature_importances_ to draw; use IRKMRegressor, "
                "RFMRegressor or one of their classifiers, and of a pipeline its last step."
            )
        history = getattr(model, "history_", None)
        names = getattr(model, "feature_names_in_", None)
        display = cls(
            model.feature_importances_,
            feature_names=names if feature_names is None else feature_names,
            kind=kind,
            path=None if history is None else np.stack([step["importances"] for step in history]),
            best_iteration=getattr(model, "best_iteration_", None),
            metric=getattr(model, "metric_", None),
        )
        return display.plot(n_features=n_features, ax=ax, **kwargs)

    def plot(
        self,
        *,
        kind: str | None = None,
        n_features: int | None = 20,
        ax: Any = None,
        **kwargs: Any,
    ) -> WeightsDisplay:
        """Draw.

        Parameters
        ----------
        kind : str or None, default=None
            As in :meth:`from_estimator`; ``None`` is the kind of this display.
        n_features : int or None, default=20
            How many to draw, the largest; ``None`` is all.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``barh``, ``plot`` or ``imshow`` of matplotlib.

        Returns
        -------
        display : WeightsDisplay
            This object.
        """
        kind = self._checked_kind(self.kind if kind is None else kind)
        d = len(self.importances)
        size = d if n_features is None else min(d, checked_integer("n_features", n_features, 1))
        ax = axes_or_new(ax, self)
        self.kind, self.ax_, self.figure_ = kind, ax, ax.figure
        draw = {
            "bars": self._bars,
            "path": self._path,
            "eigenvalues": self._eigenvalues,
            "matrix": self._matrix,
        }[kind]
        draw(ax, size, kwargs)
        ax.set_title(KINDS[kind])
        return self

    def _checked_kind(self, kind: Any) -> str:
        """Return the kind, or say which machines can be drawn so."""
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"kind must be one of {sorted(KINDS)}, got {kind!r}.")
        if kind == "path" and self.path is None:
            raise ValueError(
                "kind='path' needs the history of the column weights, which this model does not "
                "have; IRKMRegressor, RFMRegressor and their classifiers do. Use kind='bars'."
            )
        if kind in ("eigenvalues", "matrix") and self.metric is None:
            raise ValueError(
                f"kind={kind!r} needs a metric_, which this model does not have; RFMRegressor and "
                "RFMClassifier learn one, IRKM learns column weights: use kind='bars' or "
                "kind='path'."
            )
        return kind

    def _largest(self, size: int) -> np.ndarray:
        """Return the columns of largest weight, the largest first."""
        return np.argsort(-self.importances, kind="stable")[:size]

    def _bars(self, ax: Any, size: int, options: dict[str, Any]) -> None:
        top = self._largest(size)
        ax.barh(np.arange(len(top)), self.importances[top], **options)
        ax.set_yticks(np.arange(len(top)), self.feature_names[top])
        ax.invert_yaxis()
        ax.set_xlabel("share of all weights")

    def _path(self, ax: Any, size: int, options: dict[str, Any]) -> None:
        steps = np.arange(len(self.path))
        top = self._largest(min(size, len(COLOURS)))
        others = np.setdiff1d(np.arange(len(self.importances)), top)
        if len(others):
            lines = ax.plot(steps, self.path[:, others], color="0.75", lw=0.8, zorder=1)
            lines[0].set_label(f"{len(others)} other{'s' if len(others) > 1 else ''}")
        for colour, column in zip(COLOURS, top, strict=False):
            style = {"marker": "o", "markersize": 3, "color": colour}
            style |= {"label": self.feature_names[column]} | options
            ax.plot(steps, self.path[:, column], **style)
        if self.best_iteration is not None:
            ax.axvline(self.best_iteration, color="0.3", lw=1, ls="--", label="kept")
        _whole_numbers(ax)
        ax.set(xlabel="iteration", ylabel="share of all weights", ylim=(0, None))
        ax.legend(fontsize="small", ncols=1 if len(top) < 5 else 2)

    def _eigenvalues(self, ax: Any, size: int, options: dict[str, Any]) -> None:
        values = np.linalg.eigvalsh(self.metric)[::-1]
        # Rounding may leave the last ones at zero or below, where a logarithm has no place.
        values = np.maximum(values, np.finfo(float).eps * values[0])[:size]
        style = {"marker": "o", "markersize": 4} | options
        ax.plot(np.arange(1, len(values) + 1), values, **style)
        ax.set_yscale("log")
        _whole_numbers(ax)
        ax.set(xlabel="number of the direction", ylabel="eigenvalue")

    def _matrix(self, ax: Any, size: int, options: dict[str, Any]) -> None:
        top = self._largest(size)
        part = self.metric[np.ix_(top, top)]
        limit = float(abs(part).max())
        style = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit} | options
        image = ax.imshow(part, **style)
        self.figure_.colorbar(image, ax=ax)
        ax.set_xticks(np.arange(len(top)), self.feature_names[top], rotation=90)
        ax.set_yticks(np.arange(len(top)), self.feature_names[top])


def _whole_numbers(ax: Any) -> None:
    """Let the horizontal axis have ticks at whole numbers only."""
    ticker = require("matplotlib.ticker", "plot", "WeightsDisplay")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def _checked_names(names: Any, size: int) -> np.ndarray:
    """Return a name for each column."""
    if names is None:
        return np.asarray([f"x{number}" for number in range(size)], dtype=object)
    found = np.asarray([str(name) for name in names], dtype=object)
    if len(found) != size:
        raise ValueError(
            f"feature_names must have a name for each of the {size} columns, got {len(found)}."
        )
    return found
