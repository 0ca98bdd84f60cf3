"""One pass over the projections of a layer: the compiled form of ``ops.gates``."""

from __future__ import annotations

import numpy as np

from . import compiled


@compiled
def add_activated(
    P, norms, planes, runs, n_relu, factor, root, scales, relu, step, pooled, out
):  # fmt: skip
    """Add activated projections, and numbers of neighbours times slopes, to rows or images."""
    n, height, width, _ = planes.shape
    k, half, gates = P.shape[1], (n_relu + 1) // 2, (scales.shape[0] + 1) // 2
    zero, one = P.dtype.type(0.0), P.dtype.type(1.0)
    scales = scales * P.dtype.type(root)
    # For both signs of every direction.
    z, high, low = np.empty(k, P.dtype), np.empty(k, P.dtype), np.empty(k, P.dtype)
    passes, stops = np.empty(k, P.dtype), np.empty(k, P.dtype)
    for image in range(n):
        for y in range(height):
            for x in range(width):
                position = (image * height + y) * width + x
                projected = P[position]
                target = out[image] if pooled else out[position]
                if relu.shape[0] == 0:
                    size = P.dtype.type(factor)
                    for j in range(k):
                        p = projected[j]
                        high[j], low[j] = max(p, zero), max(-p, zero)
                        passes[j], stops[j] = one if p > zero else zero, one if p < zero else zero
                else:
                    length = norms[position]
                    size = P.dtype.type(factor) * length
                    inverse = one / length if length > zero else zero
                    for j in range(k):
                        z[j] = projected[j] * inverse
                    _fill(relu, z, high, low)
                    _fill(step, z, passes, stops)
                for j in range(half):
                    target[j] += size * high[j]
                for j in range(n_relu - half):
                    target[half + j] += size * low[j]
                for run in range(runs.shape[0]):
                    start, stop, channel = runs[run, 0], runs[run, 1], runs[run, 4]
                    down, right = y + runs[run, 2], x + runs[run, 3]
                    if down < 0 or down >= height or right < 0 or right >= width:
                        continue
                    pixel = planes[image, down, right, channel : channel + stop - start]
                    gate = passes[start:stop] if start < gates else stops[start - gates :]
                    own, part = scales[start:stop], target[n_relu + start : n_relu + stop]
                    for j in range(stop - start):
                        part[j] += own[j] * gate[j] * pixel[j]


@compiled
def _fill(coefficients, z, plus, minus):
    """Write a polynomial at z and at -z, by Horner's rule."""
    last = coefficients.shape[0] - 1
    plus[:] = coefficients[last]
    minus[:] = coefficients[last]
    for k in range(last - 1, -1, -1):
        coefficient = coefficients[k]
        for j in range(z.shape[0]):
            plus[j] = coefficient + z[j] * plus[j]
            minus[j] = coefficient - z[j] * minus[j]
