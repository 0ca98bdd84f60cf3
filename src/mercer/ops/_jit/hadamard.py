"""Numba twin of ``ops.hadamard``: butterflies in place, one row after the other."""

from __future__ import annotations

from . import compiled


@compiled
def walsh_hadamard_rows(X):
    """Transform every row of ``X`` in place; its length must be a power of two."""
    n, length = X.shape
    for i in range(n):
        row = X[i]
        half = 1
        while half < length:
            for start in range(0, length, 2 * half):
                for j in range(start, start + half):
                    a, b = row[j], row[j + half]
                    row[j] = a + b
                    row[j + half] = a - b
            half *= 2
