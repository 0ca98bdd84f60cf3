"""The fast Walsh-Hadamard transform, the only one in the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_numpy


def padded_length(n_features: int) -> int:
    """Return the smallest power of two that is at least ``n_features``.

    Examples
    --------
    >>> [padded_length(d) for d in (1, 3, 64, 65)]
    [1, 4, 64, 128]
    """
    return 1 << (n_features - 1).bit_length()


def walsh_hadamard(X: Any, xp: Any) -> Any:
    """Return ``X @ H`` for the Hadamard matrix ``H`` of entries ±1 (not normalised).

    The number of columns must be a power of two. Takes O(p log p) a row.

    Examples
    --------
    >>> import numpy as np
    >>> walsh_hadamard(np.asarray([[1.0, 2.0, 3.0, 4.0]]), np)
    array([[10., -2., -4.,  0.]])
    """
    if is_numpy(X):
        from ._jit import hadamard as jit

        result = np.array(X, order="C")
        jit.walsh_hadamard_rows(result)
        return result
    return walsh_hadamard_twin(X, xp)


def walsh_hadamard_twin(X: Any, xp: Any) -> Any:
    """Return the same as :func:`walsh_hadamard`, by log2(p) passes in any array library."""
    n, length = X.shape
    half = 1
    while half < length:
        pairs = xp.reshape(X, (n, length // (2 * half), 2, half))
        first, second = pairs[:, :, 0, :], pairs[:, :, 1, :]
        X = xp.reshape(xp.stack([first + second, first - second], axis=2), (n, length))
        half *= 2
    return X
