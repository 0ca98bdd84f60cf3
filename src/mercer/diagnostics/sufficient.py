r"""How many features theorems ask for, with their constants corrected.

All say: with so many features the spectral approximation at :math:`(\epsilon, \alpha)` holds with
probability :math:`1 - \delta`. They are sufficient and far from necessary: a measured
:func:`~mercer.diagnostics.spectral_approximation` is reached with a small fraction of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..ops.gegenbauer import log_harmonics


def sufficient_by_leverage(
    leverage: float, dimension: float, epsilon: float, delta: float = 0.1
) -> int:
    r"""Return how many independent features suffice, from a bound on their leverage.

    .. math:: m \ge \frac{8}{3} \frac{L}{\epsilon^2} \log \frac{16 s}{\delta}

    Parameters
    ----------
    leverage : float
        A bound L on :math:`z^\top (K + \alpha I)^{-1} z` for any feature z of all rows.
    dimension : float
        The statistical dimension s at alpha, or a bound on it.
    epsilon : float
        The spectral approximation that is wanted, below 1/2.
    delta : float, default=0.1
        The probability of failure.

    Examples
    --------
    >>> sufficient_by_leverage(100.0, 20.0, 0.5)
    8609
    """
    _check(epsilon, delta)
    if not (leverage > 0 and dimension > 0):
        raise ValueError(
            f"leverage and dimension must be positive, got {leverage!r} and {dimension!r}."
        )
    return math.ceil(8 / 3 * leverage / epsilon**2 * math.log(16 * dimension / delta))


def sufficient_fourier(
    n_rows: int, alpha: float, dimension: float, epsilon: float, delta: float = 0.1
) -> int:
    r"""Return how many frequencies of random Fourier features suffice for any rows.

    Each frequency gives a cosine and a sine. The leverage is at most :math:`n/\alpha`.

    Parameters
    ----------
    n_rows : int
        Rows.
    alpha : float
        The ridge parameter.
    dimension : float
        The statistical dimension at alpha, or a bound on it.
    epsilon, delta : float
        The spectral approximation that is wanted, and the probability of failure.

    Examples
    --------
    >>> sufficient_fourier(1000, 10.0, 20.0, 0.5)
    8609
    """
    return sufficient_by_leverage(n_rows / _positive(alpha), dimension, epsilon, delta)


def sufficient_step(
    n_rows: int, alpha: float, dimension: float, epsilon: float, delta: float = 0.1
) -> int:
    r"""Return how many step features suffice for the arc-cosine kernel of order 0.

    Their leverage is at most :math:`2n/\alpha`: the theorem prints half of its own bound.

    Parameters
    ----------
    n_rows : int
        Rows.
    alpha : float
        The ridge parameter.
    dimension : float
        The statistical dimension at alpha, or a bound on it.
    epsilon, delta : float
        The spectral approximation that is wanted, and the probability of failure.

    Examples
    --------
    >>> sufficient_step(1000, 10.0, 20.0, 0.5)
    17218
    """
    return sufficient_by_leverage(2 * n_rows / _positive(alpha), dimension, epsilon, delta)


def sufficient_relu(
    n_features_in: int,
    squared_norm: float,
    alpha: float,
    dimension: float,
    epsilon: float,
    delta: float = 0.1,
) -> int:
    r"""Return how many norm-weighted ReLU features suffice for the arc-cosine kernel of order 1.

    Their leverage is at most :math:`2 d \|X\|^2/\alpha`: the theorem prints half of its own bound.

    Parameters
    ----------
    n_features_in : int
        Columns d of the rows.
    squared_norm : float
        The square of the largest singular value of X.
    alpha : float
        The ridge parameter.
    dimension : float
        The statistical dimension at alpha, or a bound on it.
    epsilon, delta : float
        The spectral approximation that is wanted, and the probability of failure.

    Examples
    --------
    >>> sufficient_relu(10, 100.0, 10.0, 20.0, 0.5)
    17218
    """
    leverage = 2 * n_features_in * squared_norm / _positive(alpha)
    return sufficient_by_leverage(leverage, dimension, epsilon, delta)


class NTKComponents(NamedTuple):
    """Numbers of step features, of ReLU features, and of columns of the sketched product."""

    n_step: int
    n_relu: int
    n_sketch: int


def sufficient_ntk(
    n_rows: int,
    n_features_in: int,
    squared_norm: float,
    alpha: float,
    dimension: float,
    epsilon: float,
    delta: float = 0.1,
) -> NTKComponents:
    r"""Return the sizes that suffice for NTK features of depth 1 on rows of length one.

    Step and ReLU features as above, at :math:`\alpha/2`, step features to :math:`\epsilon/3`, each
    part with a third of the probability; the sketched product has
    :math:`297/(\epsilon^2 \delta)\,(n/(1 + \alpha/4))^2` columns, as the trace of the step features
    is bounded by 2n.

    Parameters
    ----------
    n_rows, n_features_in : int
        Rows and columns.
    squared_norm : float
        The square of the largest singular value of X.
    alpha : float
        The ridge parameter.
    dimension : float
        A bound on the statistical dimensions of both arc-cosine kernels at alpha/2.
    epsilon, delta : float
        The spectral approximation that is wanted, and the probability of failure.

    Examples
    --------
    >>> sufficient_ntk(1000, 10, 100.0, 10.0, 20.0, 0.5)
    NTKComponents(n_step=352110, n_relu=39124, n_sketch=969795919)
    """
    half = _positive(alpha) / 2
    n_sketch = 297 / (epsilon**2 * delta) * (n_rows / (1 + alpha / 4)) ** 2
    return NTKComponents(
        sufficient_step(n_rows, half, dimension, epsilon / 3, delta / 3),
        sufficient_relu(n_features_in, squared_norm, half, dimension, epsilon, delta / 3),
        math.ceil(n_sketch),
    )


def sufficient_gegenbauer(
    coefficients: np.ndarray,
    n_features_in: int,
    n_rows: int,
    alpha: float,
    dimension: float,
    epsilon: float,
    delta: float = 0.1,
) -> int:
    r"""Return how many directions of Gegenbauer features suffice for a zonal kernel.

    The leverage of a direction is at most
    :math:`\sum_l \alpha_{l,d} \min\{\pi^2 (l+1)^2 n c_l/(6 \alpha), 1\}`, with the numbers
    :math:`\alpha_{l,d}` of harmonics of degree l and rows of length one.

    Parameters
    ----------
    coefficients : array of shape (degree + 1,)
        The coefficients :math:`c_l` of :math:`\kappa(t) = \sum_l c_l P_l(t)`.
    n_features_in, n_rows : int
        Columns d of the rows, and rows.
    alpha : float
        The ridge parameter.
    dimension : float
        The statistical dimension at alpha, or a bound on it.
    epsilon, delta : float
        The spectral approximation that is wanted, and the probability of failure.

    Examples
    --------
    >>> sufficient_gegenbauer(np.array([0.5, 0.3, 0.2]), 3, 1000, 10.0, 5.0, 0.5)
    642
    """
    coefficients = np.asarray(coefficients, dtype=float)
    if coefficients.ndim != 1 or not coefficients.size or (coefficients < 0).any():
        raise ValueError("coefficients must be a vector of numbers that are not negative.")
    degrees = np.arange(coefficients.size)
    harmonics = np.exp(log_harmonics(n_features_in, coefficients.size - 1))
    sums = np.pi**2 * (degrees + 1) ** 2 * n_rows * coefficients / (6 * _positive(alpha))
    leverage = float(np.sum(harmonics * np.minimum(sums, 1.0)))
    return sufficient_by_leverage(leverage, dimension, epsilon, delta)


def _positive(alpha: float) -> float:
    if not 0 < alpha < math.inf:
        raise ValueError(f"alpha must be a positive number, got {alpha!r}.")
    return float(alpha)


def _check(epsilon: float, delta: float) -> None:
    if not 0 < epsilon <= 0.5:
        raise ValueError(f"epsilon must be above 0 and at most 1/2, got {epsilon!r}.")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be a probability above 0 and below 1, got {delta!r}.")
