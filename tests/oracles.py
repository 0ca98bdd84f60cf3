"""Slow and obvious versions of everything, to test the fast ones against."""

import math

import mpmath
import numpy as np


def pairwise(function, X, Y):
    """Return the matrix of ``function(x, y)`` by a double loop."""
    return np.array([[function(x, y) for y in Y] for x in X], dtype=float)


def gaussian(x, y, lengthscale):
    return math.exp(-sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * lengthscale**2))


def laplace(x, y, lengthscale):
    return math.exp(-math.dist(x, y) / lengthscale)


def product_laplace(x, y, lengthscale):
    return math.exp(-sum(abs(a - b) for a, b in zip(x, y, strict=True)) / lengthscale)


def matern(x, y, nu, lengthscale):
    """Return the Matérn kernel from its definition by a Bessel function."""
    s = mpmath.sqrt(2 * nu) * math.dist(x, y) / lengthscale
    if s == 0:
        return 1.0
    return float(2 ** (1 - nu) / mpmath.gamma(nu) * s**nu * mpmath.besselk(nu, s))


def angle(x, y):
    """Return the angle between two vectors in 50 digits."""
    with mpmath.workdps(50):
        x, y = ([mpmath.mpf(float(a)) for a in v] for v in (x, y))
        nx, ny = mpmath.norm(x), mpmath.norm(y)
        minus = mpmath.norm([a / nx - b / ny for a, b in zip(x, y, strict=True)])
        plus = mpmath.norm([a / nx + b / ny for a, b in zip(x, y, strict=True)])
        return +(2 * mpmath.atan2(minus, plus))


def relu_network(x, y, depth):
    """Return (κ₀, NNGP, NTK) of the last layer in 50 digits, by the recursion on cosines."""
    if not np.any(x) or not np.any(y):
        return 0.0, 0.0, 0.0
    with mpmath.workdps(50):
        s = mpmath.cos(angle(x, y))
        tangent = s
        for _ in range(depth):
            s = min(mpmath.mpf(1), max(mpmath.mpf(-1), s))
            step = 1 - mpmath.acos(s) / mpmath.pi
            s = (mpmath.sqrt(1 - s**2) + s * (mpmath.pi - mpmath.acos(s))) / mpmath.pi
            tangent = tangent * step + s
        norms = mpmath.norm([mpmath.mpf(float(a)) for a in x]) * mpmath.norm(
            [mpmath.mpf(float(a)) for a in y]
        )
        return float(step), float(norms * s), float(norms * tangent)


def hadamard(length):
    """Return the Hadamard matrix of entries ±1 by bit counts."""
    return np.array(
        [[(-1.0) ** bin(i & j).count("1") for j in range(length)] for i in range(length)]
    )
