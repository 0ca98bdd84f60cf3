"""Stochastic rounding to few levels, whose noise is a function of the row it is for.

Of every row there is a hash of its contents, of every column a key, and the noise of an entry is
a mix of both: rows need no generator, in no order, and equal rows have equal noise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import beside, is_numpy, is_sparse, namespace, to_numpy

#: The increment and the multipliers of SplitMix64 (Steele, Lea and Flood 2014).
INCREMENT = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
#: Bits of a float32 beside its sign.
MAGNITUDE = 0x7FFFFFFF
#: Bits of noise: what a float64 holds.
NOISE_BITS = 53


def row_hashes(X: Any) -> np.ndarray:
    """Return a hash of 64 bits of the contents of each row, rounded to float32.

    Zeros do not count, so that sparse rows have the hashes of dense ones.

    Parameters
    ----------
    X : array of shape (n, d)
        A block of rows of any library, or CSR; those of other libraries are brought to the host.

    Examples
    --------
    >>> hashes = row_hashes(np.asarray([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]))
    >>> bool(hashes[0] == hashes[1]), bool(hashes[0] == hashes[2])
    (True, False)
    """
    from ._jit import rounding as jit

    hashes = np.empty(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore", under="ignore"):
        if is_sparse(X):
            X = X.tocsr()
            jit.sparse_hashes(_bits(X.data), X.indices, X.indptr, hashes)
        else:
            jit.dense_hashes(_bits(to_numpy(X)), hashes)
    return hashes


def hashes_by_numpy(X: np.ndarray) -> np.ndarray:
    """Return the hashes of dense rows without compiled code: what the fast ones must be."""
    bits = _bits(X).astype(np.uint64)
    columns = mixed(np.uint64(INCREMENT) * np.arange(1, X.shape[1] + 1, dtype=np.uint64))
    terms = np.where(bits & np.uint64(MAGNITUDE), mixed(bits ^ columns), np.uint64(0))
    return mixed(terms.sum(axis=1, dtype=np.uint64))


def _bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)


def mixed(words: Any) -> Any:
    """Return the words of SplitMix64 at given states: a bijection of 64 bits that looks random.

    Parameters
    ----------
    words : uint64 or int64 array
        The states, of any library; those without uint64 read the same bits as int64.

    Examples
    --------
    >>> hex(mixed(np.asarray([0x9E3779B97F4A7C15], dtype=np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    signed = not is_numpy(words) or words.dtype.kind == "i"

    def constant(number: int) -> int:
        return number - 2**64 if signed and number >= 2**63 else number

    def shifted(z: Any, by: int) -> Any:
        # A shift of int64 repeats the sign, which must not stay.
        return (z >> by) & (2 ** (64 - by) - 1)

    words = (words ^ shifted(words, 30)) * constant(FIRST)
    words = (words ^ shifted(words, 27)) * constant(SECOND)
    return words ^ shifted(words, 31)


def rounded_codes(cosines: Any, hashes: np.ndarray, keys: np.ndarray, n_bits: int) -> Any:
    """Return codes of numbers from -1 to 1, rounded up or down at random, without bias.

    Code c stands for -1 + 2 c / (2^n_bits - 1). A number is rounded to one of its two neighbours,
    with probabilities that make it the mean.

    Parameters
    ----------
    cosines : array of shape (n, m)
        The numbers, of any library.
    hashes : uint64 array of shape (n,)
        Of each row.
    keys : uint64 array of shape (m,)
        Of each column.
    n_bits : int
        Bits of a code, from 1 to 8.

    Returns
    -------
    codes : array of shape (n, m)
        In uint8.

    Examples
    --------
    >>> hashes, keys = np.zeros(1, np.uint64), np.arange(3, dtype=np.uint64)
    >>> rounded_codes(np.asarray([[-1.0, 0.1, 1.0]]), hashes, keys, 2)[0, [0, 2]]
    array([0, 3], dtype=uint8)
    """
    if not is_numpy(cosines):
        return codes_by_arrays(cosines, hashes, keys, n_bits)
    from ._jit import rounding as jit

    codes = np.empty(cosines.shape, dtype=np.uint8)
    jit.rounded_codes(np.ascontiguousarray(cosines), hashes, keys, 2**n_bits - 1, codes)
    return codes


def codes_by_arrays(cosines: Any, hashes: np.ndarray, keys: np.ndarray, n_bits: int) -> Any:
    """Return the same codes by functions of whole arrays, in any library."""
    xp = namespace(cosines)
    # Copies, as torch refuses arrays that are read-only.
    rows, columns = (beside(cosines, words.view(np.int64).copy()) for words in (hashes, keys))
    words = mixed(rows[:, None] ^ columns[None, :])
    noise = (words >> (64 - NOISE_BITS)) & (2**NOISE_BITS - 1)
    top = 2**n_bits - 1
    levels = (xp.astype(cosines, xp.float64) + 1.0) * (0.5 * top)
    codes = xp.floor(levels + xp.astype(noise, xp.float64) * 2.0**-NOISE_BITS)
    return xp.astype(xp.clip(codes, 0, top), xp.uint8)


def coded_values(codes: Any, values: np.ndarray, out: np.ndarray | None = None) -> Any:
    """Return the values of codes, in ``out`` if given (NumPy only).

    Parameters
    ----------
    codes : uint8 array of shape (n, m)
        The codes, of any library.
    values : array of shape (n_values,)
        The value of each code, in the dtype of the result.
    out : NumPy array of shape (n, m), optional
        Where to put the result.

    Examples
    --------
    >>> coded_values(np.asarray([[1, 0]], dtype=np.uint8), np.asarray([-1.0, 1.0]))
    array([[ 1., -1.]])
    """
    if is_numpy(codes):
        from ._jit import rounding as jit

        out = np.empty(codes.shape, dtype=values.dtype) if out is None else out
        jit.coded_values(codes, values, out)
        return out
    xp = namespace(codes)
    places = xp.astype(xp.reshape(codes, (-1,)), xp.int64)
    return xp.reshape(xp.take(beside(codes, values), places, axis=0), codes.shape)


def rounding_excess(n_bits: int) -> float:
    r"""Return what rounding adds to the mean of 2 cos² at a uniform phase.

    A number at a share f of the way between two levels has the variance f (1 - f) of their squared
    distance. With N = 2^n_bits - 1 steps its place is v = N (1 + cos φ) / 2, and between the levels
    k and k + 1 the integral of (v - k)(k + 1 - v) over φ is elementary.

    Parameters
    ----------
    n_bits : int
        Bits of a code.

    Examples
    --------
    >>> [round(rounding_excess(n_bits), 6) for n_bits in (1, 2, 4, 8)]
    [1.0, 0.126204, 0.00553, 2e-05]
    """
    steps = 2**n_bits - 1
    level = np.arange(steps + 1)
    phase = np.arccos(2 * level / steps - 1)
    sine, square = np.sin(phase), phase / 2 + np.sin(2 * phase) / 4
    # Phases fall as levels rise: the integrals from the upper level's to the lower one's.
    width, cosine, squares = (-np.diff(part) for part in (phase, sine, square))
    half, k = steps / 2, level[:-1]
    first = half * (width + cosine)
    second = half**2 * (width + 2 * cosine + squares)
    total = math.fsum((2 * k + 1) * first - second - k * (k + 1) * width)
    return 8 / steps**2 * total / math.pi
