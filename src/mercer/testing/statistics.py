"""Bias of a random map, measured in standard errors of its mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone


def bias_in_standard_errors(
    feature_map: Any, X: np.ndarray, n_seeds: int = 200, first_seed: int = 0
) -> float:
    """Return the largest deviation of the mean estimate from the kernel, in standard errors.

    ``n_seeds`` independent maps estimate the kernel matrix of the few rows of ``X``. Entries
    that do not vary must equal the kernel to 1e-10 of its largest entry; one that does not
    counts as an infinite deviation.

    Parameters
    ----------
    feature_map : FeatureMap
        The map; its ``random_state`` is replaced.
    X : array of shape (n_rows, n_features)
        At most some thirty different rows: a bound of 4.5 then has a false alarm rate below 0.4 %.
    n_seeds, first_seed : int
        Which seeds to use.

    Returns
    -------
    deviation : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourier
    >>> from mercer.testing import bias_in_standard_errors
    >>> X = np.random.default_rng(0).standard_normal((5, 3))
    >>> bias_in_standard_errors(RandomFourier(n_components=12), X) < 4.5
    True
    """
    entries = np.triu_indices(X.shape[0])
    estimates = []
    for seed in range(first_seed, first_seed + n_seeds):
        drawn = clone(feature_map).set_params(random_state=seed).fit(X)
        Z = drawn.transform(X)
        estimates.append((Z @ Z.T)[entries])
    exact = getattr(drawn, "mean_kernel_", drawn.kernel_)(X)
    exact = (exact + drawn.traits_.excess * np.eye(len(exact)))[entries]
    deviation = abs(np.mean(estimates, axis=0) - exact)
    deviations = np.std(estimates, axis=0, ddof=1)
    fixed = deviations < 1e-12 * abs(exact).max()
    if np.any(deviation[fixed] > 1e-10 * abs(exact).max()):
        return float("inf")
    if fixed.all():
        return 0.0
    return float((deviation[~fixed] / deviations[~fixed]).max() * n_seeds**0.5)
