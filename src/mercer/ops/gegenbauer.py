"""Gegenbauer polynomials: those of the cosine that belong to the sphere in d dimensions.

P_l is the polynomial of degree l with P_l(1) = 1 that is orthogonal to the others under the
law of the first coordinate of a uniform point of the sphere, and p_l = √α_l P_l, with α_l
the number of harmonics of degree l, is the one of unit variance.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from .._array import frozen, like
from .._devices import has_fused_kernels


def log_harmonics(n_features: int, degree: int) -> np.ndarray:
    """Return the logarithms of the numbers of harmonics of the degrees 0, ..., ``degree``.

    Logarithms, because the numbers overflow: in 10,000 dimensions from degree 135 on.

    Examples
    --------
    >>> np.exp(log_harmonics(3, 4)).round(6)
    array([1., 3., 5., 7., 9.])
    """
    found = np.zeros(degree + 1)
    if n_features == 1:
        # Two points, and two functions on them.
        found[2:] = -np.inf
        return found
    l, d = np.arange(1, degree + 1), n_features
    found[1:] = np.log(2 * l + d - 2) + special.gammaln(l + d - 2)
    found[1:] -= special.gammaln(l + 1) + special.gammaln(d - 1)
    return found


def recurrence(n_features: int, degree: int) -> np.ndarray:
    """Return b with p_(l+1) b[l+1] = t p_l - b[l] p_(l-1); b[0] is 0.

    Examples
    --------
    >>> recurrence(3, 2).round(4)
    array([0.    , 0.5774, 0.5164])
    """
    l, d = np.arange(2, degree + 1), n_features
    b = np.zeros(degree + 1)
    b[1:2] = d**-0.5
    if d > 1:
        b[2:] = np.sqrt(l * (l + d - 3) / ((2.0 * l + d - 2) * (2.0 * l + d - 4)))
    return b


def orthonormal(t: np.ndarray, n_features: int, degree: int) -> np.ndarray:
    """Return p_0(t), ..., p_degree(t) as rows, in two dimensions or more.

    Examples
    --------
    >>> orthonormal(np.asarray([1.0]), 3, 3).ravel() ** 2
    array([1., 3., 5., 7.])
    """
    b = recurrence(n_features, degree)
    p = np.ones((degree + 1, *np.shape(t)))
    if degree > 0:
        p[1] = t / b[1]
    for l in range(1, degree):
        p[l + 1] = (t * p[l] - b[l] * p[l - 1]) / b[l + 1]
    return p


def legendre(t: Any, n_features: int, degree: int) -> Any:
    """Yield P_0(t), ..., P_degree(t), arrays of any library, one after the other.

    Examples
    --------
    >>> [float(p) for p in legendre(np.asarray(0.5), 3, 2)]
    [1.0, 0.5, -0.125]
    """
    before, now = t * 0 + 1.0, t
    yield before
    d = n_features
    for l in range(1, degree + 1):
        yield now
        if d + l > 2:
            value = t * now
            value *= (2 * l + d - 2) / (l + d - 2)
            value -= before * (l / (l + d - 2))
            before, now = now, value
        else:
            before, now = now, before


def weighted_sum(T: Any, weights: Any, n_features: int, xp: Any, out: Any = None) -> Any:
    """Return Σ_l weights[i, l] p_l(T[i, j]), for arrays of any library; fused kernels use ``out``.

    Clenshaw's scheme: from the highest degree downwards, with two arrays as large as T.

    Examples
    --------
    >>> weighted_sum(np.asarray([[1.0]]), np.asarray([[1.0, 0.0, 2.0]]), 3, np).round(4)
    array([[5.4721]])
    """
    slope, back = clenshaw_steps(n_features, weights.shape[1] - 1)
    if has_fused_kernels(T):
        from ._cuda import gegenbauer as cuda

        return cuda.weighted_sum(T, weights, like(T, slope), like(T, back), out)
    higher, high = xp.zeros_like(T), xp.zeros_like(T) + weights[:, -1:]
    for l in range(weights.shape[1] - 2, -1, -1):
        value = weights[:, l : l + 1] + float(slope[l]) * (T * high) - float(back[l]) * higher
        higher, high = high, value
    return high


@lru_cache(maxsize=64)
def clenshaw_steps(n_features: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 / b[l+1] and b[l+1] / b[l+2] for the degrees below ``degree``.

    Examples
    --------
    >>> [step.round(4) for step in clenshaw_steps(3, 1)]
    [array([1.7321]), array([1.118])]
    """
    b = recurrence(max(n_features, 2), degree + 2)
    if n_features == 1:
        b[1] = 1.0
    return frozen(1 / b[1 : degree + 1]), frozen(b[1 : degree + 1] / b[2 : degree + 2])
