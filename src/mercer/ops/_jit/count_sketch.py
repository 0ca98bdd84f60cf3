"""Numba twins of ``ops.count_sketch``: signed sums into places, row after row."""

from __future__ import annotations

from . import compiled


@compiled
def dense_rows(X, places, signs, out):
    """Add the signed columns of every row of ``X`` into their places."""
    n, d = X.shape
    for i in range(n):
        row, target = X[i], out[i]
        target[:] = 0
        for j in range(d):
            target[places[j]] += signs[j] * row[j]


@compiled
def sparse_rows(data, indices, indptr, places, signs, out):
    """Add the signed entries of every CSR row into their places."""
    for i in range(out.shape[0]):
        target = out[i]
        target[:] = 0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            target[places[j]] += signs[j] * data[k]


@compiled
def sparse_tensor_rows(data, indices, indptr, rows, places, signs, hashes, values, out):
    """Write the tensor sketch of some CSR rows, every product of entries by itself.

    ``places`` and ``signs`` have a row for each factor; ``hashes`` and ``values`` are room
    for all products of a row's entries.
    """
    degree, size = places.shape[0], out.shape[1]
    for i in rows:
        start, stop = indptr[i], indptr[i + 1]
        target = out[i]
        target[:] = 0
        hashes[0], values[0] = 0, 1
        count = 1
        for factor in range(degree):
            place, sign = places[factor], signs[factor]
            length = stop - start
            # From the end, so that what is still needed is not overwritten.
            for c in range(count - 1, -1, -1):
                h, v = hashes[c], values[c]
                for k in range(length - 1, -1, -1):
                    j = indices[start + k]
                    place_sum = h + place[j]
                    if place_sum >= size:
                        place_sum -= size
                    hashes[c * length + k] = place_sum
                    values[c * length + k] = v * sign[j] * data[start + k]
            count *= length
        for c in range(count):
            target[hashes[c]] += values[c]
