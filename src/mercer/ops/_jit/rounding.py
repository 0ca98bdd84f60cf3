"""Numba twin of ``ops.rounding``: hashes of rows, and codes of entries, without whole arrays."""

from __future__ import annotations

import numpy as np

from . import compiled

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_MAGNITUDE = np.uint32(0x7FFFFFFF)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_ZERO = np.uint64(0)


@compiled
def _mixed(word):
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


@compiled
def _term(bits, column):
    """Return what one entry adds to the hash of its row: nothing if it is zero."""
    if bits & _MAGNITUDE == 0:
        return _ZERO
    return _mixed(np.uint64(bits) ^ _mixed(_INCREMENT * np.uint64(column + 1)))


@compiled
def dense_hashes(bits, hashes):
    """Write the hash of each row of float32 bits."""
    for i in range(bits.shape[0]):
        total = _ZERO
        for j in range(bits.shape[1]):
            total += _term(bits[i, j], j)
        hashes[i] = _mixed(total)


@compiled
def sparse_hashes(bits, indices, indptr, hashes):
    """Write the hash of each row of a CSR matrix; its columns may be in any order."""
    for i in range(hashes.shape[0]):
        total = _ZERO
        for place in range(indptr[i], indptr[i + 1]):
            total += _term(bits[place], indices[place])
        hashes[i] = _mixed(total)


@compiled
def rounded_codes(cosines, hashes, keys, top, codes):
    """Write a code from 0 to ``top`` for each number from -1 to 1, rounded at random."""
    half, unit, most = 0.5 * top, 2.0**-53, np.float64(top)
    for i in range(cosines.shape[0]):
        own, row, out = hashes[i], cosines[i], codes[i]
        for j in range(row.shape[0]):
            # Signed, because the conversion of unsigned words is not vectorised.
            noise = np.int64(_mixed(own ^ keys[j]) >> _S11)
            code = np.floor((np.float64(row[j]) + 1.0) * half + noise * unit)
            out[j] = np.uint8(min(max(code, 0.0), most))


@compiled
def coded_values(codes, values, out):
    """Write the value of each code."""
    for i in range(codes.shape[0]):
        row, target = codes[i], out[i]
        for j in range(row.shape[0]):
            target[j] = values[row[j]]
