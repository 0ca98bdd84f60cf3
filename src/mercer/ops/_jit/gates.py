"""One pass over the projections of a layer: the compiled form of ``ops.gates``."""

from __future__ import annotations

from . import compiled


@compiled
def relu_and_gated(P, Y, n_relu, scale, out):
    """Write scaled ReLU(P) and ReLU(-P), then the columns of Y that Step(P), Step(-P) let pass."""
    n, n_gated = Y.shape
    half, gates = (n_relu + 1) // 2, (n_gated + 1) // 2
    root = P.dtype.type(2.0**0.5)
    factor, zero = P.dtype.type(scale), P.dtype.type(0.0)
    for i in range(n):
        projected, row, target = P[i], Y[i], out[i]
        for j in range(half):
            target[j] = factor * max(projected[j], zero)
        for j in range(n_relu - half):
            target[half + j] = factor * max(-projected[j], zero)
        for j in range(gates):
            target[n_relu + j] = root * row[j] if projected[j] > zero else zero
        for j in range(n_gated - gates):
            other = gates + j
            target[n_relu + other] = root * row[other] if projected[j] < zero else zero
