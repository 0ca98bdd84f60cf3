"""Numba twin of ``ops.angles``: the layers of a row of angles, held in the fastest cache.

The loops are written so that the compiler turns them into vector instructions: selections
instead of branches, polynomials instead of library calls, constants of the array's dtype.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba.extending import overload

from . import compiled

#: Chebyshev fits of arcsin(√w)/√w on [0, 1/2], highest power first; relative errors 3e-9, 3e-16.
_ARCSINE_32 = (
    0.12391349490512975,
    -0.13591627123984387,
    0.10740002130174647,
    -0.0070205791522944755,
    0.03581423928401177,
    0.04409161673371687,
    0.07502757316352404,
    0.16666614237824284,
    1.0000000016226234,
)
_ARCSINE_64 = (
    1.4326072705765098,
    -6.008042872156452,
    11.99054929620933,
    -14.884387574231052,
    12.830658050319302,
    -8.097162378402428,
    3.878312067627145,
    -1.4218180318389972,
    0.41616195625122965,
    -0.08458119964926274,
    0.02446902457333711,
    0.00758177172566054,
    0.011778012699157943,
    0.01394720494599378,
    0.017353770558111315,
    0.022372118687437575,
    0.03038194552436468,
    0.04464285712523146,
    0.075000000000152,
    0.16666666666666616,
    1.0,
)


def arcsine_ratio(w):
    """Return arcsin(√w)/√w for w in [0, 1/2]: the polynomial of the argument's dtype."""


@overload(arcsine_ratio, inline="always")
def _overload_arcsine(w):
    if w == numba.float32:

        def single(w):
            value = np.float32(0.0)
            for coefficient in _ARCSINE_32:
                value = value * w + np.float32(coefficient)
            return value

        return single

    def double(w):
        # Even and odd powers apart, each short enough for the compiler to unroll: a loop that
        # is left in place would keep the loop around it from being vectorised.
        square = w * w
        even = 0.0
        for coefficient in _ARCSINE_64[0::2]:
            even = even * square + coefficient
        odd = 0.0
        for coefficient in _ARCSINE_64[1::2]:
            odd = odd * square + coefficient
        return even + w * odd

    return double


@compiled
def relu_layers(code, norms_x, norms_y, depth, quantity, out):
    """Write D (0), S (1) or K (2) of the last layer, times the norms, to ``out``."""
    n, m = code.shape
    u = np.empty(m, out.dtype)
    step = np.empty(m, out.dtype)
    relu = np.empty(m, out.dtype)
    tangent = np.empty(m, out.dtype)
    for i in range(n):
        _first_layer(code[i], u, step, relu, tangent)
        for _ in range(1, depth):
            _next_layer(u, step, relu, tangent)
        values = step if quantity == 0 else (relu if quantity == 1 else tangent)
        norm = norms_x[i]
        for j in range(m):
            # The product of the norms comes first: it is the same for (i, j) and (j, i).
            values[j] *= norm * norms_y[j]
        out[i, :] = values


@compiled
def _first_layer(code, u_next, step, relu, tangent):
    real = u_next.dtype.type
    one, two, half = real(1.0), real(2.0), real(0.5)
    pi, inverse_pi = real(math.pi), real(1.0 / math.pi)
    for j in range(code.shape[0]):
        s = code[j]
        obtuse = s < 0.0
        w = real(-s if obtuse else s)
        u = one - w if obtuse else w
        v = w if obtuse else one - w
        acute = two * math.sqrt(w) * arcsine_ratio(w)
        theta = pi - acute if obtuse else acute
        d = acute * inverse_pi if obtuse else one - acute * inverse_pi
        delta = two * u - (two * math.sqrt(u * v) - theta * (v - u)) * inverse_pi
        step[j] = d
        relu[j] = one - delta
        tangent[j] = (v - u) * d + (one - delta)
        u_next[j] = half * delta


@compiled
def _next_layer(u, step, relu, tangent):
    real = u.dtype.type
    zero, one, two, half = real(0.0), real(1.0), real(2.0), real(0.5)
    inverse_pi = real(1.0 / math.pi)
    for j in range(u.shape[0]):
        w = u[j]
        w = w if w > zero else zero
        theta = two * math.sqrt(w) * arcsine_ratio(w)
        d = one - theta * inverse_pi
        delta = two * w - (two * math.sqrt(w * (one - w)) - theta * (one - two * w)) * inverse_pi
        step[j] = d
        relu[j] = one - delta
        tangent[j] = tangent[j] * d + (one - delta)
        u[j] = half * delta
