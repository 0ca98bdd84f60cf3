"""Cosines of phases, with their sines or shifted: the non-linearity of random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import are_finite, is_numpy, like
from .._deferred import refuse_unless
from .._devices import has_fused_kernels


def cosine_sine(phases: Any, n_components: int, xp: Any, out: Any = None) -> Any:
    """Return ``sqrt(2 / m) [cos(phases), sin(phases)]`` for ``m = n_components`` columns.

    Parameters
    ----------
    phases : array of shape (n, ceil(m / 2))
        The phases. With ``out`` they may already lie in its first columns.
    n_components : int
        Columns of the result; of an odd number the last phase has no sine.
    out : array of shape (n, m), optional
        Where to put the result (NumPy, or a library with fused kernels).
    """
    size = phases.shape[1]
    scale = (2 / n_components) ** 0.5
    if is_numpy(out):
        from ._jit import fourier as jit

        cosines = out[:, :size]
        if phases.__array_interface__["data"] != cosines.__array_interface__["data"]:
            cosines[...] = phases
        jit.cosine_sine_rows[out.dtype.name](out, size, scale)
        return out
    if has_fused_kernels(phases):
        from ._cuda import fourier as cuda

        found, finite = cuda.cosine_sine(phases, n_components, scale, out)
        refuse_unless(finite, overflowing_phases)
        return found
    _refuse_overflow(phases)
    sines = xp.sin(phases[:, : n_components - size])
    return xp.concat([xp.cos(phases), sines], axis=1) * scale


def shifted_cosine(phases: Any, shifts: np.ndarray, xp: Any) -> Any:
    """Return ``cos(phases + shifts)``; NumPy's phases are overwritten.

    Parameters
    ----------
    phases : array of shape (n, m)
        The phases.
    shifts : array of shape (m,)
        What is added to each column.

    Examples
    --------
    >>> shifted_cosine(np.zeros((1, 2)), np.asarray([0.0, np.pi]), np)
    array([[ 1., -1.]])
    """
    if is_numpy(phases):
        phases += like(phases, shifts)
        _refuse_overflow(phases)
        return np.cos(phases, out=phases)
    _refuse_overflow(phases)
    return xp.cos(phases + like(phases, shifts))


def _refuse_overflow(phases: Any) -> None:
    refuse_unless(are_finite(phases), overflowing_phases)


def overflowing_phases() -> ValueError:
    """Return the error of phases that are not finite."""
    return ValueError(
        "The product of X with the frequencies overflows; scale X down, use a larger "
        "lengthscale, or pass X in float64."
    )
