"""Cosine and sine together: the fused kernel of ``ops.fourier.cosine_sine``.

A phase is reduced in float64 by the nearest multiple q of π/2, and both functions are
polynomials there, as in the compiled loops of the processor.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import BLOCK, fp64, grid_of


@triton.jit
def _reduced(phase):
    """Return the rest of a phase, at most π/4 in size, and the quadrant that it belongs to."""
    wide = phase.to(tl.float64)
    q = tl.floor(wide * 0.63661977236758134308 + 0.5)
    rest = wide - q * 1.57079632673412561417e00
    rest = rest - q * 6.07710050630396597660e-11
    rest = rest - q * 2.02226624871116645580e-21
    # Of phases beyond all precision a value between -1 and 1 is all that can be wanted.
    rest = tl.minimum(tl.maximum(rest, -0.8), 0.8)
    return rest, (q - 4.0 * tl.floor(q * 0.25)).to(tl.int32)


@triton.jit
def _single(r):
    z = r * r
    sine = r + r * z * (-1.6666654611e-1 + z * (8.3321608736e-3 + z * -1.9515295891e-4))
    tail = 4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5)
    return sine, 1.0 - 0.5 * z + z * z * tail


@triton.jit
def _double(r):
    z = r * r
    sine = 1.58962301576546568060e-10 * z - 2.50507477628578072866e-8
    sine = sine * z + 2.75573136213857245213e-6
    sine = sine * z - 1.98412698295895385996e-4
    sine = sine * z + 8.33333333332211858878e-3
    sine = sine * z - 1.66666666666666307295e-1
    cosine = -1.13585365213876817300e-11 * z + 2.08757008419747316778e-9
    cosine = cosine * z - 2.75573141792967388112e-7
    cosine = cosine * z + 2.48015872888517045348e-5
    cosine = cosine * z - 1.38888888888730564116e-3
    cosine = cosine * z + 4.16666666666665929218e-2
    return r + r * z * sine, 1.0 - 0.5 * z + z * z * cosine


@triton.jit
def _cosine_sine(
    phases, out, flag, size, n_sines, step, out_step, scale: fp64,
    WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < size
    phase = tl.load(phases + row * step + column, mask=inside, other=0.0)
    rest, quadrant = _reduced(phase)
    if WIDE:
        sine, cosine = _double(rest)
    else:
        sine, cosine = _single(rest.to(tl.float32))
    swapped = (quadrant & 1) != 0
    a, b = tl.where(swapped, sine, cosine), tl.where(swapped, cosine, sine)
    a = tl.where(((quadrant + 1) & 2) != 0, -a, a)
    b = tl.where((quadrant & 2) != 0, -b, b)
    place, factor = out + row * out_step + column, tl.full((1,), scale, a.dtype)
    tl.store(place, a * factor, mask=inside)
    tl.store(place + size, b * factor, mask=column < n_sines)
    bad = inside & ((phase - phase) != 0.0)
    tl.atomic_max(flag + column * 0, 1, mask=bad)


def cosine_sine(
    phases: torch.Tensor, n_components: int, scale: float, out: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scaled cosines beside sines, and whether all phases are finite, on the device.

    The phases may lie in the first columns of ``out``.
    """
    n_rows, size = phases.shape
    if out is None:
        out = torch.empty((n_rows, n_components), dtype=phases.dtype, device=phases.device)
    flag = torch.zeros(1, dtype=torch.int32, device=phases.device)
    _cosine_sine[grid_of(n_rows, size)](
        *(phases, out, flag, size, n_components - size, phases.stride(0), out.stride(0), scale),
        WIDE=phases.dtype == torch.float64,
        BLOCK=BLOCK,
    )
    return out, (flag == 0)[0]
