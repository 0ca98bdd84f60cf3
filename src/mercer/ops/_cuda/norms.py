"""Norms and unit rows in one look at every row: the fused kernel of ``ops.norms``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _unit_rows(X, unit, norms, width, step, UNIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < width
    x = tl.load(X + row * step + column, mask=inside, other=0.0).to(norms.dtype.element_ty)
    # Squares of very large or very small numbers are out of range.
    largest = tl.max(tl.abs(x), axis=0)
    x = x / tl.where(largest > 0.0, largest, 1.0)
    norm = tl.sqrt(tl.sum(x * x, axis=0))
    if UNIT:
        x = x / tl.where(norm > 0.0, norm, 1.0)
        tl.store(unit + row * width + column, x.to(unit.dtype.element_ty), mask=inside)
    tl.store(norms + row, largest * norm)


def unit_rows(X: torch.Tensor, unit: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows divided by their norms (or an empty tensor), and the norms."""
    n_rows, width = X.shape
    found = torch.empty(X.shape if unit else (0, width), dtype=X.dtype, device=X.device)
    # Of rows in bfloat16 the norms are in float32.
    dtype = torch.float64 if X.dtype == torch.float64 else torch.float32
    norms = torch.empty(n_rows, dtype=dtype, device=X.device)
    _unit_rows[(n_rows,)](
        *(X, found, norms, width, X.stride(0)), UNIT=unit, BLOCK=triton.next_power_of_2(width)
    )
    return found, norms
