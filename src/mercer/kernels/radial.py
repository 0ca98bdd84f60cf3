"""The radial functions of generalised zonal kernels: k = Σ_l ⟨h_l(|x|), h_l(|y|)⟩ P_l(cos).

A series lists its pairs (l, i), degree and number of the value, degree after degree, and gives
the values h_(l, i) of all pairs at norms as one table.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from .._array import as_floating, frozen, like, namespace
from .._registry import storable
from ..ops.gegenbauer import log_harmonics
from .base import Kernel
from .dot_product import Exponential
from .gaussian import Gaussian
from .relu import Angular
from .stationary import Isotropic
from .zonal import GeneralizedZonal
from .zonal_coefficients import log_share, stable_degree, zonal_coefficients

#: The highest degree, unless the user asks for more.
LARGEST_DEGREE = 40
#: Degrees of kernels of networks, whose coefficients fall slowly: in few columns and in many. More
#: make the kernel more exact, and predictions worse where the target is smooth: random columns of
#: high degrees are noise to a regression. In many columns fewer have rare, but large errors.
NETWORK_DEGREE, WIDE_DEGREE, WIDE = 8, 12, 64


@storable
class AngularSeries:
    """h_l(r) = √c_l r^power for rows that are not zero: one value a degree.

    Parameters
    ----------
    coefficients : array of shape (degree + 1,)
        The c_l.
    power : {0, 1}
        Whether the kernel is multiplied with the norms.

    Examples
    --------
    >>> AngularSeries(np.asarray([1.0, 4.0]), 1).table(np.asarray([0.0, 3.0]), np)
    array([[0., 0.],
           [3., 6.]])
    """

    order = 1

    def __init__(self, coefficients: np.ndarray, power: int) -> None:
        self.degree: int = len(coefficients) - 1
        self.pairs: list[tuple[int, int]] = [(l, 0) for l in range(self.degree + 1)]
        self._roots = frozen(np.sqrt(coefficients))
        self._power = power

    def table(self, norms: Any, xp: Any) -> Any:
        """Return the values at norms, a column for each pair."""
        scale = norms if self._power else xp.sign(norms)
        return scale[:, None] * like(norms, self._roots)[None, :]


@storable
class PowerSeriesRadial:
    """h_(l, i)(r) = √(a_j μ(l, j)) r^j with j = l + 2i, times exp(-r²/2) if damped.

    Parameters
    ----------
    log_taylor : array of shape (degree + 1,)
        Logarithms of the coefficients a_j of the powers of the inner product.
    n_features : int
        Columns of the rows.
    lengthscale : float
        The rows are divided by it.
    damped : bool
        Whether the kernel is the Gaussian one.

    Examples
    --------
    >>> series = PowerSeriesRadial(np.zeros(3), 3, 1.0, False)
    >>> series.pairs
    [(0, 0), (0, 1), (1, 0), (2, 0)]
    >>> (series.table(np.asarray([2.0]), np) ** 2).round(3)
    array([[ 1.   ,  5.333,  4.   , 10.667]])
    """

    def __init__(
        self, log_taylor: np.ndarray, n_features: int, lengthscale: float, damped: bool
    ) -> None:
        self.degree: int = len(log_taylor) - 1
        degrees = range(self.degree + 1)
        every = [(l, i) for l in degrees for i in range((self.degree - l) // 2 + 1)]
        kept = [p for p in every if n_features > 1 or p[0] < 2]
        self.pairs: list[tuple[int, int]] = [
            (l, i) for l, i in kept if np.isfinite(log_taylor[l + 2 * i])
        ]
        self.order: int = 1 + max((i for _, i in self.pairs), default=0)
        powers = np.asarray([l + 2 * i for l, i in self.pairs], dtype=np.int64)
        shares = [log_share(l, np.asarray(l + 2 * i), n_features) for l, i in self.pairs]
        logs = (log_taylor[powers] + np.asarray(shares)) / 2
        # An exponential for each power, not for each pair: that of its largest constant.
        self._largest = frozen(
            [logs[powers == j].max(initial=-np.inf) for j in range(self.degree + 1)]
        )
        constants = np.zeros((self.degree + 1, len(powers)))
        constants[powers, np.arange(len(powers))] = np.exp(logs - self._largest[powers])
        self._constants = frozen(constants)
        self._lengthscale = lengthscale
        self.damped = damped

    def table(self, norms: Any, xp: Any) -> Any:
        """Return the values at norms, a column for each pair."""
        r = as_floating(norms, "float64")
        positive = r > 0
        logs = xp.log(xp.where(positive, r, xp.ones_like(r))) - math.log(self._lengthscale)
        powers = like(r, np.arange(self.degree + 1.0))[None, :]
        exponents = like(r, self._largest)[None, :] + powers * logs[:, None]
        if self.damped:
            scaled = r / self._lengthscale
            exponents = exponents - (scaled * scaled / 2)[:, None]
        values = xp.exp(exponents)
        # A row of zeros has the constant only.
        values = xp.where(positive[:, None] | (powers == 0), values, xp.zeros_like(values))
        return values @ like(r, self._constants)


@storable
class GivenRadial:
    """The radial functions of a :class:`GeneralizedZonal` kernel."""

    degree: int
    order: int

    def __init__(self, kernel: GeneralizedZonal) -> None:
        self.degree, self.order = kernel.degree, kernel.order
        self.pairs: list[tuple[int, int]] = [
            (l, i) for l in range(self.degree + 1) for i in range(self.order)
        ]
        self._kernel = kernel

    def table(self, norms: Any, xp: Any) -> Any:
        """Return the values at norms, a column for each pair."""
        return xp.concat(
            [self._kernel.radial(l, norms, xp) for l in range(self.degree + 1)], axis=1
        )


@storable
class RadialFunctions:
    """A series as the function ``h(l, r)`` of a :class:`GeneralizedZonal` kernel."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def __call__(self, l: int, norms: Any) -> Any:
        """Return the values of degree l, zero where the series has no pair."""
        xp = namespace(norms)
        table = self._series.table(norms, xp)
        columns = {pair: k for k, pair in enumerate(self._series.pairs)}
        found = [columns.get((l, i)) for i in range(self._series.order)]
        return xp.stack([norms * 0 if k is None else table[:, k] for k in found], axis=1)


def truncated(series: Any, center: Any = None) -> GeneralizedZonal:
    """Return the kernel that a series stands for.

    Examples
    --------
    >>> series = AngularSeries(np.asarray([0.0, 1.0]), 1)
    >>> truncated(series)(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return GeneralizedZonal(RadialFunctions(series), series.degree, series.order, center)


def is_angular(kernel: Kernel) -> bool:
    """Return whether a kernel is zonal, times the norms or not."""
    return kernel.norm_power() is not None


@singledispatch
def radial_series(
    kernel: Kernel,
    n_features: int,
    degree: int | None,
    tolerance: float,
    norms: np.ndarray,
    n_columns: int = 0,
) -> Any:
    """Return the series of a kernel for rows of any of the norms.

    Parameters
    ----------
    kernel : Kernel
        A zonal kernel, one of the inner product, or a Gaussian or generalised zonal one.
    n_features : int
        Columns of the rows.
    degree : int or None
        The highest degree; ``None``: as the tolerance wants.
    tolerance : float
        The share of k(x, x) that may be missing on average.
    norms : array
        Norms of typical rows.
    n_columns : int, default=0
        Features that the series is for: in few dimensions low degrees have fewer harmonics.

    Examples
    --------
    >>> radial_series(Gaussian(), 3, None, 1e-3, np.asarray([0.5, 1.0])).degree
    5
    """
    power = kernel.norm_power()
    if power is not None:
        found = angular_coefficients(kernel, n_features, degree, tolerance, 1.0, n_columns)
        return AngularSeries(found, power)
    log_taylor, scale, damped = powers(kernel, LARGEST_DEGREE if degree is None else degree)
    if degree is None:
        missing = missing_shares(kernel, Powers(log_taylor, scale, damped), norms)
        enough = np.flatnonzero(missing <= tolerance)
        log_taylor = log_taylor[: enough[0] + 1] if enough.size else log_taylor
    return PowerSeriesRadial(log_taylor, n_features, scale, damped)


@radial_series.register
def _given(kernel: GeneralizedZonal, *_: Any, **__: Any) -> GivenRadial:
    return GivenRadial(kernel)


class Powers(NamedTuple):
    """A kernel as a series of powers of the inner product.

    The logarithms of the coefficients, the lengthscale that rows are divided by, and whether
    the series is multiplied with exp(-(|x|² + |y|²) / 2).
    """

    log_taylor: np.ndarray
    scale: float
    damped: bool


@singledispatch
def powers(kernel: Kernel, largest: int) -> Powers:
    """Return the powers of the inner product that a kernel is made of, up to a degree.

    Examples
    --------
    >>> powers(Exponential(2.0), 2).log_taylor.round(4)
    array([-0.    , -0.    , -0.6931])
    """
    taylor = getattr(kernel, "taylor", None)
    if taylor is None:
        raise TypeError(f"{kernel!r} is neither a zonal kernel nor one of the inner product.")
    with np.errstate(divide="ignore"):
        log_taylor = np.log(taylor(largest))
    if not np.isfinite(log_taylor).any():
        later = np.flatnonzero(taylor(max(largest, LARGEST_DEGREE)))
        remedy = f"use degree={later[0]} or more" if later.size else "use another kernel"
        raise ValueError(
            f"degree={largest} leaves nothing of {kernel!r}: its coefficients up to there are "
            f"zero; {remedy}."
        )
    return Powers(log_taylor, 1.0, False)


@powers.register
def _of_exponential(kernel: Exponential, largest: int) -> Powers:
    return Powers(-special.gammaln(np.arange(largest + 1) + 1), float(kernel.lengthscale), False)


@powers.register
def _of_gaussian(kernel: Gaussian, largest: int) -> Powers:
    return Powers(-special.gammaln(np.arange(largest + 1) + 1), float(kernel.lengthscale), True)


def missing_shares(kernel: Kernel, series: Powers, norms: np.ndarray) -> np.ndarray:
    """Return which share of k(x, x) powers beyond 0, 1, ... hold, on average over norms."""
    scaled = norms / series.scale
    logs = 2 * np.log(np.maximum(scaled, 1e-300))[:, None]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exponents = series.log_taylor + np.arange(len(series.log_taylor)) * logs
        if series.damped:
            # The powers of a Gaussian kernel have the weights of a Poisson law.
            held = np.cumsum(np.exp(exponents - scaled[:, None] ** 2), axis=1)
        else:
            totals = kernel.diag((scaled * series.scale)[:, None])[:, None]
            held = np.cumsum(np.exp(exponents), axis=1) / totals
        return np.asarray(np.maximum(1 - held, 0).mean(axis=0))


def angular_coefficients(
    kernel: Kernel,
    n_features: int,
    degree: int | None,
    tolerance: float,
    radius: float = 1.0,
    n_columns: int = 0,
) -> np.ndarray:
    """Return coefficients on the sphere up to a degree, or as the tolerance wants.

    Examples
    --------
    >>> len(angular_coefficients(Gaussian(), 5, None, 1e-3))
    5
    """
    if n_features == 1:
        degree = 1 if degree is None else min(degree, 1)
    if degree is not None:
        return zonal_coefficients(kernel, n_features, degree, radius)
    largest = useful_degree(kernel, n_features, n_columns)
    found = zonal_coefficients(
        kernel, n_features, stable_degree(kernel, n_features, largest), radius
    )
    total = float(kernel.diag(np.asarray([[radius]]))[0])
    enough = np.flatnonzero(total - np.cumsum(found) <= tolerance * total)
    return found[: enough[0] + 1] if enough.size else found


@singledispatch
def useful_degree(kernel: Kernel, n_features: int, n_columns: int) -> int:
    """Return the highest degree that is tried if none is asked for.

    Examples
    --------
    >>> from mercer.kernels import NTK
    >>> useful_degree(Gaussian(), 8, 0), useful_degree(NTK(), 8, 0), useful_degree(NTK(), 99, 0)
    (40, 8, 12)
    """
    return LARGEST_DEGREE


@useful_degree.register
def _of_network(kernel: Angular, n_features: int, n_columns: int) -> int:
    harmonics = np.cumsum(np.exp(log_harmonics(n_features, LARGEST_DEGREE)))
    wanted = NETWORK_DEGREE if n_features < WIDE else WIDE_DEGREE
    return min(max(wanted, int(np.searchsorted(harmonics, n_columns))), LARGEST_DEGREE)


def on_sphere(kernel: Kernel) -> bool:
    """Return whether a kernel, on the rows of one sphere, is a zonal one."""
    return isinstance(kernel, Isotropic) or hasattr(kernel, "taylor")
