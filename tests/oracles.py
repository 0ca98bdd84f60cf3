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


def cntk(x, y, depth, filter_size, pooled=True, readout=True):
    """Return the CNTK of two images, channels last, or two signals, by loops in 40 digits."""
    reaches = [filter_size // 2] * (x.ndim - 1)
    places = list(np.ndindex(x.shape[:-1]))
    taps = list(np.ndindex(*[2 * reach + 1 for reach in reaches]))

    def neighbours(place):
        moved = [
            tuple(i + a - r for i, a, r in zip(place, tap, reaches, strict=True)) for tap in taps
        ]
        return [there if there in known else None for there in moved]

    known = set(places)
    around = {place: neighbours(place) for place in places}

    def mean_of_pairs(A):
        return {
            (p, q): sum(
                A[a, b]
                for a, b in zip(around[p], around[q], strict=True)
                if a is not None and b is not None
            )
            / len(taps)
            for p in places
            for q in places
        }

    def mean(v):
        return {p: sum(v[a] for a in around[p] if a is not None) / len(taps) for p in places}

    def dot(u, v):
        return sum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in zip(u, v, strict=True))

    with mpmath.workdps(40):
        S = mean_of_pairs({(p, q): dot(x[p], y[q]) for p in places for q in places})
        T = dict(S)
        N, M = (
            mean({p: dot(x[p], x[p]) for p in places}),
            mean({p: dot(y[p], y[p]) for p in places}),
        )
        for layer in range(depth):
            U = {}
            for p, q in S:
                scale = mpmath.sqrt(N[p] * M[q])
                c = max(-1, min(1, S[p, q] / scale)) if scale else mpmath.mpf(0)
                angle = mpmath.acos(c)
                U[p, q] = scale * (mpmath.sqrt(1 - c * c) + c * (mpmath.pi - angle)) / mpmath.pi
                T[p, q] *= 1 - angle / mpmath.pi
                if readout or layer < depth - 1:
                    T[p, q] += U[p, q]
            if layer < depth - 1:
                S, T, N, M = mean_of_pairs(U), mean_of_pairs(T), mean(N), mean(M)
        if pooled:
            return float(sum(T.values()) / len(T))
        return float(sum(T[p, p] for p in places))
