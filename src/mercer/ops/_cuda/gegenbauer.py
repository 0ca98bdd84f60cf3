"""Sums of Gegenbauer polynomials in registers: the fused kernel of ``ops.gegenbauer``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import BLOCK, grid_of


@triton.jit
def _sums(
    T, weights, slope, back, out, size, step, weight_step, out_step,
    DEGREE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    t = tl.load(T + row * step + column, mask=inside, other=0.0)
    own = weights + row * weight_step
    higher, high = t * 0.0, t * 0.0 + tl.load(own + DEGREE)
    for k in range(DEGREE):
        l = DEGREE - 1 - k
        value = tl.load(own + l) + tl.load(slope + l) * t * high - tl.load(back + l) * higher
        higher = high
        high = value
    tl.store(out + row * out_step + column, high, mask=inside)


def weighted_sum(
    T: torch.Tensor,
    weights: torch.Tensor,
    slope: torch.Tensor,
    back: torch.Tensor,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return Σ_l weights[i, l] p_l(T[i, j]) by Clenshaw's scheme, one look at every number.

    Parameters
    ----------
    T : tensor of shape (n, m)
        Cosines.
    weights : tensor of shape (n, degree + 1)
        Of the degrees.
    slope, back : tensors of shape (degree,)
        As :func:`mercer.ops.gegenbauer.clenshaw_steps` gives them.
    out : tensor of shape (n, m), default=None
        Where to put the result; it may be ``T``.
    """
    n_rows, size = T.shape
    weights = weights.contiguous()
    if out is None:
        out = torch.empty((n_rows, size), dtype=T.dtype, device=T.device)
    _sums[grid_of(n_rows, size)](
        *(T, weights, slope, back, out, size, T.stride(0), weights.stride(0), out.stride(0)),
        DEGREE=weights.shape[1] - 1,
        BLOCK=BLOCK,
    )
    return out
