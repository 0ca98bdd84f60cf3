"""How far the features are from their kernel, measured on rows of the data."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._array import is_numpy, namespace, to_numpy
from .._random import Stream, seed_of
from .._sklearn import check_is_fitted, check_rows
from .base import FeatureMap


@dataclass(frozen=True)
class ApproximationError:
    """The measured difference between a feature map and its kernel.

    Attributes
    ----------
    relative : float
        Frobenius norm of the difference of the two matrices over that of the kernel's.
    largest : float
        Largest absolute difference of an entry.
    n_rows : int
        Rows that were compared, each with each.

    Examples
    --------
    >>> from mercer.diagnostics import ApproximationError
    >>> print(ApproximationError(relative=0.012, largest=0.1, n_rows=500))
    relative error 0.012, largest difference 0.1 (500 rows)
    """

    relative: float
    largest: float
    n_rows: int

    def __str__(self) -> str:
        return (
            f"relative error {self.relative:.3g}, largest difference {self.largest:.3g} "
            f"({self.n_rows} rows)"
        )


def approximation_error(
    feature_map: FeatureMap, X: Any, *, n_rows: int = 500, random_state: Any = 0
) -> ApproximationError:
    """Return how far ``Z Z^T`` is from the exact kernel on some rows of ``X``.

    Parameters
    ----------
    feature_map : FeatureMap
        A fitted map.
    X : array of shape (n_samples, n_features)
        The data.
    n_rows : int, default=500
        How many rows to draw for the comparison (all, if there are fewer).
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
    >>> error.n_rows, error.relative < 0.1
    (500, True)
    """
    check_is_fitted(feature_map)
    if isinstance(n_rows, bool) or not isinstance(n_rows, Integral) or n_rows < 1:
        raise ValueError(f"n_rows must be a positive integer, got {n_rows!r}.")
    X = check_rows(X, owner=feature_map)
    if X.shape[0] > n_rows:
        generator = Stream(seed_of(random_state)).child("rows").generator()
        chosen = np.sort(generator.choice(X.shape[0], n_rows, replace=False))
        xp = namespace(X)
        X = X[chosen] if is_numpy(X) else xp.take(X, xp.asarray(chosen, device=X.device), axis=0)
    exact = to_numpy(feature_map.kernel_(X)).astype(float)
    features = to_numpy(feature_map.transform_checked(X)).astype(float)
    return compared(features, exact)


def compared(features: np.ndarray, exact: np.ndarray) -> ApproximationError:
    """Return how far inner products of features are from a kernel matrix.

    Examples
    --------
    >>> print(compared(np.eye(2), np.asarray([[1.0, 0.5], [0.5, 1.0]])))
    relative error 0.447, largest difference 0.5 (2 rows)
    """
    difference = features @ features.T - exact
    size = float(np.linalg.norm(exact))
    return ApproximationError(
        relative=float(np.linalg.norm(difference)) / size if size else 0.0,
        largest=float(abs(difference).max()),
        n_rows=len(exact),
    )
