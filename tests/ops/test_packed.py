"""Tests of words of bits against NumPy's own packing and integer products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.ops.packed import (
    add_inner_products,
    add_masked_sums,
    n_words,
    pack_codes,
    transpose_bits,
    unpack_rows,
    weighted_counts,
)

SHAPES = st.tuples(st.integers(1, 150), st.integers(1, 150))


def bits_of(shape, seed=0):
    return np.random.default_rng(seed).integers(2, size=shape).astype(np.uint8)


def plane_of(bits):
    """Return the words of rows of bits, one bit after the other."""
    plane = np.zeros((bits.shape[0], n_words(bits.shape[1])), dtype=np.uint64)
    for (i, c), bit in np.ndenumerate(bits):
        plane[i, c // 64] |= np.uint64(int(bit) << (c % 64))
    return plane


@given(shape=SHAPES, seed=st.integers(0, 99))
def test_bits_are_packed_and_transposed(shape, seed):
    bits = bits_of((2, *shape), seed)
    planes = np.full((2, shape[0], n_words(shape[1])), 2**64 - 1, dtype=np.uint64)
    pack_codes(bits[0] + 2 * bits[1], planes)
    assert np.array_equal(planes[0], plane_of(bits[0]))
    assert np.array_equal(planes[1], plane_of(bits[1]))
    turned = transpose_bits(planes[0])
    assert turned.shape == (64 * n_words(shape[1]), n_words(shape[0]))
    assert np.array_equal(turned[: shape[1]], plane_of(bits[0].T))
    assert not turned[shape[1] :].any()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (5, 130)])
def test_bits_are_unpacked(dtype, shape):
    bits = bits_of((3, *shape))
    planes = np.stack([plane_of(own) for own in bits])
    out = np.full((shape[0] + 2, shape[1] + 2), 99, dtype=dtype)
    unpack_rows(planes, (1, -2, 4), 3, out[1:-1, 1:-1])
    wanted = 3 + bits[0].astype(int) - 2 * bits[1].astype(int) + 4 * bits[2].astype(int)
    assert np.array_equal(out[1:-1, 1:-1], wanted)
    out[1:-1, 1:-1] = 99
    assert (out == 99).all()


@given(shape=SHAPES, rows=st.integers(1, 9), seed=st.integers(0, 99), planes=st.integers(1, 3))
def test_inner_products_are_those_of_values(shape, rows, seed, planes):
    n, m = shape
    left, right = bits_of((planes, n, m), seed), bits_of((planes, rows, m), seed + 1)
    words = [np.stack([plane_of(own) for own in side]) for side in (left, right)]
    for weights, offset in (((3, -3, 5), 0), ((1, 2, -4), -1)):
        values = [
            offset + np.tensordot(weights[:planes], side.astype(np.int64), 1)
            for side in (left, right)
        ]
        wanted = values[0] @ values[1].T
        for dtype in (np.int64, np.int32, np.float64):
            out = np.full((n + 1, rows), 7, dtype=dtype)
            add_inner_products(*words, weights[:planes], offset, m, out[:n])
            assert np.array_equal(out[:n], wanted + 7)
            assert (out[n] == 7).all()
        if offset == 0:
            counts = weighted_counts(words[0], weights[:planes])
            assert np.array_equal(counts, values[0].sum(axis=1))


def test_entries_with_both_signs_are_zeros():
    # Such planes are not made by packing, but may be given.
    planes = np.asarray([[[3]], [[2]]], dtype=np.uint64)
    out = np.zeros((1, 1), dtype=np.int64)
    add_inner_products(planes, planes, (1, -1), 0, 2, out)
    assert out[0, 0] == 1


@given(shape=SHAPES, n_targets=st.integers(1, 4), seed=st.integers(0, 99))
def test_masked_sums_are_products(shape, n_targets, seed):
    bits = bits_of((2, *shape), seed)
    Y = np.random.default_rng(seed).standard_normal((shape[0], n_targets))
    planes = np.stack([plane_of(own) for own in bits])
    out = np.ones((n_targets, 64 * planes.shape[2]))
    add_masked_sums(planes, Y, (1, -0.5), out)
    wanted = Y.T @ (bits[0] - 0.5 * bits[1]) + 1
    assert out[:, : shape[1]] == pytest.approx(wanted, abs=1e-11)
    assert (out[:, shape[1] :] == 1).all()
