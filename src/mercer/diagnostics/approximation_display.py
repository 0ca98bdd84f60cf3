"""Pictures of how far features are from their kernel: entry by entry, and by their number."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from .._array import to_numpy
from .._sklearn import check_is_fitted
from ..features.approximation import ApproximationError, approximation_error, compared
from ..features.kernel_of import features_of, kernel_of
from ..features.some_rows import some_rows
from .axes import axes_or_new

#: Pairs of rows that are drawn, at most.
POINTS = 2000


class ApproximationDisplay:
    """Exact kernel and features against each other, or the error by the number of features.

    Make one with :meth:`from_estimator`, which draws it too; :meth:`plot` draws it again.

    Parameters
    ----------
    exact, approximate : arrays of shape (n_pairs,) or None
        Entries of the kernel matrix, and of that of the features.
    sizes : array of shape (n_sizes,) or None, default=None
        Numbers of features; then the error is drawn, and not the entries.
    errors : sequence of ApproximationError
        The measured errors: one for each size, or one.
    name : str, default=""
        What the features are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    See Also
    --------
    approximation_error : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from mercer import Gaussian, RandomFourier
    >>> from mercer.diagnostics import ApproximationDisplay
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> features = RandomFourier(Gaussian(2.0), n_components=64, random_state=0).fit(X)
    >>> ApproximationDisplay.from_estimator(features, X).ax_.get_xlabel()
    'exact kernel'
    >>> display = ApproximationDisplay.from_estimator(features, X, dims=[64, 256, 1024])
    >>> [round(error.relative, 2) for error in display.errors]
    [0.11, 0.05, 0.02]
    """

    exact: Any
    approximate: Any
    sizes: Any
    errors: list[ApproximationError]
    name: str
    ax_: Any
    figure_: Any

    def __init__(
        self,
        exact: Any,
        approximate: Any,
        *,
        sizes: Any = None,
        errors: Sequence[ApproximationError],
        name: str = "",
    ) -> None:
        self.exact, self.approximate = exact, approximate
        self.sizes, self.errors, self.name = sizes, list(errors), name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        kernel: Any = None,
        dims: Sequence[int] | None = None,
        n_rows: int = 500,
        random_state: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> ApproximationDisplay:
        """Draw how far features are from their kernel.

        Parameters
        ----------
        estimator : fitted transformer or machine
            A feature map, one of scikit-learn's kernel approximations, or a machine that learns
            on features, such as :class:`~mercer.FeatureRidge`.
        X : array of shape (n_samples, n_features)
            The data.
        kernel : Kernel or callable, default=None
            The kernel, where the map does not say which it approximates.
        dims : sequence of int, default=None
            Numbers of features: copies of the map with each of them are fitted, and their error
            is drawn. ``None`` draws entries of the matrix.
        n_rows : int, default=500
            Rows that are compared, each with each.
        random_state : int, RandomState, Generator or None, default=0
            Which rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` or ``errorbar`` of matplotlib.

        Returns
        -------
        display : ApproximationDisplay
        """
        features = features_inside(estimator)
        name = type(features).__name__
        if dims is not None:
            sizes = _checked_dims(features, dims)
            maps = [clone(features).set_params(n_components=size).fit(X) for size in sizes]
            options = {"kernel": kernel, "n_rows": n_rows, "random_state": random_state}
            errors = [approximation_error(each, X, **options) for each in maps]
            display = cls(None, None, sizes=np.asarray(sizes), errors=errors, name=name)
            return display.plot(ax=ax, **kwargs)
        found = kernel_of(features, kernel)
        rows = some_rows(features, X, n_rows, random_state, found)
        Z = features_of(features, rows.chosen)
        exact = to_numpy(found(rows.chosen)).astype(float)
        pairs = _some_pairs(len(exact))
        display = cls(exact[pairs], (Z @ Z.T)[pairs], errors=[compared(Z, exact, rows)], name=name)
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> ApproximationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` or ``errorbar`` of matplotlib.

        Returns
        -------
        display : ApproximationDisplay
            This object.
        """
        ax = axes_or_new(ax, self)
        self.ax_, self.figure_ = ax, ax.figure
        (self._entries if self.sizes is None else self._sizes)(ax, kwargs)
        return self

    def _entries(self, ax: Any, options: dict[str, Any]) -> None:
        style = {"marker": "o", "ls": "", "markersize": 3, "alpha": 0.5, "mew": 0} | options
        ax.plot(self.exact, self.approximate, **style)
        ends = [float(min(self.exact.min(), self.approximate.min())), float(self.exact.max())]
        ax.plot(ends, ends, color="0.5", lw=1, ls="--", label="equal")
        ax.set(xlabel="exact kernel", ylabel="inner product of features", title=self._title())
        ax.legend(fontsize="small")

    def _sizes(self, ax: Any, options: dict[str, Any]) -> None:
        values = np.asarray([error.relative for error in self.errors])
        ends = [[e.relative if e.low is None else e.low, e.high or e.relative] for e in self.errors]
        reach = abs(np.asarray(ends) - values[:, None]).T
        ax.errorbar(self.sizes, values, yerr=reach, **{"fmt": "o-", "capsize": 3} | options)
        guide = values[0] * np.sqrt(self.sizes[0] / self.sizes)
        ax.plot(self.sizes, guide, color="0.5", lw=1, ls="--", label="falls as $1/\\sqrt{m}$")
        ax.set(xscale="log", yscale="log", xlabel="number of features m", title=self.name)
        ax.set_ylabel("relative kernel error")
        ax.legend(fontsize="small")

    def _title(self) -> str:
        return f"{self.name}: relative error {self.errors[0].relative:.3g}"


def features_inside(estimator: Any) -> Any:
    """Return the fitted features of a machine, or a transformer as it is.

    Examples
    --------
    >>> from mercer import RandomFourier
    >>> features_inside(RandomFourier(n_components=8).fit(np.eye(3)))
    RandomFourier(n_components=8)
    """
    check_is_fitted(estimator)
    found = estimator if hasattr(estimator, "transform") else getattr(estimator, "features_", None)
    if found is None:
        raise ValueError(
            f"{type(estimator).__name__} has no features; give a fitted feature map, or a machine "
            "that learns on one, such as FeatureRidge(RandomFourier())."
        )
    return found


def _checked_dims(features: Any, dims: Any) -> list[int]:
    if "n_components" not in features.get_params(deep=False):
        raise ValueError(
            f"dims: {type(features).__name__} has no n_components to vary; leave dims out."
        )
    sizes = list(dims)
    wrong = [size for size in sizes if isinstance(size, bool) or not isinstance(size, Integral)]
    if not sizes or wrong or min(sizes) < 1:
        raise ValueError(f"dims must hold positive integers, got {dims!r}.")
    return sorted({int(size) for size in sizes})


def _some_pairs(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places above the diagonal and on it, evenly spread if there are many."""
    first, second = np.triu_indices(n_rows)
    step = max(1, len(first) // POINTS)
    return first[::step], second[::step]
