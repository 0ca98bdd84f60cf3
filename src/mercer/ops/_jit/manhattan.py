"""Numba twins of ``ops.manhattan``: no array of pairs by columns, and no branch in a loop."""

from __future__ import annotations

import numpy as np

from . import compiled


@compiled
def add_signed(weights, X, Y, coefficients, sums):
    """Add Σⱼ wᵢⱼ cⱼₜ sign(xᵢ - yⱼ) to ``sums`` of shape (n_targets, n, d).

    The loop over the columns is the inner one: it has no sum in it, and so it is vectorised.
    """
    n, m = weights.shape
    d, n_targets = X.shape[1], coefficients.shape[1]
    signs = np.empty(d)
    for i in range(n):
        x = X[i]
        for j in range(m):
            weight = weights[i, j]
            if weight == 0.0:
                continue
            y = Y[j]
            for c in range(d):
                signs[c] = (1.0 if x[c] > y[c] else 0.0) - (1.0 if x[c] < y[c] else 0.0)
            for t in range(n_targets):
                factor = weight * coefficients[j, t]
                total = sums[t, i]
                for c in range(d):
                    total[c] += factor * signs[c]


@compiled
def add_absolute(weights, X, Y, sums):
    """Add Σᵢⱼ wᵢⱼ |xᵢ - yⱼ| to ``sums`` of shape (d,)."""
    n, m = weights.shape
    d = X.shape[1]
    total = np.empty(d)
    for i in range(n):
        x = X[i]
        total[:] = 0.0
        for j in range(m):
            weight = weights[i, j]
            if weight == 0.0:
                continue
            y = Y[j]
            for c in range(d):
                total[c] += weight * abs(x[c] - y[c])
        for c in range(d):
            sums[c] += total[c]
