"""Numba twins of ``ops.arccosine``: one pass over the projections, in place.

They take whole rows and the column where the projections begin: a slice of columns has a
stride that the compiler does not know, and its loops are not vectorised.
"""

from __future__ import annotations

from . import compiled


@compiled
def rectify(out, start, order, scale):
    """Replace the projections P by scale ReLU(P) (order 1) or scale Step(P) (order 0)."""
    real = out.dtype.type
    zero, factor = real(0.0), real(scale)
    for i in range(out.shape[0]):
        row = out[i][start:]
        if order == 1:
            for j in range(row.shape[0]):
                row[j] = row[j] * factor if row[j] > zero else zero
        else:
            for j in range(row.shape[0]):
                row[j] = factor if row[j] > zero else zero


@compiled
def deflate_relu(out, start, scale, radial):
    """Replace the projections P by scale |P| - radial, a number for each row."""
    factor = out.dtype.type(scale)
    for i in range(out.shape[0]):
        row = out[i][start:]
        shift = radial[i]
        for j in range(row.shape[0]):
            row[j] = abs(row[j]) * factor - shift


@compiled
def deflate_step(out, start, scale, mean):
    """Replace the projections P by scale (sign(P) - mean P)."""
    real = out.dtype.type
    zero, one, factor, slope = real(0.0), real(1.0), real(scale), real(mean)
    for i in range(out.shape[0]):
        row = out[i][start:]
        for j in range(row.shape[0]):
            value = row[j]
            sign = one if value > zero else (-one if value < zero else zero)
            row[j] = (sign - slope * value) * factor
