"""Circular convolution of rows by real Fourier transforms, the only one in the package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import scipy.fft

from .._array import is_numpy


def convolved(factors: Iterable[Any], size: int, xp: Any) -> Any:
    """Return the circular convolution of the rows of several blocks of ``size`` columns.

    The length is passed to the inverse transform: without it odd sizes would lose a column.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.asarray([[1.0, 2.0, 0.0]]), np.asarray([[0.0, 1.0, 0.0]])
    >>> convolved([a, b], 3, np).round(12)
    array([[0., 1., 2.]])
    """
    product = None
    for factor in factors:
        transformed = spectrum(factor, xp)
        if product is None:
            product = transformed
        elif is_numpy(product):
            product *= transformed
        else:
            product = product * transformed
    if is_numpy(product):
        return scipy.fft.irfft(product, n=size, axis=1, overwrite_x=True)
    return xp.fft.irfft(product, n=size, axis=1)


def spectrum(X: Any, xp: Any) -> Any:
    """Return the real Fourier transform of every row, in the precision of ``X``."""
    if is_numpy(X):
        return scipy.fft.rfft(X, axis=1)
    return xp.fft.rfft(X, axis=1)
