"""Float32 tiles of kernels of a distance: differences, sums and the function in one pass.

Sums of differences have no matrix product, and for few columns a product would not be faster: the
columns are taken four at a time, with the rows of the other side laid out along SIMD lanes. The
exponential is a polynomial, as numba has no vectorised one of its own.
"""

from __future__ import annotations

import numpy as np

from . import compiled

#: Codes of the functions of a distance; see ``mercer.ops.fused``.
GAUSSIAN, EXPONENTIAL, MATERN32, MATERN52, POWERED = 0, 1, 2, 3, 4


@compiled
def add_squares(x, columns, row):
    """Add Σ_c (x_c - columns[c, j])² to ``row[j]``."""
    d = x.shape[0]
    m = row.shape[0]
    c = 0
    while c + 4 <= d:
        a0, a1, a2, a3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        y0, y1, y2, y3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        for j in range(m):
            d0 = a0 - y0[j]
            d1 = a1 - y1[j]
            d2 = a2 - y2[j]
            d3 = a3 - y3[j]
            row[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        c += 4
    while c < d:
        a0, y0 = x[c], columns[c]
        for j in range(m):
            d0 = a0 - y0[j]
            row[j] += d0 * d0
        c += 1


@compiled
def add_differences(x, columns, row):
    """Add Σ_c |x_c - columns[c, j]| to ``row[j]``."""
    d = x.shape[0]
    m = row.shape[0]
    c = 0
    while c + 4 <= d:
        a0, a1, a2, a3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        y0, y1, y2, y3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        for j in range(m):
            row[j] += (abs(a0 - y0[j]) + abs(a1 - y1[j])) + (abs(a2 - y2[j]) + abs(a3 - y3[j]))
        c += 4
    while c < d:
        a0, y0 = x[c], columns[c]
        for j in range(m):
            row[j] += abs(a0 - y0[j])
        c += 1


@compiled
def exponentials(row, bits, powers):
    """Replace t by exp(-t) for t >= 0; ``bits`` and ``powers`` are one buffer of int32 and float32.

    2^f on [-1/2, 1/2] by its Taylor polynomial, times a power of two made of bits: relative errors
    are at most 2e-7, and what is below 2^-126 becomes 0.
    """
    one = np.float32(1.0)
    c1, c2 = np.float32(0.6931471805599453), np.float32(0.2402265069591007)
    c3, c4 = np.float32(0.05550410866482158), np.float32(0.009618129107628477)
    c5, c6 = np.float32(0.0013333558146428443), np.float32(0.00015403530393381608)
    half, base, lowest = np.float32(0.5), np.float32(1.4426950408889634), np.float32(-127.0)
    m = row.shape[0]
    for j in range(m):
        x = max(-row[j] * base, lowest)
        n = np.floor(x + half)
        f = x - n
        bits[j] = (np.int32(n) + np.int32(127)) << np.int32(23)
        row[j] = one + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * c6)))))
    for j in range(m):
        row[j] *= powers[j]


@compiled
def apply_function(row, code, power, bits, powers):
    """Replace squared distances, or sums of differences, by the function of a kernel.

    Both are in units of the lengthscale; ``power`` is the exponent of what is given.
    """
    m = row.shape[0]
    if code == GAUSSIAN:
        half = np.float32(0.5)
        for j in range(m):
            row[j] *= half
        exponentials(row, bits, powers)
        return
    if code == POWERED:
        p = np.float32(power)
        for j in range(m):
            row[j] = row[j] ** p
        exponentials(row, bits, powers)
        return
    if code == EXPONENTIAL:
        if power == 0.5:
            for j in range(m):
                row[j] = np.sqrt(row[j])
        exponentials(row, bits, powers)
        return
    scale = np.float32(3.0) if code == MATERN32 else np.float32(5.0)
    polynomial = np.empty(m, dtype=np.float32)
    one, third = np.float32(1.0), np.float32(1.0 / 3.0)
    for j in range(m):
        s = np.sqrt(scale * row[j])
        row[j] = s
        polynomial[j] = one + s if code == MATERN32 else one + s * (one + s * third)
    exponentials(row, bits, powers)
    for j in range(m):
        row[j] *= polynomial[j]


@compiled
def fused_tile(X, columns, out, manhattan, code, power):
    """Fill ``out`` with the kernel of the rows of ``X`` and those whose columns are given."""
    m = columns.shape[1]
    bits = np.empty(m, dtype=np.int32)
    powers = bits.view(np.float32)
    # A row of its own is known to be contiguous, which a part of a matrix is not.
    row = np.empty(m, dtype=np.float32)
    for i in range(X.shape[0]):
        row[:] = np.float32(0.0)
        if manhattan:
            add_differences(X[i], columns, row)
        else:
            add_squares(X[i], columns, row)
        apply_function(row, code, power, bits, powers)
        out[i, :] = row
