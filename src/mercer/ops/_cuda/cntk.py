"""A layer of the convolutional tangent kernel for all entries of pairs of images: one pass.

Each entry gathers what it needs from its neighbours: δ and T of the layer before, and pixels or
norms of patches, of which there are few. Angles are made of squares of differences throughout, as
``ops.cntk`` does where they are extreme: sums of positive terms, which float32 suffices for.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from .angles import arcsine_ratio

#: Positions of the second image that a program handles.
ENTRIES = 512
_PI: tl.constexpr = tl.constexpr(math.pi)


@triton.jit
def _layer(
    x, y, inverses_x, inverses_y, norms_x, norms_y, first, second, delta, tangents,
    delta_out, tangents_out, n_channels, height, width,
    REACH_H: tl.constexpr, REACH_W: tl.constexpr, FIRST: tl.constexpr, ADD: tl.constexpr,
    WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    size = height * width
    pair = (tl.program_id(0) // size).to(tl.int64)
    p = tl.program_id(0) % size
    q = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    exists = q < size
    left, right = tl.load(first + pair), tl.load(second + pair)
    a = tl.load(inverses_x + left * size + p)
    b = tl.load(inverses_y + right * size + q, mask=exists, other=0.0)
    near = tl.zeros((BLOCK,), dtype=b.dtype)
    far, tangent = near, near
    for down in tl.static_range(-REACH_H, REACH_H + 1):
        for along in tl.static_range(-REACH_W, REACH_W + 1):
            step = down * width + along
            h, w = p // width + down, p % width + along
            in_x = (h >= 0) & (h < height) & (w >= 0) & (w < width)
            h_y, w_y = q // width + down, q % width + along
            in_y = exists & (h_y >= 0) & (h_y < height) & (w_y >= 0) & (w_y < width)
            if FIRST:
                for channel in range(n_channels):
                    here = (left * n_channels + channel) * size + p + step
                    there = (right * n_channels + channel) * size + q + step
                    u = a * tl.load(x + here, mask=in_x, other=0.0)
                    v = b * tl.load(y + there, mask=in_y, other=0.0)
                    near += 0.25 * (u - v) * (u - v)
                    far += 0.25 * (u + v) * (u + v)
                    tangent += u * v
            else:
                u = a * tl.load(x + left * size + p + step, mask=in_x, other=0.0)
                v = b * tl.load(y + right * size + q + step, mask=in_y, other=0.0)
                place = (pair * size + p + step) * size + q + step
                both = in_y & (h_y < tl.where(in_x, height, 0))
                lost = tl.load(delta + place, mask=both, other=0.0)
                near += 0.25 * (u - v) * (u - v) + 0.5 * u * v * lost
                tangent += tl.load(tangents + place, mask=both, other=0.0)
    scale = tl.load(norms_x + left * size + p) * tl.load(
        norms_y + right * size + q, mask=exists, other=0.0
    )
    if FIRST:
        obtuse = far < near
        w = tl.minimum(near, far)
        # The inner product of unit patches is the cosine.
        tangent = tangent * scale
    else:
        obtuse = near < 0.0
        w = near
        tangent = tangent / ((2 * REACH_H + 1) * (2 * REACH_W + 1))
    w = tl.minimum(w, 0.5)
    u, v = tl.where(obtuse, 1.0 - w, w), tl.where(obtuse, w, 1.0 - w)
    acute = 2.0 * tl.sqrt(w) * arcsine_ratio(w, WIDE)
    theta = tl.where(obtuse, _PI - acute, acute)
    share = acute * (1.0 / _PI)
    d = tl.where(obtuse, share, 1.0 - share)
    lost = 2.0 * u - (2.0 * tl.sqrt(u * v) - theta * (v - u)) * (1.0 / _PI)
    tangent = tangent * d
    if ADD:
        tangent += scale * (1.0 - lost)
    place = (pair * size + p) * size + q
    tl.store(delta_out + place, lost, mask=exists)
    tl.store(tangents_out + place, tangent, mask=exists)


def mean_tangents(
    x: torch.Tensor,
    y: torch.Tensor,
    norms: tuple[torch.Tensor, torch.Tensor],
    inverses: tuple[torch.Tensor, torch.Tensor],
    pairs: tuple[torch.Tensor, torch.Tensor],
    reaches: tuple[int, int],
    readout: bool,
) -> torch.Tensor:
    """Return the mean of all entries of the last layer, for each pair, in float64.

    Parameters
    ----------
    x, y : tensors of shape (n, channels, height, width)
        Pixels, in the dtype of the recursion.
    norms, inverses : pairs of tensors of shape (depth, n, height, width)
        Norms of patches of both sides in each layer; inverses are divided by √taps.
    pairs : pair of int64 tensors
        Places in ``x`` and ``y``.
    reaches : pair of int
        How far a patch reaches from its middle, in rows and columns.
    readout : bool
        Whether the last layer is trained.
    """
    n_pairs, (n_channels, height, width) = pairs[0].shape[0], x.shape[1:]
    size, depth = height * width, norms[0].shape[0]
    grid = n_pairs * size, triton.cdiv(size, ENTRIES)
    delta, tangents, delta_out, tangents_out = (
        torch.empty((n_pairs, size, size), dtype=x.dtype, device=x.device) for _ in range(4)
    )
    left, right = x.contiguous(), y.contiguous()
    for layer in range(depth):
        _layer[grid](
            *(left, right, inverses[0][layer], inverses[1][layer]),
            *(norms[0][layer], norms[1][layer], *pairs, delta, tangents),
            *(delta_out, tangents_out, n_channels, height, width, *reaches),
            FIRST=layer == 0,
            ADD=readout or layer < depth - 1,
            WIDE=x.dtype == torch.float64,
            BLOCK=min(ENTRIES, triton.next_power_of_2(size)),
        )
        delta, delta_out = delta_out, delta
        tangents, tangents_out = tangents_out, tangents
        left, right = norms[0][layer], norms[1][layer]
    return tangents.sum(dim=(1, 2), dtype=torch.float64) / size**2
