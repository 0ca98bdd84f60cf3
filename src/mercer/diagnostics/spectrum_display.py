"""Pictures of a kernel's spectrum, and of the dimension that it has for a ridge parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .._array import to_numpy
from ..features.some_rows import some_rows
from ..kernels import FunctionKernel, Kernel
from .approximation_display import features_inside
from .axes import axes_or_new
from .dimension import feature_eigenvalues

KINDS = ("eigenvalues", "dimension")
#: Eigenvalues below this share of the largest one are rounding.
FLOOR = 1e-15


class SpectrumDisplay:
    """Eigenvalues of a kernel matrix, or its statistical dimension by ridge parameter.

    Make one with :meth:`from_estimator`, which draws it too; :meth:`plot` draws it again, as
    another kind or on other axes.

    Parameters
    ----------
    eigenvalues : array of shape (n_values,)
        Of the kernel matrix over its number of rows.
    name : str, default=""
        What the kernel is called.
    kind : {"eigenvalues", "dimension"}, default="eigenvalues"
        What to draw.
    alpha : float or None, default=None
        A ridge parameter to mark, over the number of rows.

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
    >>> from mercer import Gaussian
    >>> from mercer.diagnostics import SpectrumDisplay
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> display = SpectrumDisplay.from_estimator(Gaussian(1.0), X, alpha=1.0)
    >>> bool(np.isclose(display.eigenvalues.sum(), 1.0))
    True
    >>> display.plot(kind="dimension").ax_.get_ylabel()
    'statistical dimension'
    """

    name: str
    kind: str
    alpha: float | None
    ax_: Any
    figure_: Any

    def __init__(
        self,
        eigenvalues: Any,
        *,
        name: str = "",
        kind: str = "eigenvalues",
        alpha: float | None = None,
    ) -> None:
        self.eigenvalues: np.ndarray = np.sort(
            np.maximum(np.asarray(eigenvalues, dtype=float), 0.0)
        )[::-1]
        self.name, self.kind, self.alpha = name, kind, alpha

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        alpha: float | None = None,
        kind: str = "eigenvalues",
        n_rows: int = 1000,
        random_state: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> SpectrumDisplay:
        """Draw the spectrum of a kernel or of features.

        Parameters
        ----------
        estimator : Kernel, callable, fitted transformer or machine
            A kernel; a function of two blocks of rows; features, of whose inner products it is;
            or a machine that holds either.
        X : array of shape (n_samples, n_features)
            The rows.
        alpha : float or None, default=None
            A ridge parameter to mark, of a machine that learns from all rows of ``X``; of a
            machine ``None`` takes its own.
        kind : {"eigenvalues", "dimension"}, default="eigenvalues"
            Eigenvalues over the number of rows, or :math:`\\operatorname{tr} K (K + \\alpha)^{-1}`
            by :math:`\\alpha` over that number.
        n_rows : int, default=1000
            Of more rows so many are drawn; eigenvalues over the number of rows hardly change but
            for the smallest.
        random_state : int, RandomState, Generator or None, default=0
            Which rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : SpectrumDisplay
        """
        whole = int(X.shape[0])
        rows = some_rows(None, X, n_rows, random_state).chosen
        own = getattr(estimator, "alpha_", None)
        if alpha is None and own is not None and np.ndim(own) == 0:
            alpha = float(own)
        values, name = _eigenvalues(estimator, rows)
        display = cls(
            values / rows.shape[0],
            name=name,
            kind=kind,
            alpha=None if alpha is None else alpha / whole,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, kind: str | None = None, ax: Any = None, **kwargs: Any) -> SpectrumDisplay:
        """Draw.

        Parameters
        ----------
        kind : {"eigenvalues", "dimension"} or None, default=None
            What to draw; ``None`` is the kind of this display.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a figure.
        **kwargs
            Go to ``plot`` of matplotlib.

        Returns
        -------
        display : SpectrumDisplay
            This object.
        """
        kind = self.kind if kind is None else kind
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {kind!r}.")
        ax = axes_or_new(ax, self)
        self.kind, self.ax_, self.figure_ = kind, ax, ax.figure
        if kind == "eigenvalues":
            shown = self.eigenvalues[self.eigenvalues > FLOOR * self.eigenvalues[0]]
            ax.plot(np.arange(1, len(shown) + 1), shown, **{"label": self.name} | kwargs)
            if self.alpha is not None:
                ax.axhline(self.alpha, color="0.4", lw=1, ls="--", label="alpha / rows")
            ax.set(xscale="log", yscale="log", xlabel="number of the eigenvalue")
            ax.set_ylabel("eigenvalue / rows")
        else:
            alphas = ridge_grid(self.eigenvalues)
            sizes = dimensions(self.eigenvalues, alphas)
            ax.plot(alphas, sizes, **{"label": self.name} | kwargs)
            if self.alpha is not None:
                ax.axvline(self.alpha, color="0.4", lw=1, ls="--", label="alpha / rows")
            ax.set(xscale="log", yscale="log", xlabel="alpha / rows")
            ax.set_ylabel("statistical dimension")
        ax.legend(fontsize="small")
        return self


def dimensions(eigenvalues: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Return the statistical dimension for each ridge parameter.

    Parameters
    ----------
    eigenvalues : array of shape (n_values,)
        Of the kernel matrix.
    alphas : array of shape (n_alphas,)
        Positive.

    Examples
    --------
    >>> dimensions(np.array([1.0, 3.0]), np.array([1.0]))
    array([1.25])
    """
    return np.asarray((eigenvalues / (eigenvalues + alphas[:, None])).sum(axis=1))


def ridge_grid(eigenvalues: np.ndarray) -> np.ndarray:
    """Return ridge parameters from the largest eigenvalue down to a billionth of it.

    Examples
    --------
    >>> ridge_grid(np.array([2.0, 1.0]))[[0, -1]]
    array([2.e-09, 2.e+00])
    """
    return np.logspace(-9, 0, 46) * float(eigenvalues[0])


def _eigenvalues(estimator: Any, rows: Any) -> tuple[np.ndarray, str]:
    """Return eigenvalues, and a name of what they are of."""
    kernel = estimator
    if not isinstance(estimator, Kernel) and hasattr(estimator, "get_params"):
        features = getattr(estimator, "features_", None)
        held = getattr(estimator, "kernel_", None)
        if features is not None or hasattr(estimator, "transform") or held is None:
            features = features_inside(estimator)
            return feature_eigenvalues(features, rows), type(features).__name__
        kernel = held
    own = kernel if isinstance(kernel, Kernel) else FunctionKernel(kernel)
    K = to_numpy(own.fitted_to(rows)(rows)).astype(float)
    name = type(own).__name__ if isinstance(kernel, Kernel) else getattr(kernel, "__name__", "")
    return np.asarray(scipy.linalg.eigvalsh(K, overwrite_a=True)), name
