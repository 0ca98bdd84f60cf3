"""Float32 tiles of kernels of a distance: differences, sums and the function in one pass.

Sums of differences have no matrix product, and for few columns a product would not be faster: the
columns are taken four at a time and the rows two at a time, with the rows of the other side laid
out along SIMD lanes. Exponentials and powers are polynomials, as numba has no vectorised ones of
its own. Rows of the result must be contiguous: where that is not known, numba writes single
entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from . import compiled

#: Codes of the functions of a distance; see ``mercer.ops.fused``.
GAUSSIAN, EXPONENTIAL, MATERN32, MATERN52, POWERED = 0, 1, 2, 3, 4


@compiled
def add_squares(x, z, columns, row, other):
    """Add Σ_c (x_c - columns[c, j])² to ``row[j]``, and the same for z to ``other[j]``."""
    d, m = x.shape[0], row.shape[0]
    c = 0
    while c + 4 <= d:
        a0, a1, a2, a3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        b0, b1, b2, b3 = z[c], z[c + 1], z[c + 2], z[c + 3]
        y0, y1, y2, y3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        for j in range(m):
            u0, u1, u2, u3 = y0[j], y1[j], y2[j], y3[j]
            p0, p1, p2, p3 = a0 - u0, a1 - u1, a2 - u2, a3 - u3
            q0, q1, q2, q3 = b0 - u0, b1 - u1, b2 - u2, b3 - u3
            row[j] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
            other[j] += (q0 * q0 + q1 * q1) + (q2 * q2 + q3 * q3)
        c += 4
    while c < d:
        a0, b0, y0 = x[c], z[c], columns[c]
        for j in range(m):
            p0, q0 = a0 - y0[j], b0 - y0[j]
            row[j] += p0 * p0
            other[j] += q0 * q0
        c += 1


@compiled
def add_differences(x, z, columns, row, other):
    """Add Σ_c |x_c - columns[c, j]| to ``row[j]``, and the same for z to ``other[j]``."""
    d, m = x.shape[0], row.shape[0]
    c = 0
    while c + 4 <= d:
        a0, a1, a2, a3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        b0, b1, b2, b3 = z[c], z[c + 1], z[c + 2], z[c + 3]
        y0, y1, y2, y3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        for j in range(m):
            u0, u1, u2, u3 = y0[j], y1[j], y2[j], y3[j]
            row[j] += (abs(a0 - u0) + abs(a1 - u1)) + (abs(a2 - u2) + abs(a3 - u3))
            other[j] += (abs(b0 - u0) + abs(b1 - u1)) + (abs(b2 - u2) + abs(b3 - u3))
        c += 4
    while c < d:
        a0, b0, y0 = x[c], z[c], columns[c]
        for j in range(m):
            row[j] += abs(a0 - y0[j])
            other[j] += abs(b0 - y0[j])
        c += 1


@intrinsic
def _as_float(typing_context: Any, bits: Any) -> Any:
    """Return the float32 number that the bits of an int32 number stand for."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), code


@intrinsic
def _as_bits(typing_context: Any, value: Any) -> Any:
    """Return the bits of a float32 number as an int32 number."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.int32))

    return types.int32(types.float32), code


@compiled
def logarithm(t):
    """Return log2 of a float32 number t > 0, with an error of at most 2e-7 + 6e-8 |log2 t|.

    The exponent, and log2(1 + f) / f on [-1/3, 1/3] by a polynomial of degree 8 with a relative
    error of 3e-8; where t = 0 it is -127.
    """
    c0, c1 = np.float32(1.4426950460323225), np.float32(-0.7213465411737476)
    c2, c3 = np.float32(0.48089597191797145), np.float32(-0.3607895691532851)
    c4, c5 = np.float32(0.2887113268949176), np.float32(-0.23678652245312065)
    c6, c7 = np.float32(0.2017991746428093), np.float32(-0.2222211778842609)
    c8, one = np.float32(0.20278671638800472), np.float32(1.0)
    bits = _as_bits(t)
    # Those of 2/3: the rest is between 2/3 and 4/3.
    n = (bits - np.int32(0x3F2AAAAB)) >> np.int32(23)
    f = _as_float(bits - (n << np.int32(23))) - one
    high = c4 + f * (c5 + f * (c6 + f * (c7 + f * c8)))
    return np.float32(n) + f * (c0 + f * (c1 + f * (c2 + f * (c3 + f * high))))


@compiled
def power_of_two(x):
    """Return 2^x of a float32 number between -127, for which it is 0, and 127.

    2^f on [-1/2, 1/2] by the polynomial of degree 5 with the smallest relative error, 9e-8, among
    those that are 1 at 0, times a power of two made of bits.
    """
    c1, c2 = np.float32(0.6931469775983333), np.float32(0.24022242084815473)
    c3, c4 = np.float32(0.05550733744445227), np.float32(0.009671512665322568)
    c5, one = np.float32(0.001326472683837343), np.float32(1.0)
    n = np.floor(x + np.float32(0.5))
    f = x - n
    power = _as_float((np.int32(n) + np.int32(127)) << np.int32(23))
    return (one + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * c5))))) * power


@compiled
def exponential(t):
    """Return exp(-t) of a float32 number t >= 0, with an error of at most 2e-7."""
    return power_of_two(max(t * np.float32(-1.4426950408889634), np.float32(-127.0)))


@compiled
def apply_function(row, code, power):
    """Replace squared distances, or sums of differences, by the function of a kernel.

    Both are in units of the lengthscale; ``power`` is the exponent of what is given.
    """
    m = row.shape[0]
    one, half, third = np.float32(1.0), np.float32(0.5), np.float32(1.0 / 3.0)
    three, five, p = np.float32(3.0), np.float32(5.0), np.float32(power)
    zero, most = np.float32(0.0), np.float32(126.0)
    if code == GAUSSIAN:
        for j in range(m):
            row[j] = exponential(half * row[j])
    elif code == POWERED:
        for j in range(m):
            x = min(max(p * logarithm(row[j]), -most), most)
            row[j] = exponential(power_of_two(x) if row[j] > zero else zero)
    elif code == EXPONENTIAL and power == 0.5:
        for j in range(m):
            row[j] = exponential(np.sqrt(row[j]))
    elif code == EXPONENTIAL:
        for j in range(m):
            row[j] = exponential(row[j])
    elif code == MATERN32:
        for j in range(m):
            s = np.sqrt(three * row[j])
            row[j] = (one + s) * exponential(s)
    else:
        for j in range(m):
            s = np.sqrt(five * row[j])
            row[j] = (one + s * (one + s * third)) * exponential(s)


@compiled
def fused_tile(X, columns, flat, stride, manhattan, code, power):
    """Fill a tile with the kernel of the rows of ``X`` and those whose columns are given.

    Row i of the tile begins at ``flat[i * stride]``: slices of a contiguous array are contiguous.
    """
    n, m = X.shape[0], columns.shape[1]
    spare = np.empty(m, dtype=np.float32)
    for i in range(0, n, 2):
        # Two rows at a time: every entry of the columns is loaded once for both.
        last = i + 1 == n
        x, z = X[i], X[i] if last else X[i + 1]
        start = i * stride
        row = flat[start : start + m]
        other = spare if last else flat[start + stride : start + stride + m]
        row[:] = np.float32(0.0)
        other[:] = np.float32(0.0)
        if manhattan:
            add_differences(x, z, columns, row, other)
        else:
            add_squares(x, z, columns, row, other)
        apply_function(row, code, power)
        if not last:
            apply_function(other, code, power)
