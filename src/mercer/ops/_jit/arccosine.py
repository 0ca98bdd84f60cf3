"""Numba twins of ``ops.arccosine``: one pass over the projections, in place."""

from __future__ import annotations

import numba

_OPTIONS = {"nogil": True, "cache": True}


@numba.njit(**_OPTIONS)
def rectify(P, order, scale):
    """Replace P by scale ReLU(P) (order 1) or scale Step(P) (order 0)."""
    real = P.dtype.type
    zero, factor = real(0.0), real(scale)
    for i in range(P.shape[0]):
        row = P[i]
        if order == 1:
            for j in range(row.shape[0]):
                row[j] = row[j] * factor if row[j] > zero else zero
        else:
            for j in range(row.shape[0]):
                row[j] = factor if row[j] > zero else zero


@numba.njit(**_OPTIONS)
def deflate_relu(P, scale, radial):
    """Replace P by scale |P| - radial, a number for each row."""
    factor = P.dtype.type(scale)
    for i in range(P.shape[0]):
        row = P[i]
        shift = radial[i]
        for j in range(row.shape[0]):
            row[j] = abs(row[j]) * factor - shift


@numba.njit(**_OPTIONS)
def deflate_step(P, scale, mean):
    """Replace P by scale (sign(P) - mean P)."""
    real = P.dtype.type
    zero, one, factor, slope = real(0.0), real(1.0), real(scale), real(mean)
    for i in range(P.shape[0]):
        row = P[i]
        for j in range(row.shape[0]):
            value = row[j]
            sign = one if value > zero else (-one if value < zero else zero)
            row[j] = (sign - slope * value) * factor
