"""One pass over the projections of a layer: the fused kernel of ``ops.gates``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import fp64

#: Positions and columns that one program handles at a time.
POSITIONS, COLUMNS = 32, 128


@triton.jit
def _activated(
    P, norms, planes, places, scales, relu, step, out, n_positions, height, width, n_relu, n_gated,
    each, p_step, planes_step, factor: fp64, root: fp64, share: fp64,
    DEGREE: tl.constexpr, POOLED: tl.constexpr, TOGETHER: tl.constexpr,
    POSITIONS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    real = tl.float64 if P.dtype.element_ty == tl.float64 else tl.float32
    rectifying = tl.cdiv(n_relu, COLUMNS)
    groups = rectifying + tl.cdiv(n_gated, COLUMNS)
    # Programs for the same positions run together, while what they read is in the cache. Each has
    # columns of one kind.
    begin = tl.program_id(0) // groups * each
    end = tl.minimum(begin + each, n_positions)
    group = tl.program_id(0) % groups
    rectified = group < rectifying
    n_kind = tl.where(rectified, n_relu, n_gated)
    place = (group - tl.where(rectified, 0, rectifying)) * COLUMNS + tl.arange(0, COLUMNS)
    inside, half = place < n_kind, (n_kind + 1) // 2
    gated = inside & (group >= rectifying)
    mirrored = place >= half
    sign = tl.where(mirrored, -1.0, 1.0).to(real)
    direction = tl.where(mirrored, place - half, place)
    down = tl.load(places + place, mask=gated, other=0)
    right = tl.load(places + n_gated + place, mask=gated, other=0)
    channel = tl.load(places + 2 * n_gated + place, mask=gated, other=0)
    # Numbers that follow each other are read at once.
    direction = tl.max_contiguous(tl.multiple_of(direction, TOGETHER), TOGETHER)
    channel = tl.max_contiguous(tl.multiple_of(channel, TOGETHER), TOGETHER)
    gain = tl.load(scales + place, mask=gated, other=0.0).to(real) * tl.full((1,), root, real)
    total = tl.zeros((COLUMNS,), dtype=real)
    for first in range(begin, end, POSITIONS):
        position = first + tl.arange(0, POSITIONS)
        known = position < end
        mask = known[:, None] & inside[None, :]
        at = (position.to(tl.int64) * p_step)[:, None] + direction[None, :]
        p = tl.load(P + at, mask=mask, other=0.0).to(real) * sign[None, :]
        length = tl.zeros((POSITIONS,), dtype=real) + 1.0
        if DEGREE > 0:
            length = tl.load(norms + position, mask=known, other=0.0).to(real)
        z = p * (1.0 / tl.where(length > 0, length, 1.0))[:, None]
        value = tl.zeros((POSITIONS, COLUMNS), dtype=real)
        if rectified:
            if DEGREE == 0:
                value = tl.where(p > 0, p, 0.0)
            else:
                value += tl.load(relu + DEGREE).to(real)
                for k in tl.static_range(DEGREE):
                    value = value * z + tl.load(relu + DEGREE - 1 - k).to(real)
            value = value * (tl.full((1,), factor, real) * length)[:, None]
        else:
            x, y = position % width, (position // width) % height
            lower, beside = y[:, None] + down[None, :], x[:, None] + right[None, :]
            there = (lower >= 0) & (lower < height) & (beside >= 0) & (beside < width) & mask
            row = (position.to(tl.int64) * planes_step)[:, None] + channel[None, :]
            neighbour = row + ((down * width + right) * planes_step)[None, :]
            passed = tl.load(planes + neighbour, mask=there, other=0.0).to(real) * gain[None, :]
            if DEGREE == 0:
                value = tl.where(p > 0, passed, 0.0)
            else:
                for k in tl.static_range(DEGREE):
                    value = value * z + tl.load(step + DEGREE - 1 - k).to(real)
                value = value * passed
        column = place + tl.where(rectified, 0, n_relu)
        if POOLED:
            total += tl.sum(tl.where(known[:, None], value, 0.0), axis=0)
        else:
            target = out + (position.to(tl.int64)[:, None] * (n_relu + n_gated) + column[None, :])
            tl.store(target, value.to(out.dtype.element_ty), mask=mask)
    if POOLED:
        mean = total * tl.full((1,), share, real)
        column = place + tl.where(rectified, 0, n_relu)
        target = out + (tl.program_id(0) // groups).to(tl.int64) * (n_relu + n_gated) + column
        tl.store(target, mean.to(out.dtype.element_ty), mask=inside)


def activated(
    P: torch.Tensor,
    norms: torch.Tensor | None,
    planes: torch.Tensor,
    places: torch.Tensor,
    scales: torch.Tensor,
    n_relu: int,
    factor: float,
    root: float,
    relu: torch.Tensor,
    step: torch.Tensor,
    pooled: bool,
    together: int = 1,
) -> torch.Tensor:
    """Return activated projections, and numbers of neighbours times slopes; see ``ops.gates``.

    Parameters
    ----------
    P : tensor of shape (n * height * width, k)
        Projections.
    norms : tensor of shape (n * height * width,) or None
        Of what was projected.
    planes : tensor of shape (n, height, width, channels)
        What columns are taken from.
    places : int32 tensor of shape (3, g)
        Steps down and to the right, and channels.
    scales : tensor of shape (g,)
        Times what; says in which dtype means are.
    n_relu : int
        Columns of activated projections.
    factor, root : float
        Factors of activations and slopes.
    relu, step : tensor
        Coefficients of powers; empty for the ReLU itself.
    pooled : bool
        Whether means over the positions of each image are wanted.
    together : int, default=1
        Channels come in runs of so many, each of which begins at a multiple of this number.
    """
    n, height, width, _ = planes.shape
    positions, n_gated = height * width, scales.shape[0]
    planes, P = planes.contiguous(), P.contiguous()
    # Directions, too, are read together where each sign has a multiple of so many.
    halves = (n_relu + 1) // 2, (n_gated + 1) // 2, planes.shape[-1], P.shape[1]
    together = together if all(size % together == 0 for size in halves) else 1
    rows, dtype = (n, scales.dtype) if pooled else (n * positions, planes.dtype)
    out = torch.empty((rows, n_relu + n_gated), dtype=dtype, device=P.device)
    each = positions if pooled else POSITIONS
    n_programs = triton.cdiv(n * positions, each) * (
        triton.cdiv(n_relu, COLUMNS) + triton.cdiv(n_gated, COLUMNS)
    )
    _activated[(n_programs,)](
        *(P, scales if norms is None else norms, planes, places, scales, relu, step, out),
        *(n * positions, height, width, n_relu, n_gated, each, P.stride(0), planes.stride(2)),
        *(factor, root, 1.0 / positions),
        DEGREE=max(0, relu.shape[0] - 1),
        POOLED=pooled,
        TOGETHER=together,
        POSITIONS=POSITIONS,
        COLUMNS=COLUMNS,
    )
    return out
