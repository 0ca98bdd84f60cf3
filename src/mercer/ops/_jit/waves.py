"""Bits of rounded cosines and sines of phases, 64 of each at a time."""

from __future__ import annotations

import numpy as np

from . import compiled
from .ternary import PANEL, bits_above


@compiled
def wave_planes(Z, scales, shifts, low, middle, high, levels, size, planes, first):
    """Write the bits of the cosines and sines of projections; return whether all are finite.

    Bounds are given once for each value of a word.
    """
    n, k = Z.shape
    cosines, sines = np.zeros(PANEL, Z.dtype), np.zeros(PANEL, Z.dtype)
    half, three_quarters = Z.dtype.type(0.5), Z.dtype.type(0.75)
    wrong = 0
    for i in range(n):
        for c in range(0, k, PANEL):
            count = min(PANEL, k - c)
            for j in range(count):
                turns = Z[i, c + j] * scales[c + j] + shifts[c + j]
                part = turns - np.floor(turns)
                cosines[j] = abs(part - half)
                other = part + three_quarters
                sines[j] = abs(other - np.floor(other) - half)
                wrong |= part != part
            left = min(count, size - 2 * c - count)
            for plane in range(planes.shape[0]):
                first_word = _word(cosines, count, low, middle, high, levels, plane)
                second_word = _word(sines, left, low, middle, high, levels, plane)
                word = 2 * c // PANEL
                if count == PANEL:
                    planes[plane, first + i, word] = first_word
                    planes[plane, first + i, word + 1] = second_word
                else:
                    planes[plane, first + i, word] = first_word | second_word << np.uint64(count)
                    if word + 1 < planes.shape[2]:
                        spilled = second_word >> np.uint64(PANEL - count)
                        planes[plane, first + i, word + 1] = spilled
    return wrong == 0


@compiled
def _word(values, count, low, middle, high, levels, plane):
    """Return the bits of one plane of at most 64 values."""
    if levels == 2:
        return bits_above(values, 0, middle, 0, count)
    if levels == 3:
        if plane == 0:
            return bits_above(values, 0, high, 0, count)
        return bits_above(low, 0, values, 0, count)
    upper = bits_above(values, 0, middle, 0, count)
    if plane == 1:
        return upper
    return bits_above(values, 0, low, 0, count) ^ upper ^ bits_above(values, 0, high, 0, count)
