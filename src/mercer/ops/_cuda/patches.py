"""Sparse sketches of patches: the fused kernel of ``ops.patches``."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

#: Positions and columns that one program handles: what is known of columns serves all positions.
POSITIONS, COLUMNS = 32, 128


@triton.jit
def _tapped(
    X, offsets, columns, signs, out, n_positions, height, width, step, size, n_taps,
    POSITIONS: tl.constexpr, COLUMNS: tl.constexpr, TOGETHER: tl.constexpr,
):  # fmt: skip
    # Programs for the same positions run together, while what they read is in the cache.
    groups = tl.cdiv(size, COLUMNS)
    position = tl.program_id(0) // groups * POSITIONS + tl.arange(0, POSITIONS)
    column = tl.program_id(0) % groups * COLUMNS + tl.arange(0, COLUMNS)
    inside, known = column < size, position < n_positions
    x, y = position % width, (position // width) % height
    total = tl.zeros((POSITIONS, COLUMNS), dtype=signs.dtype.element_ty)
    for tap in range(n_taps):
        down, right = tl.load(offsets + 2 * tap), tl.load(offsets + 2 * tap + 1)
        channel = tl.load(columns + tap * size + column, mask=inside, other=0)
        # Numbers that follow each other are read at once.
        channel = tl.max_contiguous(tl.multiple_of(channel, TOGETHER), TOGETHER)
        sign = tl.load(signs + tap * size + column, mask=inside, other=0.0)
        lower, beside = y + down, x + right
        there = known & (lower >= 0) & (lower < height) & (beside >= 0) & (beside < width)
        row = (position + down * width + right).to(tl.int64) * step
        at = X + (row[:, None] + channel[None, :])
        value = tl.load(at, mask=there[:, None] & inside[None, :], other=0.0)
        total += value.to(total.dtype) * sign[None, :]
    target = out + (position.to(tl.int64)[:, None] * size + column[None, :])
    tl.store(target, total.to(out.dtype.element_ty), mask=known[:, None] & inside[None, :])


def tapped(
    images: torch.Tensor,
    offsets: torch.Tensor,
    columns: torch.Tensor,
    signs: torch.Tensor,
    together: int = 1,
) -> torch.Tensor:
    """Return the sketches of all patches, in the dtype of the images; summed in that of the signs.

    Parameters
    ----------
    images : tensor of shape (n, height, width, channels)
        Images, possibly in bfloat16.
    offsets : int32 tensor of shape (n_taps, 2)
        Which neighbours.
    columns : int32 tensor of shape (n_taps, size)
        Which of their channels.
    signs : tensor of shape (n_taps, size)
        Times what.
    together : int, default=1
        Channels come in runs of so many, each of which begins at a multiple of this number.
    """
    n, height, width, _ = images.shape
    n_taps, size = columns.shape
    images = images.contiguous()
    found = torch.empty((n * height * width, size), dtype=images.dtype, device=images.device)
    n_programs = triton.cdiv(found.shape[0], POSITIONS) * triton.cdiv(size, COLUMNS)
    _tapped[(n_programs,)](
        *(images, offsets, columns, signs, found, found.shape[0]),
        *(height, width, images.stride(2), size, n_taps),
        POSITIONS=POSITIONS,
        COLUMNS=COLUMNS,
        TOGETHER=together,
    )
    return found
