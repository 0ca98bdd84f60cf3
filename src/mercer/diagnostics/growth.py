"""Feature maps that grow until a measure of their error is small enough."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._array import to_numpy
from .._random import seed_of
from .._sklearn import check_rows, checked
from ..features.growth import grown_parts, is_automatic, made_of
from ..features.some_rows import some_rows
from .dimension import positive_alpha
from .spectral import extreme_eigenvalues


def grown_features(
    features: Any,
    X: Any,
    alpha: float,
    *,
    tolerance: float = 0.5,
    n_rows: int = 1000,
    random_state: Any = 0,
) -> Any:
    r"""Return a map that has grown until its spectral approximation is good enough.

    That is until :math:`(1 - \epsilon)(K + \alpha) \preceq Z Z^\top + \alpha \preceq
    (1 + \epsilon)(K + \alpha)` with :math:`\epsilon` at most the tolerance, on some of the rows and
    with alpha in proportion: what ridge regression with the parameter alpha needs of features. For
    the error of the entries of the kernel matrix a map grows by itself, when it is fitted; for the
    held-out score in :class:`~mercer.FeatureRidge`.

    Parameters
    ----------
    features : FeatureMap
        With ``n_components="auto"``. It stays as it is.
    X : array of shape (n_samples, n_features)
        The rows.
    alpha : float
        The ridge parameter, for all rows.
    tolerance : float, default=0.5
        The largest epsilon.
    n_rows : int, default=1000
        Rows to measure on.
    random_state : int, RandomState, Generator or None, default=0
        Which rows.

    Returns
    -------
    features : FeatureMap
        Fitted, with ``growth_``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, RandomFourier
    >>> from mercer.diagnostics import grown_features
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> features = RandomFourier(Gaussian(2.0), n_components="auto", random_state=0)
    >>> grown_features(features, X, alpha=1.0).growth_.values[-1] <= 0.5
    True
    """
    if not is_automatic(features):
        raise ValueError(
            f"features must be a map with n_components='auto', got {features!r}; RandomFourier, "
            "ArcCosineFeatures, NTKFeatures, NNGPFeatures, PolynomialSketch and DotProductSketch "
            "can grow."
        )
    alpha = positive_alpha(alpha)
    if not isinstance(tolerance, Real) or not 0 < tolerance:
        raise ValueError(f"tolerance must be a positive number, got {tolerance!r}.")
    rows = check_rows(X)
    some = some_rows(None, rows, n_rows, random_state).chosen
    map_ = checked(features)
    kernel = map_.target_kernel().fitted_to(rows)
    K = np.asarray(to_numpy(kernel(some)), dtype=float)
    share = alpha * len(K) / rows.shape[0]

    def epsilon(Z: np.ndarray) -> float:
        low, high = extreme_eigenvalues(Z, K, share)
        return max(1 - low, high - 1)

    seed = seed_of(map_.random_state)
    parts, path = grown_parts(
        map_, kernel, seed, some, tolerance=float(tolerance), error=epsilon, name="epsilon"
    )
    made = made_of(map_, kernel, seed, parts)
    made.growth_ = path
    return made
