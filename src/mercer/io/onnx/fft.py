"""Fourier transforms of the rows of recorded arrays, as pairs of real and imaginary parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Recorded
from .operations import astype, made, recording
from .tape import AXIS_IS_INPUT, NotRecordable


class Spectra:
    """Complex numbers, as their real and imaginary parts.

    Parameters
    ----------
    real, imaginary : Recorded
        The parts.
    """

    def __init__(self, real: Recorded, imaginary: Recorded) -> None:
        self.real, self.imaginary = real, imaginary

    def __mul__(self, other: Spectra) -> Spectra:
        real = self.real * other.real - self.imaginary * other.imaginary
        return Spectra(real, self.real * other.imaginary + self.imaginary * other.real)


def rfft(X: Recorded, *, n: int, axis: int) -> Spectra:
    """Return the transform of real rows, zeros appended up to ``n`` columns."""
    _refuse_other_axes(X, axis)
    found = _transformed(_padded(X, n)[:, :, None], (X.shape[0], n // 2 + 1, 2), onesided=1)
    return Spectra(found[:, :, 0], found[:, :, 1])


def irfft(spectra: Spectra, *, n: int, axis: int) -> Recorded:
    """Return the real rows of ``n`` columns that have given transforms."""
    from .namespace import concat, stack

    real, imaginary = spectra.real, spectra.imaginary
    _refuse_other_axes(real, axis)
    # The frequencies beyond half the length are those before it, conjugated.
    stop = (n + 1) // 2 - 1
    mirrored = slice(stop, 0, -1)
    whole = stack(
        [
            concat([real, real[:, mirrored]], axis=1),
            concat([imaginary, -imaginary[:, mirrored]], axis=1),
        ],
        axis=2,
    )
    return _transformed(whole, whole.shape, inverse=1)[:, :, 0]


def _refuse_other_axes(X: Recorded, axis: int) -> None:
    if X.ndim != 2 or axis != 1:
        raise NotRecordable("It transforms along another dimension than that of the columns.")


def _padded(X: Recorded, length: int) -> Recorded:
    """Return rows cut, or with zeros appended, to a length."""
    from .namespace import concat, zeros

    missing = length - X.shape[1]
    if missing <= 0:
        return X[:, :length]
    return concat([X, zeros((X.shape[0], missing), dtype=X.dtype)], axis=1)


def _transformed(X: Recorded, shape: Any, **attributes: Any) -> Recorded:
    """Return the transform along the columns.

    It is computed in float64: runtimes round the factors of a transform of float32 much more than
    its numbers.
    """
    tape, own = recording(X.tape), X.dtype
    X = astype(X, np.float64)
    if tape.opset >= AXIS_IS_INPUT:
        numbers = (tape.constant(np.asarray(n, dtype=np.int64)) for n in (X.shape[1], 1))
        found = made("DFT", [X], shape, X.dtype, *numbers, **attributes)
    else:
        found = made("DFT", [X], shape, X.dtype, axis=1, **attributes)
    return astype(found, own)
