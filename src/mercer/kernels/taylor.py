"""Taylor coefficients of kernels, as functions of the cosine of rows of one norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from scipy import special

from ..ops.angles import STEP, TANGENT
from .base import Kernel
from .dot_product import Exponential
from .gaussian import Gaussian
from .relu import Angular

#: Points on the circle of Cauchy's formula, and the aliasing that its radius allows.
CIRCLE, ALIASING = 2**16, 1e-13
#: Points of the circle for functions without a singularity near by.
FEW_POINTS = 2**12
#: Largest difference between a function and its series that is taken for rounding.
ROUNDING = 1e-9


def relu_taylor(depth: int, quantity: int, degree: int) -> np.ndarray:
    """Return the Taylor coefficients of a ReLU network's kernel as a function of the cosine.

    By Cauchy's formula on a circle just inside the unit disc, where the recursion over
    layers is analytic; exact to about 1e-15 for degrees up to 6,000.

    Examples
    --------
    >>> from mercer.ops.angles import TANGENT
    >>> relu_taylor(1, TANGENT, degree=3).round(6)
    array([0.31831 , 1.      , 0.477465, 0.      ])
    """
    return _relu_taylor(depth, quantity)[: degree + 1]


@lru_cache(maxsize=8)
def _relu_taylor(depth: int, quantity: int) -> np.ndarray:
    def kernel(z: np.ndarray) -> np.ndarray:
        sigma, theta, slope = z, z, z
        for _ in range(depth):
            root = np.sqrt(1 - sigma) * np.sqrt(1 + sigma)
            angle = np.arccos(sigma)
            slope = 1 - angle / np.pi
            sigma = (root + (np.pi - angle) * sigma) / np.pi
            theta = theta * slope + sigma
        return slope if quantity == STEP else theta if quantity == TANGENT else sigma

    radius = ALIASING ** (1 / CIRCLE)
    found = _cauchy(kernel, radius, CIRCLE)
    return found * radius ** -np.arange(len(found), dtype=float)


def _cauchy(function: Callable[..., Any], radius: float, points: int) -> np.ndarray:
    """Return Taylor coefficients times powers of a radius, by the values on its circle."""
    z = radius * np.exp(2j * np.pi * np.arange(points) / points)
    values = np.asarray(function(z)) * np.ones(points)
    found: np.ndarray = np.fft.fft(values).real / points
    return found[: points // 2]


def analytic_taylor(function: Callable[..., Any], reach: float) -> np.ndarray | None:
    """Return the Taylor coefficients of a function that takes complex numbers.

    ``None`` if it does not take them, or is not the sum of its series for arguments up to
    ``reach``.

    Examples
    --------
    >>> analytic_taylor(np.exp, 1.0)[:4].round(6)
    array([1.      , 1.      , 0.5     , 0.166667])
    >>> analytic_taylor(np.abs, 1.0) is None
    True
    """
    few, many = (reach, FEW_POINTS), (reach * ALIASING ** (1 / CIRCLE), CIRCLE)
    for radius, points in (few, many):
        try:
            with np.errstate(all="ignore"):
                scaled = _cauchy(function, radius, points)
                tried = reach * np.asarray([-0.93, -0.5, 0.3, 0.71, 0.95])
                exact = np.asarray(function(tried), dtype=float)
                series = np.polynomial.polynomial.polyval(tried / radius, scaled)
        except (TypeError, ValueError, FloatingPointError):
            return None
        if abs(series - exact).max() <= ROUNDING * abs(exact).max():
            # What is below the rounding of the transform is not known to be there.
            scaled[abs(scaled) <= 1e-14 * abs(scaled).max()] = 0.0
            last = int(np.flatnonzero(scaled)[-1]) if scaled.any() else 0
            return scaled[: last + 1] * radius ** -np.arange(last + 1, dtype=float)
    return None


@singledispatch
def cosine_taylor(kernel: Kernel, radius: float, terms: int) -> np.ndarray | None:
    """Return the coefficients of a kernel's powers of the cosine, for rows of norm ``radius``.

    ``None`` where they are not known.

    Examples
    --------
    >>> cosine_taylor(Gaussian(), 1.0, 2).round(4)
    array([0.3679, 0.3679, 0.1839])
    """
    found = kernel.taylor(terms) if hasattr(kernel, "taylor") else None
    if found is None:
        return None
    power = kernel.norm_power()
    if power is not None:
        return np.asarray(found * radius ** (2 * power))
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return np.asarray(np.exp(np.log(found) + 2 * math.log(radius) * np.arange(len(found))))


@cosine_taylor.register
def _gaussian(kernel: Gaussian, radius: float, terms: int) -> np.ndarray:
    z = (radius / float(kernel.lengthscale)) ** 2
    return _exponential_terms(z, terms, z)


@cosine_taylor.register
def _exponential(kernel: Exponential, radius: float, terms: int) -> np.ndarray:
    return _exponential_terms((radius / float(kernel.lengthscale)) ** 2, terms, 0.0)


@cosine_taylor.register
def _angular(kernel: Angular, radius: float, terms: int) -> np.ndarray:
    return relu_taylor(*kernel.layers(), terms) * radius ** (2 * kernel.norm_power())


def _exponential_terms(z: float, terms: int, damping: float) -> np.ndarray:
    """Return the terms of exp(z t - damping), as coefficients of the powers of t."""
    powers = np.arange(terms + 1)
    return np.asarray(np.exp(powers * math.log(z) - special.gammaln(powers + 1) - damping))
