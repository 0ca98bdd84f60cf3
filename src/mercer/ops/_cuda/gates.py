"""One pass over the projections of a layer: the fused kernel of ``ops.gates``."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from . import BLOCK, fp64, grid_of


@triton.jit
def _relu_and_gated(
    P, Y, out, n_relu, n_gated, step, y_step, out_step, scale: fp64, root: fp64,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, rectified = column < n_relu + n_gated, column < n_relu
    place = tl.where(rectified, column, column - n_relu)
    half = tl.where(rectified, (n_relu + 1) // 2, (n_gated + 1) // 2)
    mirrored = place >= half
    direction = tl.where(mirrored, place - half, place)
    p = tl.load(P + row * step + direction, mask=inside, other=0.0)
    p = p.to(tl.float64 if P.dtype.element_ty == tl.float64 else tl.float32)
    p = tl.where(mirrored, -p, p)
    y = tl.load(Y + row * y_step + place, mask=inside & (column >= n_relu), other=0.0).to(p.dtype)
    factor, gain = tl.full((1,), scale, p.dtype), tl.full((1,), root, p.dtype)
    value = tl.where(p > 0, tl.where(rectified, factor * p, gain * y), 0.0)
    tl.store(out + row * out_step + column, value.to(out.dtype.element_ty), mask=inside)


def relu_and_gated(
    P: torch.Tensor, Y: torch.Tensor, n_relu: int, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return antithetic ReLU features, and columns times steps; see ``ops.gates``.

    Parameters
    ----------
    P : tensor of shape (n, k)
        Projections.
    Y : tensor of shape (n, g)
        Columns.
    n_relu : int
        Columns of ReLU features.
    out : tensor of shape (n, n_relu + g), default=None
        Where to put the result, in any precision; by default in that of ``Y``.
    """
    n_gated = Y.shape[1]
    if out is None:
        out = torch.empty((P.shape[0], n_relu + n_gated), dtype=Y.dtype, device=Y.device)
    Y = Y if Y.stride(-1) == 1 else Y.contiguous()
    _relu_and_gated[grid_of(P.shape[0], n_relu + n_gated)](
        *(P, Y, out, n_relu, n_gated, P.stride(0), Y.stride(0), out.stride(0)),
        math.sqrt(2 / max(n_relu, 1)),
        math.sqrt(2),
        BLOCK=BLOCK,
    )
    return out
