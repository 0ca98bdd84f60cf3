"""How far the features are from their kernel, measured on rows of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import to_numpy
from .._html import facts
from ..kernels import Kernel
from .kernel_of import features_of, kernel_of
from .some_rows import SomeRows, relative_norm, some_rows


@dataclass(frozen=True)
class ApproximationError:
    """The measured difference between a feature map and its kernel.

    Attributes
    ----------
    relative : float
        Frobenius norm of the difference of the two matrices over that of the kernel's: of all
        rows, estimated from those that were compared.
    largest : float
        Largest absolute difference of an entry, among those compared.
    n_rows : int
        Rows that were compared, each with each.
    n_total : int or None
        Rows of the data; ``None``: those compared.
    low, high : float or None
        A 95 % interval for the relative error of all rows; ``None`` where all were compared.

    Examples
    --------
    >>> from mercer.diagnostics import ApproximationError
    >>> print(ApproximationError(relative=0.012, largest=0.1, n_rows=500))
    relative error 0.012, largest difference 0.1 (500 rows)
    >>> print(ApproximationError(0.012, 0.1, 500, n_total=9000, low=0.011, high=0.013))
    relative error 0.012 (0.011 to 0.013), largest difference 0.1 (500 of 9,000 rows)
    """

    relative: float
    largest: float
    n_rows: int
    n_total: int | None = None
    low: float | None = None
    high: float | None = None

    def _repr_html_(self) -> str:
        rows = f"{self.n_rows:,}, each with each"
        relative = f"{self.relative:.3g}"
        if self.low is not None and self.n_total is not None:
            relative += f" (95 % interval {self.low:.3g} to {self.high:.3g})"
            rows = f"{self.n_rows:,} of {self.n_total:,}, each with each"
        pairs = [
            ("relative error", f"{relative}, of the kernel matrix in the Frobenius norm"),
            ("largest difference", f"{self.largest:.3g}, of an entry"),
            ("rows", rows),
        ]
        return facts(type(self).__name__, pairs)

    def __str__(self) -> str:
        largest = f"largest difference {self.largest:.3g}"
        if self.low is None or self.n_total is None:
            return f"relative error {self.relative:.3g}, {largest} ({self.n_rows:,} rows)"
        interval = f"({self.low:.3g} to {self.high:.3g})"
        return (
            f"relative error {self.relative:.3g} {interval}, {largest} "
            f"({self.n_rows:,} of {self.n_total:,} rows)"
        )


def approximation_error(
    feature_map: Any,
    X: Any,
    *,
    kernel: Kernel | Callable[..., Any] | None = None,
    n_rows: int = 500,
    random_state: Any = 0,
) -> ApproximationError:
    """Return how far ``Z Z^T`` is from the exact kernel on the rows of ``X``.

    Parameters
    ----------
    feature_map : fitted transformer
        A feature map, or one of scikit-learn's kernel approximations.
    X : array of shape (n_samples, n_features)
        The data.
    kernel : Kernel or callable, default=None
        The kernel, where the map does not say which it approximates.
    n_rows : int, default=500
        How many rows to draw for the comparison (all, if there are fewer); the error of all rows
        is estimated from them, with an interval.
    random_state : int, RandomState, Generator or None, default=0
        Which rows.

    Returns
    -------
    error : ApproximationError

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((1000, 5))
    >>> features = mercer.RandomFourier(mercer.Gaussian("median"), random_state=0).fit(X)
    >>> error = mercer.approximation_error(features, X)
    >>> error.n_rows, error.low < error.relative < error.high < 0.1
    (500, True)
    """
    found = kernel_of(feature_map, kernel)
    if isinstance(found, Kernel):
        # Images become rows.
        X, found = found.as_rows(X)
    rows = some_rows(feature_map, X, n_rows, random_state, found)
    exact = to_numpy(found(rows.chosen)).astype(float)
    return compared(features_of(feature_map, rows.chosen), exact, rows)


def compared(
    features: np.ndarray, exact: np.ndarray, rows: SomeRows | None = None
) -> ApproximationError:
    """Return how far inner products of features are from a kernel matrix.

    Parameters
    ----------
    features : array of shape (n_rows, n_components)
        The features of rows.
    exact : array of shape (n_rows, n_rows)
        Their kernel matrix.
    rows : SomeRows, default=None
        How the rows were drawn; ``None``: they are all there are.

    Examples
    --------
    >>> print(compared(np.eye(2), np.asarray([[1.0, 0.5], [0.5, 1.0]])))
    relative error 0.447, largest difference 0.5 (2 rows)
    """
    difference = np.asarray(features @ features.T - exact)
    largest = float(abs(difference).max())
    if rows is None or rows.n_total <= len(exact):
        size = float(np.linalg.norm(exact))
        relative = float(np.linalg.norm(difference)) / size if size else 0.0
        return ApproximationError(relative, largest, len(exact))
    relative, low, high = relative_norm(difference**2, exact**2, rows.inclusion)
    return ApproximationError(relative, largest, len(exact), rows.n_total, low, high)
