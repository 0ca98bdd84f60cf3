"""Numba twin of ``ops.gegenbauer.weighted_sum``: two buffers as long as a row, in place."""

from __future__ import annotations

import numpy as np

from . import compiled


@compiled
def replace_by_sums(out, start, weights, bounds, slope, back):
    """Replace the cosines T, from a column on, by Σ_l weights[i, g, l] p_l(T).

    Group g of columns, from ``bounds[g]`` to ``bounds[g + 1]`` behind ``start``, has weights
    of its own.
    """
    degree = weights.shape[2] - 1
    width = out.shape[1] - start
    first, second = np.empty(width, out.dtype), np.empty(width, out.dtype)
    for i in range(out.shape[0]):
        for g in range(weights.shape[1]):
            t = out[i][start + bounds[g] : start + bounds[g + 1]]
            size = t.shape[0]
            high, higher = first[:size], second[:size]
            top = weights[i, g, degree]
            for j in range(size):
                high[j] = top
                higher[j] = 0
            for l in range(degree - 1, -1, -1):
                step(t, high, higher, weights[i, g, l], slope[l], back[l])
                high, higher = higher, high
            for j in range(size):
                t[j] = high[j]


@compiled
def step(t, high, higher, weight, slope, back):
    """Replace the sum two degrees up by the one a degree down."""
    for j in range(t.shape[0]):
        higher[j] = weight + slope * t[j] * high[j] - back * higher[j]
