"""Signed sums of columns with the same hash: the fused kernel of ``ops.count_sketch``.

Every number of the result gathers the columns that belong to it, a few of a row that lies in the
cache: nothing is added from several sides at once, so that results do not depend on the order.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import grid_of

#: Places that one program fills: the fullest of them says how long it takes.
BLOCK = 128


@triton.jit
def _gathered(X, starts, columns, signs, out, size, step, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    first = tl.load(starts + place, mask=inside, other=0)
    count = tl.load(starts + place + 1, mask=inside, other=0) - first
    total = tl.zeros((BLOCK,), dtype=X.dtype.element_ty)
    k, most = 0, tl.max(count, axis=0)
    while k < most:
        there = inside & (k < count)
        column = tl.load(columns + first + k, mask=there, other=0)
        sign = tl.load(signs + first + k, mask=there, other=0.0)
        total += sign * tl.load(X + row * step + column, mask=there, other=0.0)
        k += 1
    tl.store(out + row * size + place, total, mask=inside)


def count_sketch(
    X: torch.Tensor,
    starts: torch.Tensor,
    columns: torch.Tensor,
    signs: torch.Tensor,
    size: int,
) -> torch.Tensor:
    """Return ``size`` columns, each the sum of the signed columns of ``X`` with its hash.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Rows.
    starts : tensor of shape (size + 1,)
        Where the columns of every place begin.
    columns, signs : tensors of shape (d,)
        The columns, place by place, and their signs.
    size : int
        Columns of the result.
    """
    out = torch.empty((X.shape[0], size), dtype=X.dtype, device=X.device)
    _gathered[grid_of(X.shape[0], size, BLOCK)](
        *(X, starts, columns, signs, out, size, X.stride(0)), BLOCK=BLOCK, num_warps=1
    )
    return out
