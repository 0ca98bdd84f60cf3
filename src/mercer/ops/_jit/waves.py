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
                later = part + three_quarters
                sines[j] = abs(later - np.floor(later) - half)
                wrong |= part != part
            left = min(count, size - 2 * c - count)
            first_words = _words(cosines, count, low, middle, high, levels)
            second_words = _words(sines, left, low, middle, high, levels)
            word = 2 * c // PANEL
            for plane in range(planes.shape[0]):
                one, other = first_words[plane], second_words[plane]
                if count == PANEL:
                    planes[plane, first + i, word] = one
                    planes[plane, first + i, word + 1] = other
                else:
                    planes[plane, first + i, word] = one | other << np.uint64(count)
                    if word + 1 < planes.shape[2]:
                        planes[plane, first + i, word + 1] = other >> np.uint64(PANEL - count)
    return wrong == 0


@compiled
def _words(values, count, low, middle, high, levels):
    """Return the bits of both planes of at most 64 values; with two levels the second is 0."""
    if levels == 2:
        return bits_above(values, 0, middle, 0, count), np.uint64(0)
    above = bits_above(values, 0, high, 0, count)
    if levels == 3:
        return above, bits_above(low, 0, values, 0, count)
    upper = bits_above(values, 0, middle, 0, count)
    return bits_above(values, 0, low, 0, count) ^ upper ^ above, upper
