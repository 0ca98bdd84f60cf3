"""Circular convolution of rows by real Fourier transforms, the only one in the package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import scipy.fft

from .._array import is_numpy

#: Prime factors from which on a transform of that length is slower than one of twice the length.
SLOW_FACTOR = 31


def convolved(factors: Iterable[Any], size: int, xp: Any) -> Any:
    """Return the circular convolution of the rows of several blocks of ``size`` columns.

    Transforms of a length with a large prime factor are slow; there the blocks are convolved
    at a longer and faster length, and the result is wrapped modulo the size.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.asarray([[1.0, 2.0, 0.0]]), np.asarray([[0.0, 1.0, 0.0]])
    >>> convolved([a, b], 3, np).round(12)
    array([[0., 1., 2.]])
    """
    factors = list(factors)
    length = size
    if largest_prime_factor(size) > SLOW_FACTOR:
        length = scipy.fft.next_fast_len(len(factors) * (size - 1) + 1, real=True)
    product = None
    for factor in factors:
        transformed = spectrum(factor, length, xp)
        if product is None:
            product = transformed
        elif is_numpy(product):
            product *= transformed
        else:
            product = product * transformed
    # The length is passed on: without it odd lengths would lose a column.
    if is_numpy(product):
        return wrapped(scipy.fft.irfft(product, n=length, axis=1, overwrite_x=True), size)
    return wrapped(xp.fft.irfft(product, n=length, axis=1), size)


def spectrum(X: Any, length: int, xp: Any) -> Any:
    """Return the real Fourier transform of every row, zeros appended up to ``length``."""
    if is_numpy(X):
        return scipy.fft.rfft(X, n=length, axis=1)
    return xp.fft.rfft(X, n=length, axis=1)


def wrapped(X: Any, size: int) -> Any:
    """Return the sums of columns whose numbers differ by multiples of ``size``."""
    if X.shape[1] == size:
        return X
    result = X[:, :size] + 0.0
    for start in range(size, X.shape[1], size):
        stop = min(start + size, X.shape[1])
        result[:, : stop - start] += X[:, start:stop]
    return result


def largest_prime_factor(number: int) -> int:
    """Return the largest prime that divides a number.

    Examples
    --------
    >>> [largest_prime_factor(n) for n in (1, 1024, 1012, 1013)]
    [1, 2, 23, 1013]
    """
    largest, factor = 1, 2
    while factor * factor <= number:
        while number % factor == 0:
            largest, number = factor, number // factor
        factor += 1
    return max(largest, number) if number > 1 else largest
