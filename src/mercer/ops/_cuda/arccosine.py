"""One pass over projections: the fused kernels of ``ops.arccosine``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import BLOCK, fp64, grid_of

#: What becomes of a projection P; ``slope`` and ``shift`` are numbers, or one for each row.
RELU: tl.constexpr = tl.constexpr(0)
STEP: tl.constexpr = tl.constexpr(1)
ABSOLUTE: tl.constexpr = tl.constexpr(2)
SIGN: tl.constexpr = tl.constexpr(3)
FORMS = {"relu": 0, "step": 1, "absolute": 2, "sign": 3}


@triton.jit
def _activated(
    P, out, slopes, shifts, size, step, out_step, scale: fp64,
    FORM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    p = tl.load(P + row * step + column, mask=inside, other=0.0)
    factor = tl.full((1,), scale, p.dtype)
    if FORM == RELU:
        value = tl.where(p > 0, p, 0.0) * factor
    elif FORM == STEP:
        value = tl.where(p > 0, factor, 0.0)
    elif FORM == ABSOLUTE:
        value = tl.abs(p) * factor - tl.load(shifts + row)
    else:
        sign = tl.where(p > 0, 1.0, tl.where(p < 0, -1.0, 0.0))
        value = (sign - tl.load(slopes + row) * p) * factor
    tl.store(out + row * out_step + column, value, mask=inside)


def activated(
    P: torch.Tensor,
    form: str,
    scale: float,
    slopes: torch.Tensor | None = None,
    shifts: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return scale ReLU(P), scale Step(P), scale |P| - shift or scale (sign(P) - slope P).

    Parameters
    ----------
    P : tensor of shape (n, m)
        Projections.
    form : {"relu", "step", "absolute", "sign"}
        Which of them.
    scale : float
        The scale.
    slopes, shifts : tensors of shape (n,)
        For ``"sign"``, and for ``"absolute"``.
    out : tensor of shape (n, m), default=None
        Where to put the result; it may be ``P``.
    """
    n_rows, size = P.shape
    if out is None:
        out = torch.empty((n_rows, size), dtype=P.dtype, device=P.device)
    slopes, shifts = (out if part is None else part.contiguous() for part in (slopes, shifts))
    _activated[grid_of(n_rows, size)](
        *(P, out, slopes, shifts, size, P.stride(0), out.stride(0), scale),
        FORM=FORMS[form],
        BLOCK=BLOCK,
    )
    return out
