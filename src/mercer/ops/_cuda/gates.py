"""One pass over the projections of a layer: the fused kernel of ``ops.gates``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import fp64

#: Positions and columns that one program handles at a time.
POSITIONS, COLUMNS = 16, 128


@triton.jit
def _activated(
    P, norms, planes, places, scales, relu, step, out, n_positions, height, width, n_relu, n_gated,
    each, p_step, planes_step, factor: fp64, root: fp64, share: fp64,
    DEGREE: tl.constexpr, POOLED: tl.constexpr, POSITIONS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    real = tl.float64 if P.dtype.element_ty == tl.float64 else tl.float32
    size = n_relu + n_gated
    groups = tl.cdiv(size, COLUMNS)
    # Programs for the same positions run together, while what they read is in the cache.
    begin = tl.program_id(0) // groups * each
    end = tl.minimum(begin + each, n_positions)
    column = tl.program_id(0) % groups * COLUMNS + tl.arange(0, COLUMNS)
    inside, rectified = column < size, column < n_relu
    gated = inside & (column >= n_relu)
    place = tl.where(rectified, column, column - n_relu)
    half = tl.where(rectified, (n_relu + 1) // 2, (n_gated + 1) // 2)
    mirrored = place >= half
    direction = tl.where(mirrored, place - half, place)
    down = tl.load(places + place, mask=gated, other=0)
    right = tl.load(places + n_gated + place, mask=gated, other=0)
    channel = tl.load(places + 2 * n_gated + place, mask=gated, other=0)
    gain = tl.load(scales + place, mask=gated, other=0.0).to(real) * tl.full((1,), root, real)
    total = tl.zeros((COLUMNS,), dtype=real)
    for first in range(begin, end, POSITIONS):
        position = first + tl.arange(0, POSITIONS)
        known = position < end
        x, y = position % width, (position // width) % height
        at = position.to(tl.int64)[:, None] * p_step + direction[None, :]
        p = tl.load(P + at, mask=known[:, None] & inside[None, :], other=0.0).to(real)
        p = tl.where(mirrored[None, :], -p, p)
        lower, beside = y[:, None] + down[None, :], x[:, None] + right[None, :]
        there = (lower >= 0) & (lower < height) & (beside >= 0) & (beside < width)
        there = there & known[:, None] & gated[None, :]
        row = position[:, None] + down[None, :] * width + right[None, :]
        neighbour = row.to(tl.int64) * planes_step + channel[None, :]
        passed = tl.load(planes + neighbour, mask=there, other=0.0).to(real) * gain[None, :]
        if DEGREE == 0:
            high = tl.full((1,), factor, real) * p
            value = tl.where(p > 0, tl.where(rectified[None, :], high, passed), 0.0)
        else:
            length = tl.load(norms + position, mask=known, other=0.0).to(real)
            z = p / tl.where(length > 0, length, 1.0)[:, None]
            high = tl.load(relu + DEGREE).to(real) + tl.zeros_like(z)
            slope = tl.zeros_like(z)
            for k in tl.static_range(DEGREE):
                high = high * z + tl.load(relu + DEGREE - 1 - k).to(real)
                slope = slope * z + tl.load(step + DEGREE - 1 - k).to(real)
            high = high * (tl.full((1,), factor, real) * length)[:, None]
            value = tl.where(rectified[None, :], high, slope * passed)
        if POOLED:
            total += tl.sum(tl.where(known[:, None], value, 0.0), axis=0)
        else:
            target = out + (position.to(tl.int64)[:, None] * size + column[None, :])
            mask = known[:, None] & inside[None, :]
            tl.store(target, value.to(out.dtype.element_ty), mask=mask)
    if POOLED:
        mean = total * tl.full((1,), share, real)
        target = out + (tl.program_id(0) // groups).to(tl.int64) * size + column
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
    """
    n, height, width, _ = planes.shape
    positions, n_gated = height * width, scales.shape[0]
    planes = planes if planes.stride(-1) == 1 else planes.contiguous()
    P = P if P.stride(-1) == 1 else P.contiguous()
    if planes.stride(1) != width * planes.stride(2) or planes.stride(0) != positions * planes.stride(2):
        planes = planes.contiguous()
    rows, dtype = (n, scales.dtype) if pooled else (n * positions, planes.dtype)
    out = torch.empty((rows, n_relu + n_gated), dtype=dtype, device=P.device)
    each = positions if pooled else POSITIONS
    n_programs = triton.cdiv(n * positions, each) * triton.cdiv(n_relu + n_gated, COLUMNS)
    _activated[(n_programs,)](
        *(P, scales if norms is None else norms, planes, places, scales, relu, step, out),
        *(n * positions, height, width, n_relu, n_gated, each, P.stride(0), planes.stride(2)),
        *(factor, root, 1.0 / positions),
        DEGREE=max(0, relu.shape[0] - 1),
        POOLED=pooled,
        POSITIONS=POSITIONS,
        COLUMNS=COLUMNS,
    )
    return out
