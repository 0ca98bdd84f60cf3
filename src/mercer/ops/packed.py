"""Rows of bits in words of 64, several planes of them: values, inner products and sums.

A plane has shape (n, n_words); bit c of word w belongs to column 64 w + c, and bits beyond the
last column are zero. The value of an entry is an offset plus the weights of the planes that have
its bit set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Bits of a word.
BITS = 64


def n_words(n_columns: int) -> int:
    """Return how many words hold a bit for each column.

    Examples
    --------
    >>> n_words(64), n_words(65)
    (1, 2)
    """
    return -(-n_columns // BITS)


def pack_codes(codes: np.ndarray, planes: np.ndarray) -> None:
    """Write bit k of integer codes to plane k.

    Parameters
    ----------
    codes : integer array of shape (n, n_columns)
        Numbers from 0 on, of at most 8 bits.
    planes : uint64 array of shape (n_planes, n, n_words)
        Where the bits go.

    Examples
    --------
    >>> planes = np.empty((2, 1, 1), dtype=np.uint64)
    >>> pack_codes(np.asarray([[1, 0, 3]]), planes)
    >>> planes.ravel().tolist()
    [5, 4]
    """
    small = np.zeros((len(codes), planes.shape[2] * BITS), dtype=np.uint8)
    small[:, : codes.shape[1]] = codes
    for k, plane in enumerate(planes):
        bits = np.packbits((small >> k) & 1, axis=1, bitorder="little")
        plane[:] = bits.view("<u8")


def unpack_rows(
    planes: np.ndarray, weights: Sequence[float], offset: float, out: np.ndarray
) -> None:
    """Write the values of bits to ``out``, in its dtype.

    Parameters
    ----------
    planes : uint64 array of shape (n_planes, n, n_words)
        The bits.
    weights : sequence of n_planes numbers
        What a bit of each plane is worth.
    offset : float
        What an entry without bits is worth.
    out : array of shape (n, n_columns)
        Where the values go.

    Examples
    --------
    >>> planes, out = np.asarray([[[5]], [[2]]], dtype=np.uint64), np.empty((1, 3), np.int8)
    >>> unpack_rows(planes, (1, -1), 0, out)
    >>> out
    array([[ 1, -1,  1]], dtype=int8)
    """
    from ._jit import bits as jit

    jit.unpack_rows(planes, np.asarray(weights, out.dtype), np.asarray([offset], out.dtype), out)


def transpose_bits(plane: np.ndarray) -> np.ndarray:
    """Return the words of the columns of a plane: row c has a bit for each row of ``plane``.

    Parameters
    ----------
    plane : uint64 array of shape (n, words)
        The bits.

    Returns
    -------
    array of shape (64 words, n_words(n))
        Their transpose.

    Examples
    --------
    >>> transpose_bits(np.asarray([[1], [3]], dtype=np.uint64))[:3].ravel().tolist()
    [3, 2, 0]
    """
    from ._jit import bits as jit

    out = np.empty((BITS * plane.shape[1], n_words(plane.shape[0])), dtype=np.uint64)
    jit.transpose_bits(plane, out)
    return out


def weighted_counts(planes: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Return the sum of the weights of the bits of each row: integers if the weights are.

    Examples
    --------
    >>> weighted_counts(np.asarray([[[5]], [[2]]], dtype=np.uint64), (1, -1))
    array([1])
    """
    from ._jit import bits as jit

    total = np.zeros(planes.shape[1], dtype=np.asarray(weights).dtype)
    for plane, weight in zip(planes, weights, strict=True):
        counts = np.zeros(len(plane), dtype=np.int64)
        jit.count_rows(plane, counts)
        total += weight * counts
    return total


def add_inner_products(
    left: np.ndarray,
    right: np.ndarray,
    weights: Sequence[float],
    offset: float,
    length: int,
    out: np.ndarray,
) -> None:
    """Add the inner products of the values of two blocks of rows to ``out``, by counts of bits.

    Exact where weights and offset are integers.

    Parameters
    ----------
    left, right : uint64 arrays of shape (n_planes, n, n_words) and (n_planes, m, n_words)
        The bits.
    weights, offset : sequence of n_planes numbers, and number
        What bits are worth.
    length : int
        Entries of a row.
    out : array of shape (n, m)
        Where products are added; of integers only if weights and offset are.

    Examples
    --------
    >>> planes, out = np.asarray([[[5]], [[2]]], dtype=np.uint64), np.zeros((1, 1), np.int64)
    >>> add_inner_products(planes, planes, (1, -1), 0, 3, out)
    >>> out
    array([[3]])
    """
    from ._jit import bits as jit

    kind = np.int64 if out.dtype.kind == "i" else np.float64
    if is_signed(weights):
        jit.add_signed(*left, *right, kind(weights[0] ** 2), out)
    else:
        for a, weight in zip(left, weights, strict=True):
            for b, other in zip(right, weights, strict=True):
                jit.add_shared(a, b, kind(weight * other), out)
    if offset:
        sums = weighted_counts(left, weights)[:, None] + weighted_counts(right, weights)
        out += (offset * sums + offset**2 * length).astype(out.dtype)


def is_signed(weights: Sequence[float]) -> bool:
    """Return whether there is a plane of values and one of their opposites.

    Examples
    --------
    >>> is_signed((1, -1)), is_signed((1, 2))
    (True, False)
    """
    return len(weights) == 2 and weights[0] == -weights[1]


def add_masked_sums(
    planes: np.ndarray, Y: np.ndarray, weights: Sequence[float], out: np.ndarray
) -> None:
    """Add the products of the bits of columns with targets to ``out``.

    Parameters
    ----------
    planes : uint64 array of shape (n_planes, n, words)
        The bits.
    Y : float64 array of shape (n, n_targets)
        The targets.
    weights : sequence of n_planes numbers
        What a bit of each plane is worth.
    out : float64 array of shape (n_targets, 64 words)
        Where products are added.

    Examples
    --------
    >>> planes, out = np.asarray([[[5]], [[2]]], dtype=np.uint64), np.zeros((1, 64))
    >>> add_masked_sums(planes, np.asarray([[0.5]]), (1, -1), out)
    >>> out[0, :3]
    array([ 0.5, -0.5,  0.5])
    """
    from ._jit import bits as jit

    for plane, weight in zip(planes, weights, strict=True):
        jit.add_masked(plane, Y, float(weight), out)
