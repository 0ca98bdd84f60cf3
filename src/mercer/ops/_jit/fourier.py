"""Numba twin of ``ops.fourier``: cosine and sine together, eight or four at a time.

A phase is reduced to |r| <= π/4 by subtracting the nearest multiple q of π/2 and both
functions are polynomials there; the last two bits of q say which is which. The
coefficients are those of the Cephes library, published as minimax fits. Rows with a phase
too large for the reduction go to the system's mathematics library.
"""

from __future__ import annotations

import math

import numpy as np

from . import compiled

#: Adding and subtracting 1.5 x 2^52 rounds a float64 to the nearest integer.
_ROUND = 6755399441055744.0
_TWO_OVER_PI = 2.0 / math.pi
#: π/2 in three pieces of 33 bits, so that q times the first two is exact while q < 2^20.
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624871116645580e-21)
#: Largest phases for which the reduction keeps full precision.
_LARGEST_32 = 1e8
_LARGEST_64 = 1.5e6


@compiled
def _beyond(row, size, limit):
    """Return how many phases are too large or not a number.

    A count, because a maximum is not vectorised.
    """
    bound = row.dtype.type(limit)
    count = 0
    for j in range(size):
        count += 0 if abs(row[j]) <= bound else 1
    return count


@compiled
def _by_library(row, start, size, scale):
    """Serve the phases from ``start`` on by the system's cosine, and sine where it has a place."""
    for j in range(start, size):
        phase = np.float64(row[j])
        if not math.isfinite(phase):
            raise ValueError(
                "The product of X with the frequencies overflows; scale X down, use a larger "
                "lengthscale, or pass X in float64."
            )
        row[j] = math.cos(phase) * scale
        if size + j < row.shape[0]:
            row[size + j] = math.sin(phase) * scale


@compiled
def _single(out, size, scale):
    half, one, factor = np.float32(0.5), np.float32(1.0), np.float32(scale)
    s1, s2, s3 = (
        np.float32(-1.6666654611e-1),
        np.float32(8.3321608736e-3),
        np.float32(-1.9515295891e-4),
    )
    c1, c2, c3 = (
        np.float32(4.166664568298827e-2),
        np.float32(-1.388731625493765e-3),
        np.float32(2.443315711809948e-5),
    )
    pairs = out.shape[1] - size
    for i in range(out.shape[0]):
        row = out[i]
        if _beyond(row, size, _LARGEST_32):
            _by_library(row, 0, size, scale)
            continue
        _by_library(row, pairs, size, scale)
        # Two views, because an index such as size + j might be negative for all the compiler
        # knows, and then the loop is not vectorised.
        left, right = row[:pairs], row[size : size + pairs]
        for j in range(pairs):
            phase = np.float64(left[j])
            q = (phase * _TWO_OVER_PI + _ROUND) - _ROUND
            r = np.float32(phase - q * (math.pi / 2))
            z = r * r
            sine = r + r * z * (s1 + z * (s2 + z * s3))
            cosine = one - half * z + z * z * (c1 + z * (c2 + z * c3))
            quadrant = np.int32(q)
            swapped = (quadrant & 1) != 0
            a = sine if swapped else cosine
            b = cosine if swapped else sine
            left[j] = factor * (-a if ((quadrant + 1) & 2) != 0 else a)
            right[j] = factor * (-b if (quadrant & 2) != 0 else b)


@compiled
def _double(out, size, scale):
    pairs = out.shape[1] - size
    for i in range(out.shape[0]):
        row = out[i]
        if _beyond(row, size, _LARGEST_64):
            _by_library(row, 0, size, scale)
            continue
        _by_library(row, pairs, size, scale)
        # Two views, because an index such as size + j might be negative for all the compiler
        # knows, and then the loop is not vectorised.
        left, right = row[:pairs], row[size : size + pairs]
        for j in range(pairs):
            phase = left[j]
            q = (phase * _TWO_OVER_PI + _ROUND) - _ROUND
            r = ((phase - q * _HALF_PI[0]) - q * _HALF_PI[1]) - q * _HALF_PI[2]
            z = r * r
            sine = 1.58962301576546568060e-10 * z - 2.50507477628578072866e-8
            sine = sine * z + 2.75573136213857245213e-6
            sine = sine * z - 1.98412698295895385996e-4
            sine = sine * z + 8.33333333332211858878e-3
            sine = sine * z - 1.66666666666666307295e-1
            sine = r + r * z * sine
            cosine = -1.13585365213876817300e-11 * z + 2.08757008419747316778e-9
            cosine = cosine * z - 2.75573141792967388112e-7
            cosine = cosine * z + 2.48015872888517045348e-5
            cosine = cosine * z - 1.38888888888730564116e-3
            cosine = cosine * z + 4.16666666666665929218e-2
            cosine = 1.0 - 0.5 * z + z * z * cosine
            quadrant = np.int32(q)
            swapped = (quadrant & 1) != 0
            a = sine if swapped else cosine
            b = cosine if swapped else sine
            left[j] = scale * (-a if ((quadrant + 1) & 2) != 0 else a)
            right[j] = scale * (-b if (quadrant & 2) != 0 else b)


#: In place on rows whose first ``size`` columns hold phases: ``f(out, size, scale)``.
cosine_sine_rows = {"float32": _single, "float64": _double}
