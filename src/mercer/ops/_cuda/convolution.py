"""Convolutions of sketches, two rows at a time: the fused form of ``ops.convolution``.

Two real rows are the real and the imaginary part of one complex row. Its transform holds those of
both, A[k] = (Z[k] + conj Z[N-k]) / 2 and B[k] = (Z[k] - conj Z[N-k]) / 2i, and costs one pass,
where transforms of real rows take another to put halves together. Products of spectra are taken
in place, and the rows stay in pairs from one product to the next.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from . import fp64

#: Pairs of rows, and columns, that one program handles.
PAIRS, COLUMNS = 8, 32
#: Frequencies, or columns of a pair, that one program handles.
BLOCK = 512


class RowPairs(NamedTuple):
    """Real rows, two of them in each complex row.

    Attributes
    ----------
    values : complex tensor of shape (ceil(n / 2), N)
        The rows of even numbers as real parts, and those of odd numbers as imaginary parts.
    n_rows : int
        How many rows there are.
    signed : bool
        Whether columns have been given the signs of the next sketch already.
    """

    values: torch.Tensor
    n_rows: int
    signed: bool = False


class Gathered(NamedTuple):
    """A sketch from the side of its places, on a device."""

    starts: torch.Tensor
    columns: torch.Tensor
    signs: torch.Tensor


@triton.jit
def _gathered_pairs(
    X, starts, columns, signs, out, size, n_rows, pair_step, row_step,
    IN_PAIRS: tl.constexpr, PAIRS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    pair = (tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)).to(tl.int64)
    place = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = place < size
    even, odd = (2 * pair < n_rows)[:, None], (2 * pair + 1 < n_rows)[:, None]
    first = tl.load(starts + place, mask=inside, other=0)
    count = tl.load(starts + place + 1, mask=inside, other=0) - first
    real = tl.zeros((PAIRS, COLUMNS), dtype=out.dtype.element_ty)
    imaginary = tl.zeros((PAIRS, COLUMNS), dtype=out.dtype.element_ty)
    # As many rounds as the fullest of these few places has columns.
    k, most = 0, tl.max(count, axis=0)
    while k < most:
        there = inside & (k < count)
        column = tl.load(columns + first + k, mask=there, other=0)
        sign = tl.load(signs + first + k, mask=there, other=0.0)[None, :]
        if IN_PAIRS:
            # Both parts of a complex number lie side by side, and come by one access.
            at = X + (pair[:, None] * pair_step + column[None, :] * 2)
            part = there[None, :] & even
        else:
            at = X + (pair[:, None] * pair_step + column[None, :])
            part = there[None, :] & odd
        real += sign * tl.load(at, mask=there[None, :] & even, other=0.0)
        imaginary += sign * tl.load(at + row_step, mask=part, other=0.0)
        k += 1
    target = out + (pair[:, None] * size + place[None, :]) * 2
    tl.store(target, real, mask=inside[None, :] & even)
    tl.store(target + 1, imaginary, mask=inside[None, :] & even)


def gathered_pairs(X: torch.Tensor | RowPairs, sketch: Gathered, size: int) -> RowPairs:
    """Return the sketch of rows, or of pairs of rows, as pairs."""
    if isinstance(X, RowPairs):
        rows, n_rows, width = torch.view_as_real(X.values), X.n_rows, X.values.shape[1]
        steps = 2 * width, 1
    else:
        rows, n_rows = X, X.shape[0]
        steps = 2 * X.stride(0), X.stride(0)
    n_pairs = (n_rows + 1) // 2
    found = torch.empty((n_pairs, size), dtype=_complex_of(rows), device=rows.device)
    grid = triton.cdiv(n_pairs, PAIRS), triton.cdiv(size, COLUMNS)
    _gathered_pairs[grid](
        *(rows, sketch.starts, sketch.columns, sketch.signs, torch.view_as_real(found)),
        *(size, n_rows, *steps),
        IN_PAIRS=isinstance(X, RowPairs),
        num_warps=1,
        PAIRS=PAIRS,
        COLUMNS=COLUMNS,
    )
    return RowPairs(found, n_rows)


@triton.jit
def _paired(X, signs, out, size, n_rows, step, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    there = inside & (2 * pair + 1 < n_rows)
    sign = tl.load(signs + column, mask=inside)
    even = X + 2 * pair * step + column
    target = out + (pair * size + column) * 2
    tl.store(target, sign * tl.load(even, mask=inside), mask=inside)
    tl.store(target + 1, sign * tl.load(even + step, mask=there, other=0.0), mask=inside)


def paired_rows(X: torch.Tensor, signs: torch.Tensor) -> RowPairs:
    """Return rows as pairs, with their columns multiplied by signs."""
    n_pairs, size = (X.shape[0] + 1) // 2, X.shape[1]
    found = torch.empty((n_pairs, size), dtype=_complex_of(X), device=X.device)
    _paired[(n_pairs, triton.cdiv(size, BLOCK))](
        *(X, signs, torch.view_as_real(found), size, X.shape[0], X.stride(0)), BLOCK=BLOCK
    )
    return RowPairs(found, X.shape[0])


def _complex_of(X: torch.Tensor) -> torch.dtype:
    return torch.complex64 if X.dtype == torch.float32 else torch.complex128


@triton.jit
def _signed(Z, signs, size, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < 2 * size
    # Both parts of a complex number have the sign of its column.
    sign = tl.load(signs + place // 2, mask=inside)
    at = Z + pair * 2 * size + place
    tl.store(at, sign * tl.load(at, mask=inside), mask=inside)


def signed_pairs(pairs: RowPairs, signs: torch.Tensor) -> RowPairs:
    """Return pairs of rows whose columns have been multiplied by signs, in place."""
    n_pairs, size = pairs.values.shape
    _signed[(n_pairs, triton.cdiv(2 * size, 2 * BLOCK))](
        torch.view_as_real(pairs.values), signs, size, BLOCK=2 * BLOCK
    )
    return pairs


@triton.jit
def _multiplied(
    Z,
    S,
    size,
    n_rows,
    half,
    row_step,
    behind,
    scale: fp64,
    IN_PAIRS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pair = tl.program_id(0).to(tl.int64)
    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = k < half
    mirror = tl.where(k == 0, 0, size - k)
    at, across = Z + (pair * size + k) * 2, Z + (pair * size + mirror) * 2
    zr, zi = tl.load(at, mask=inside, other=0.0), tl.load(at + 1, mask=inside, other=0.0)
    wr, wi = tl.load(across, mask=inside, other=0.0), tl.load(across + 1, mask=inside, other=0.0)
    a_r, a_i, b_r, b_i = zr + wr, zi - wi, zi + wi, wr - zr
    factor = tl.full((1,), 0.5 * scale, zr.dtype)
    if IN_PAIRS:
        own, beyond = S + (pair * size + k) * 2, S + (pair * size + mirror) * 2
        sr, si = tl.load(own, mask=inside, other=0.0), tl.load(own + 1, mask=inside, other=0.0)
        tr = tl.load(beyond, mask=inside, other=0.0)
        ti = tl.load(beyond + 1, mask=inside, other=0.0)
        c_r, c_i, d_r, d_i = sr + tr, si - ti, si + ti, tr - sr
        factor = 0.5 * factor
    else:
        even, odd = S + 2 * pair * row_step + k, S + (2 * pair + 1) * row_step + k
        there = inside & (2 * pair + 1 < n_rows)
        c_r = tl.load(even, mask=inside, other=0.0)
        c_i = tl.load(even + behind, mask=inside, other=0.0)
        d_r = tl.load(odd, mask=there, other=0.0)
        d_i = tl.load(odd + behind, mask=there, other=0.0)
    y_r, y_i = factor * (a_r * c_r - a_i * c_i), factor * (a_r * c_i + a_i * c_r)
    v_r, v_i = factor * (b_r * d_r - b_i * d_i), factor * (b_r * d_i + b_i * d_r)
    tl.store(across, y_r + v_i, mask=inside)
    tl.store(across + 1, v_r - y_i, mask=inside)
    tl.store(at, y_r - v_i, mask=inside)
    tl.store(at + 1, y_i + v_r, mask=inside)


def convolved_pairs(pairs: RowPairs, other: RowPairs | torch.Tensor) -> RowPairs:
    """Return the circular convolutions of rows with other rows.

    Parameters
    ----------
    pairs : RowPairs
        Rows.
    other : RowPairs, or tensor of shape (n, 2 h)
        The other rows; or the real and, in the second half of the columns, the imaginary parts of
        their spectra.
    """
    size = pairs.values.shape[1]
    half = size // 2 + 1
    spectra = torch.fft.fft(pairs.values)
    in_pairs, step = isinstance(other, RowPairs), 0
    if isinstance(other, RowPairs):
        factors = torch.view_as_real(torch.fft.fft(other.values))
    else:
        factors, step = other, other.stride(0)
    _multiplied[(spectra.shape[0], triton.cdiv(half, BLOCK))](
        *(torch.view_as_real(spectra), factors, size, pairs.n_rows, half, step, step // 2),
        1.0 / size,
        IN_PAIRS=in_pairs,
        BLOCK=BLOCK,
    )
    # The factor 1 / N is in the product already.
    return RowPairs(torch.fft.ifft(spectra, norm="forward"), pairs.n_rows)


@triton.jit
def _added(
    T, weights, signs, out, size, n_rows, out_step, ADD: tl.constexpr, WEIGH: tl.constexpr,
    SIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    there = inside & (2 * pair + 1 < n_rows)
    at = T + (pair * size + column) * 2
    real, imaginary = tl.load(at, mask=inside), tl.load(at + 1, mask=inside)
    if SIGN:
        sign = tl.load(signs + column, mask=inside)
        tl.store(at, sign * real, mask=inside)
        tl.store(at + 1, sign * imaginary, mask=inside)
    if WEIGH:
        weight = tl.load(weights + column, mask=inside)
        real, imaginary = real * weight, imaginary * weight
    even = out + 2 * pair * out_step + column
    odd = even + out_step
    if ADD:
        real += tl.load(even, mask=inside)
        imaginary += tl.load(odd, mask=there)
    tl.store(even, real, mask=inside)
    tl.store(odd, imaginary, mask=there)


def add_pairs(
    pairs: RowPairs,
    weights: torch.Tensor | None = None,
    total: torch.Tensor | None = None,
    signs: torch.Tensor | None = None,
    place: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the rows of pairs, times weights of columns, added to ``total`` in place if given.

    Without a total they are written to ``place``, if given. The columns of the pairs themselves
    are then multiplied by signs, if these are given.
    """
    size = pairs.values.shape[1]
    values = torch.view_as_real(pairs.values)
    out = place if total is None else total
    if out is None:
        out = torch.empty((pairs.n_rows, size), dtype=values.dtype, device=values.device)
    _added[(values.shape[0], triton.cdiv(size, BLOCK))](
        *(values, out if weights is None else weights, out if signs is None else signs),
        *(out, size, pairs.n_rows, out.stride(0)),
        ADD=total is not None,
        WEIGH=weights is not None,
        SIGN=signs is not None,
        BLOCK=BLOCK,
    )
    return out
