"""How far the features are from their kernel, measured on rows of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._array import is_sparse, namespace, to_numpy
from .._random import Stream
from .._sklearn import check_is_fitted, check_rows


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
    """

    relative: float
    largest: float
    n_rows: int

    def __str__(self) -> str:
        return (
            f"relative error {self.relative:.3g}, largest difference {self.largest:.3g} "
            f"({self.n_rows} rows)"
        )


def approximation_error(feature_map, X, *, n_rows=500, random_state=0):
    """Return how far ``Z Z^T`` is from the exact kernel on some rows of ``X``.

    Parameters
    ----------
    feature_map : FeatureMap
        A fitted map.
    X : array of shape (n_samples, n_features)
        The data.
    n_rows : int, default=500
        How many rows to draw for the comparison (all, if there are fewer).
    random_state : int, default=0
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
    X = check_rows(X)
    if X.shape[0] > n_rows:
        generator = Stream(int(random_state)).child("rows").generator()
        chosen = np.sort(generator.choice(X.shape[0], n_rows, replace=False))
        if isinstance(X, np.ndarray) or is_sparse(X):
            X = X[chosen]
        else:
            xp = namespace(X)
            X = xp.take(X, xp.asarray(chosen, device=X.device), axis=0)
    exact = to_numpy(feature_map.kernel_(X)).astype(float)
    features = to_numpy(feature_map.transform(X)).astype(float)
    difference = features @ features.T - exact
    return ApproximationError(
        relative=float(np.linalg.norm(difference) / np.linalg.norm(exact)),
        largest=float(abs(difference).max()),
        n_rows=int(X.shape[0]),
    )
