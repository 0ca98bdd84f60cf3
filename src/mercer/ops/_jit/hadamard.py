"""Numba twin of ``ops.hadamard``: butterflies in place, one row after the other."""

from __future__ import annotations

from . import compiled


@compiled
def walsh_hadamard_rows(X):
    """Transform every row of ``X`` in place; its length must be a power of two.

    The first three passes, whose strides are shorter than a vector register, are done at
    once on eight numbers; the others run over two views, which the compiler can vectorise.
    """
    n, length = X.shape
    for i in range(n):
        row = X[i]
        half = 1
        if length >= 8:
            for start in range(0, length, 8):
                _eight(row[start : start + 8])
            half = 8
        while half < length:
            for start in range(0, length, 2 * half):
                left = row[start : start + half]
                right = row[start + half : start + 2 * half]
                for j in range(half):
                    a, b = left[j], right[j]
                    left[j] = a + b
                    right[j] = a - b
            half *= 2


@compiled
def _eight(x):
    """Transform eight numbers in place."""
    a0, a1, a2, a3 = x[0] + x[1], x[0] - x[1], x[2] + x[3], x[2] - x[3]
    a4, a5, a6, a7 = x[4] + x[5], x[4] - x[5], x[6] + x[7], x[6] - x[7]
    b0, b1, b2, b3 = a0 + a2, a1 + a3, a0 - a2, a1 - a3
    b4, b5, b6, b7 = a4 + a6, a5 + a7, a4 - a6, a5 - a7
    x[0], x[1], x[2], x[3] = b0 + b4, b1 + b5, b2 + b6, b3 + b7
    x[4], x[5], x[6], x[7] = b0 - b4, b1 - b5, b2 - b6, b3 - b7
