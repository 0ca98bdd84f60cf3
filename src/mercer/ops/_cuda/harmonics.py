"""Products of columns where they belong: the fused kernel of ``ops.harmonics.quadratic``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import BLOCK, fp64, grid_of


@triton.jit
def _products(
    X, factors, first, second, out, size, width, step, out_step, scale: fp64, mixed: fp64,
    PADDED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    own = tl.arange(0, PADDED)
    x = tl.load(X + row * step + own, mask=own < width, other=0.0)
    mean = tl.sum(x * x, axis=0) / width
    left = tl.load(X + row * step + tl.load(first + column, mask=inside, other=0))
    right = tl.load(X + row * step + tl.load(second + column, mask=inside, other=0))
    factor = tl.load(factors + row)
    square = (left * right - mean) * tl.full((1,), scale, x.dtype)
    product = left * right * tl.full((1,), mixed, x.dtype)
    value = tl.where(column < width, square, product) * factor
    tl.store(out + row * out_step + column, value, mask=inside)


def quadratic(
    X: torch.Tensor,
    factors: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    scale: float,
    out: torch.Tensor,
) -> torch.Tensor:
    """Write squares less their mean, and products of two columns, times factors of rows.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Rows.
    factors : tensor of shape (n,)
        What to multiply every row with.
    first, second : tensors of shape (d (d + 1) / 2,)
        The columns of every product, the squares first.
    scale : float
        What squares are multiplied with; products with √2 times as much.
    out : tensor of shape (n, d (d + 1) / 2)
        The result.
    """
    width = X.shape[1]
    _products[grid_of(X.shape[0], out.shape[1])](
        *(X, factors.contiguous(), first, second, out, out.shape[1], width, X.stride(0)),
        *(out.stride(0), scale, scale * 2**0.5),
        PADDED=triton.next_power_of_2(width),
        BLOCK=BLOCK,
    )
    return out
