"""From cosines of unit rows to kernels of ReLU networks: one look at every pair.

The fused kernel of ``ops.distances.signed_half_chords`` and ``ops.angles.relu_kernel``: angles
near 0 and 180 degrees are measured from the rows themselves, where there are any in a tile.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from . import fp64

#: Rows and columns of the tile of a program.
ROWS, COLUMNS = 32, 64
_PI: tl.constexpr = tl.constexpr(math.pi)
_SMALLEST: tl.constexpr = tl.constexpr(1e-300)


@triton.jit
def arcsine_ratio(w, WIDE: tl.constexpr):
    """Return arcsin(√w)/√w for w in [0, 1/2], by the polynomials of the compiled loops."""
    if WIDE:
        value = w * 1.4326072705765098 - 6.008042872156452
        value = value * w + 11.99054929620933
        value = value * w - 14.884387574231052
        value = value * w + 12.830658050319302
        value = value * w - 8.097162378402428
        value = value * w + 3.878312067627145
        value = value * w - 1.4218180318389972
        value = value * w + 0.41616195625122965
        value = value * w - 0.08458119964926274
        value = value * w + 0.02446902457333711
        value = value * w + 0.00758177172566054
        value = value * w + 0.011778012699157943
        value = value * w + 0.01394720494599378
        value = value * w + 0.017353770558111315
        value = value * w + 0.022372118687437575
        value = value * w + 0.03038194552436468
        value = value * w + 0.04464285712523146
        value = value * w + 0.075000000000152
        value = value * w + 0.16666666666666616
        value = value * w + 1.0
    else:
        value = w * 0.12391349490512975 - 0.13591627123984387
        value = value * w + 0.10740002130174647
        value = value * w - 0.0070205791522944755
        value = value * w + 0.03581423928401177
        value = value * w + 0.04409161673371687
        value = value * w + 0.07502757316352404
        value = value * w + 0.16666614237824284
        value = value * w + 1.0000000016226234
    return value


@triton.jit
def _relu_layers(
    cosines, X, Y, norms_x, norms_y, out,
    n_rows, n_columns, step, x_step, y_step, out_step, near: fp64,
    WIDTH: tl.constexpr, DEPTH: tl.constexpr, QUANTITY: tl.constexpr, WIDE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    i = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    j = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    inside = (i < n_rows)[:, None] & (j < n_columns)[None, :]
    cosine = tl.load(cosines + i[:, None] * step + j[None, :], mask=inside, other=0.0)
    half = 0.5 * cosine
    code = tl.where(half < 0.0, -(0.5 + half), 0.5 - half)
    extreme = (tl.abs(code) < near) & inside
    if tl.sum(tl.sum(extreme.to(tl.int32), axis=1), axis=0) > 0:
        close = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
        apart = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
        for k in range(WIDTH):
            x = tl.load(X + i * x_step + k, mask=i < n_rows, other=0.0)
            y = tl.load(Y + j * y_step + k, mask=j < n_columns, other=0.0)
            less, more = x[:, None] - y[None, :], x[:, None] + y[None, :]
            close += less * less
            apart += more * more
        beyond = -tl.maximum(0.25 * apart, _SMALLEST)
        code = tl.where(extreme, tl.where(0.25 * close < 0.5, 0.25 * close, beyond), code)
    obtuse = code < 0.0
    w = tl.abs(code)
    if not WIDE:
        w = w.to(tl.float32)
    u, v = tl.where(obtuse, 1.0 - w, w), tl.where(obtuse, w, 1.0 - w)
    acute = 2.0 * tl.sqrt(w) * arcsine_ratio(w, WIDE)
    theta = tl.where(obtuse, _PI - acute, acute)
    share = acute * (1.0 / _PI)
    d = tl.where(obtuse, share, 1.0 - share)
    delta = 2.0 * u - (2.0 * tl.sqrt(u * v) - theta * (v - u)) * (1.0 / _PI)
    tangent = (v - u) * d + (1.0 - delta)
    for _ in tl.static_range(DEPTH - 1):
        w = 0.5 * tl.maximum(delta, 0.0)
        theta = 2.0 * tl.sqrt(w) * arcsine_ratio(w, WIDE)
        d = 1.0 - theta * (1.0 / _PI)
        root = 2.0 * tl.sqrt(w * (1.0 - w))
        delta = 2.0 * w - (root - theta * (1.0 - 2.0 * w)) * (1.0 / _PI)
        tangent = tangent * d + (1.0 - delta)
    if QUANTITY == 0:
        value = d
    elif QUANTITY == 1:
        value = 1.0 - delta
    else:
        value = tangent
    left = tl.load(norms_x + i, mask=i < n_rows, other=0.0).to(value.dtype)
    right = tl.load(norms_y + j, mask=j < n_columns, other=0.0).to(value.dtype)
    value = value * (left[:, None] * right[None, :])
    tl.store(out + i[:, None] * out_step + j[None, :], value, mask=inside)


def relu_kernel_of_cosines(
    cosines: torch.Tensor,
    rows: tuple[torch.Tensor, torch.Tensor],
    norms: tuple[torch.Tensor, torch.Tensor],
    depth: int,
    quantity: int,
    near: float,
    out: torch.Tensor,
) -> torch.Tensor:
    """Write D, S or K of layer ``depth`` times the norms of the rows to ``out``.

    Parameters
    ----------
    cosines : float64 tensor of shape (n, m)
        Inner products of the unit rows.
    rows : pair of float64 tensors
        Unit rows of both sides.
    norms : pair of tensors of shape (n,) and (m,)
        What to multiply rows and columns with.
    depth, quantity : int
        As in :func:`mercer.ops.angles.relu_kernel`.
    near : float
        Codes of angles that are measured from the rows.
    out : tensor of shape (n, m)
        The result; its dtype is the precision of the recursion.
    """
    n, m = cosines.shape
    left, right = (part.contiguous() for part in rows)
    grid = triton.cdiv(n, ROWS), triton.cdiv(m, COLUMNS)
    _relu_layers[grid](
        *(cosines, left, right, norms[0].contiguous(), norms[1].contiguous(), out),
        *(n, m, cosines.stride(0), left.stride(0), right.stride(0), out.stride(0)),
        near,
        WIDTH=left.shape[1],
        DEPTH=depth,
        QUANTITY=quantity,
        WIDE=out.dtype == torch.float64,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
    )
    return out
