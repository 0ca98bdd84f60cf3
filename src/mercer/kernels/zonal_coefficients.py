"""Kernels on a sphere as sums of Gegenbauer polynomials: k = Σ_l c_l P_l(cos)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from ..ops.gegenbauer import log_harmonics, orthonormal
from .base import Kernel
from .taylor import cosine_taylor

#: Columns up to which integrals over the angle are exact enough for every degree.
FEW_COLUMNS = 16
#: Terms of a power series that are summed.
TERMS = 6000
#: Nodes of a panel of the integrals, at least, and halvings of panels towards either end.
NODES, HALVINGS = 64, 11
#: Negative coefficients that are taken for rounding, over the largest.
ROUNDING = 1e-8
#: What is missing of a power series that counts as summed.
SUMMED = 1e-13


def zonal_coefficients(
    kernel: Kernel, n_features: int, degree: int, radius: float = 1.0
) -> np.ndarray:
    r"""Return the coefficients of a kernel on a sphere, :math:`k = \sum_l c_l P_l(\cos)`.

    :math:`P_l` is the Gegenbauer polynomial of the sphere in ``n_features`` dimensions with
    :math:`P_l(1) = 1`. All :math:`c_l` together add up to k(x, x).

    In up to 16 dimensions they are integrals over the angle, in which kernels of networks
    are smooth. In more these lose all digits, and the powers of the cosine, whose
    coefficients are positive, are added up instead.

    Parameters
    ----------
    kernel : Kernel
        A kernel that depends on norms and angles only.
    n_features : int
        Dimension of the space around the sphere.
    degree : int
        The highest degree.
    radius : float, default=1.0
        Radius of the sphere.

    Returns
    -------
    coefficients : array of shape (degree + 1,)
        None negative.

    Examples
    --------
    >>> from mercer.kernels import NTK, zonal_coefficients
    >>> zonal_coefficients(NTK(depth=2), n_features=8, degree=3).round(6)
    array([0.768113, 1.022021, 0.607715, 0.168748])
    """
    if kernel.needs_data():
        raise ValueError(
            f"{kernel!r} takes its lengthscale from data; give a number, or kernel.fitted_to(X)."
        )
    stable = stable_degree(kernel, n_features, degree)
    if degree > stable:
        raise ValueError(
            f"Coefficients of {kernel!r} in {n_features} dimensions can be computed up to degree "
            f"{stable} only, as its powers of the cosine are not known; ask for degree={stable}, "
            "or give a function that takes complex numbers."
        )
    if n_features == 1:
        at_one, at_minus_one = _at_angles(kernel, np.asarray([0.0, np.pi]), radius)
        both = np.asarray([at_one + at_minus_one, at_one - at_minus_one]) / 2
        return _checked(np.pad(both, (0, max(0, degree - 1)))[: degree + 1], kernel, n_features)
    total = float(_at_angles(kernel, np.zeros(1), radius)[0])
    taylor = cosine_taylor(kernel, radius, max(TERMS, degree))
    summed = taylor is not None and abs(taylor.sum() - total) <= SUMMED * total
    if taylor is not None and (summed or n_features > FEW_COLUMNS):
        found = by_powers(taylor, n_features, degree)
    else:
        found = by_angles(kernel, n_features, degree, radius)
    return _checked(found, kernel, n_features)


def stable_degree(kernel: Kernel, n_features: int, degree: int) -> int:
    """Return up to which degree coefficients are known well enough, at most ``degree``.

    Examples
    --------
    >>> from mercer.kernels import NTK, Matern
    >>> stable_degree(NTK(), 1000, 40), stable_degree(Matern(), 1000, 40)
    (40, 5)
    """
    if n_features <= FEW_COLUMNS or cosine_taylor(kernel, 1.0, 8) is not None:
        return degree
    # Integrals over the angle are known to eps times the root of the number of harmonics.
    errors = np.finfo(float).eps * np.exp(log_harmonics(n_features, degree) / 2)
    return int(np.sum(errors <= ROUNDING / 10)) - 1


def by_powers(taylor: np.ndarray, n_features: int, degree: int) -> np.ndarray:
    """Return c_l = Σ_i a_(l+2i) μ(l, l+2i) from the coefficients a of the powers of the cosine.

    Examples
    --------
    >>> by_powers(np.asarray([0.0, 0.0, 1.0]), 3, 2).round(4)
    array([0.3333, 0.    , 0.6667])
    """
    found = np.zeros(degree + 1)
    for l in range(min(degree, len(taylor) - 1) + 1):
        j = np.arange(l, len(taylor), 2)
        found[l] = np.sum(taylor[j] * np.exp(log_share(l, j, n_features)))
    return found


def log_share(l: int, j: np.ndarray, n_features: int) -> np.ndarray:
    """Return log μ(l, j): the coefficient of P_l in the j-th power of the cosine.

    Examples
    --------
    >>> np.exp(log_share(2, np.asarray([2]), 3)).round(4)
    array([0.6667])
    """
    lg, d = special.gammaln, n_features
    value = log_harmonics(d, l)[l] - l * np.log(2) + lg(d / 2) - lg(0.5)
    found: np.ndarray = value + lg(j + 1) - lg(j - l + 1) + lg((j - l + 1) / 2)
    return found - lg((j + l + d) / 2)


def by_angles(kernel: Kernel, n_features: int, degree: int, radius: float = 1.0) -> np.ndarray:
    """Return c_l = √α_l E[k p_l] by integrals over the angle, in two dimensions or more.

    Examples
    --------
    >>> from mercer.kernels import NTK
    >>> by_angles(NTK(depth=1), 3, 2).round(4)
    array([0.5   , 1.    , 0.3906])
    """
    angles, log_weights = _nodes(max(NODES, degree))
    logs = log_weights + (n_features - 2) * np.log(np.sin(angles))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    values = _at_angles(kernel, angles, radius)
    means = orthonormal(np.cos(angles), n_features, degree) @ (weights * values)
    return np.asarray(means * np.exp(log_harmonics(n_features, degree) / 2))


@lru_cache(maxsize=4)
def _nodes(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return angles between 0 and π, denser towards both, and logarithms of their weights."""
    halves = np.pi / 2.0 ** np.arange(HALVINGS, 0, -1)
    edges = np.concatenate([[0.0], halves, np.pi - halves[-2::-1], [np.pi]])
    nodes, weights = np.polynomial.legendre.leggauss(size)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    angles = (middle[:, None] + half[:, None] * nodes).ravel()
    return angles, np.log((half[:, None] * weights).ravel())


def _at_angles(kernel: Kernel, angles: np.ndarray, radius: float) -> np.ndarray:
    """Return a kernel between rows of a norm, at angles."""
    rows = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    values: np.ndarray = kernel(rows, np.asarray([[radius, 0.0]]))[:, 0]
    return values


def _checked(found: np.ndarray, kernel: Kernel, n_features: int) -> np.ndarray:
    """Return coefficients without the negative ones that are rounding; refuse others."""
    noise = 100 * np.finfo(float).eps * np.exp(log_harmonics(n_features, len(found) - 1) / 2)
    worst = int(np.argmin(found + noise * found.max()))
    if not found[worst] >= -max(ROUNDING, noise[worst]) * found.max():
        raise ValueError(
            f"{kernel!r} is not positive definite on the sphere in {n_features} dimensions: its "
            f"coefficient of degree {worst} is {found[worst]:.3g}; use another function, or fewer "
            "dimensions."
        )
    return np.maximum(found, 0.0)
