"""Words of 64 bits: unpacking, transposing, and counts of bits that two of them share.

The loops over bits run over all 64 of a word, so that they become SIMD instructions; counts are
the processor's own, for eight words at once where it has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from . import compiled

#: Bits of a word.
BITS = 64
#: Rows of the right side whose counts with a pair of rows run side by side.
SIDE = 4


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Return how many bits of a word are set."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


@compiled
def unpack_rows(planes, weights, offset, out):
    """Write ``offset`` and the weights of the bits that are set to ``out``."""
    n, m = out.shape
    whole = m // BITS
    zero, start = weights[0] - weights[0], offset[0]
    values = np.empty(BITS, out.dtype)
    for i in range(n):
        for w in range(planes.shape[2]):
            values[:] = start
            for k in range(planes.shape[0]):
                word, weight = planes[k, i, w], weights[k]
                for c in range(BITS):
                    values[c] += weight if (word >> np.uint64(c)) & np.uint64(1) else zero
            if w < whole:
                target = out[i, w * BITS : w * BITS + BITS]
                for c in range(BITS):
                    target[c] = values[c]
            else:
                for c in range(m - w * BITS):
                    out[i, w * BITS + c] = values[c]


@compiled
def transpose_bits(plane, out):
    """Write bit i of word w of column c to ``out[c, w]``, from bit c of row 64 w + i of ``plane``.

    ``out`` has a row for each of 64 bits of the words of ``plane``; missing rows are zeros.
    """
    n, words = plane.shape
    block = np.empty(BITS, np.uint64)
    for first in range(0, n, BITS):
        rows = min(BITS, n - first)
        for w in range(words):
            for i in range(rows):
                block[i] = plane[first + i, w]
            for i in range(rows, BITS):
                block[i] = 0
            # Off-diagonal squares of 32, 16, ... bits change places.
            distance, mask = 32, np.uint64(0x00000000FFFFFFFF)
            while distance:
                shift = np.uint64(distance)
                for start in range(0, BITS, 2 * distance):
                    for i in range(start, start + distance):
                        upper, lower = block[i], block[i + distance]
                        swap = ((upper >> shift) ^ lower) & mask
                        block[i] = upper ^ (swap << shift)
                        block[i + distance] = lower ^ swap
                distance >>= 1
                mask ^= mask << np.uint64(distance)
            for i in range(BITS):
                out[w * BITS + i, first // BITS] = block[i]


@compiled
def count_rows(plane, out):
    """Add how many bits of every row are set to ``out``."""
    for i in range(plane.shape[0]):
        total = np.uint64(0)
        for w in range(plane.shape[1]):
            total += _popcount(plane[i, w])
        out[i] += np.int64(total)


@compiled
def add_shared(left, right, weight, out):
    """Add ``weight`` times how many bits the rows of two planes share to ``out``."""
    n, m, words = left.shape[0], right.shape[0], left.shape[1]
    for i in range(0, n, 2):
        a, b = left[i], left[min(i + 1, n - 1)]
        for j in range(0, m, SIDE):
            y0, y1 = right[j], right[min(j + 1, m - 1)]
            y2, y3 = right[min(j + 2, m - 1)], right[min(j + 3, m - 1)]
            a0, a1, a2, a3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            b0, b1, b2, b3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for w in range(words):
                p, q = a[w], b[w]
                u0, u1, u2, u3 = y0[w], y1[w], y2[w], y3[w]
                a0 += _popcount(p & u0)
                a1 += _popcount(p & u1)
                a2 += _popcount(p & u2)
                a3 += _popcount(p & u3)
                b0 += _popcount(q & u0)
                b1 += _popcount(q & u1)
                b2 += _popcount(q & u2)
                b3 += _popcount(q & u3)
            _add_four(out, i, j, weight, a0, a1, a2, a3)
            if i + 1 < n:
                _add_four(out, i + 1, j, weight, b0, b1, b2, b3)


@compiled
def add_signed(ones, minus, others, minus_others, weight, out):
    """Add ``weight`` times inner products of the rows of two ternary blocks to ``out``.

    Each block has a plane of ones and a plane of minus ones. An entry is not zero where its planes
    differ; the signs of two such entries differ where the planes of minus ones do.
    """
    n, m, words = ones.shape[0], others.shape[0], ones.shape[1]
    two = np.int64(2)
    for i in range(0, n, 2):
        last = min(i + 1, n - 1)
        a, minus_a, b, minus_b = ones[i], minus[i], ones[last], minus[last]
        for j in range(0, m, 2):
            other = min(j + 1, m - 1)
            y, minus_y, z, minus_z = others[j], minus_others[j], others[other], minus_others[other]
            ay, az, by, bz = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            off_ay, off_az, off_by, off_bz = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for w in range(words):
                p, q, u, v = minus_a[w], minus_b[w], minus_y[w], minus_z[w]
                at_a, at_b, at_y, at_z = a[w] ^ p, b[w] ^ q, y[w] ^ u, z[w] ^ v
                ay += _popcount(at_a & at_y)
                az += _popcount(at_a & at_z)
                by += _popcount(at_b & at_y)
                bz += _popcount(at_b & at_z)
                off_ay += _popcount(at_a & at_y & (p ^ u))
                off_az += _popcount(at_a & at_z & (p ^ v))
                off_by += _popcount(at_b & at_y & (q ^ u))
                off_bz += _popcount(at_b & at_z & (q ^ v))
            out[i, j] += weight * (np.int64(ay) - two * np.int64(off_ay))
            if j + 1 < m:
                out[i, j + 1] += weight * (np.int64(az) - two * np.int64(off_az))
            if i + 1 < n:
                out[i + 1, j] += weight * (np.int64(by) - two * np.int64(off_by))
                if j + 1 < m:
                    out[i + 1, j + 1] += weight * (np.int64(bz) - two * np.int64(off_bz))


@compiled
def _add_four(out, i, j, weight, c0, c1, c2, c3):
    """Add four counts to neighbouring entries of a row, as far as it reaches."""
    few = out.shape[1] - j
    out[i, j] += weight * np.int64(c0)
    if few > 1:
        out[i, j + 1] += weight * np.int64(c1)
    if few > 2:
        out[i, j + 2] += weight * np.int64(c2)
    if few > 3:
        out[i, j + 3] += weight * np.int64(c3)


@compiled
def add_masked(plane, Y, weight, out):
    """Add ``weight`` times the rows of ``Y`` to the columns of ``out`` whose bits are set.

    ``out`` has a row for each column of ``Y``, and 64 columns for each word.
    """
    for i in range(plane.shape[0]):
        for t in range(Y.shape[1]):
            value, target = weight * Y[i, t], out[t]
            for w in range(plane.shape[1]):
                word, few = plane[i, w], target[w * BITS : w * BITS + BITS]
                for c in range(BITS):
                    few[c] += value if (word >> np.uint64(c)) & np.uint64(1) else 0.0
