"""Tests of rows reduced by orthogonal transforms, against their normal equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._array import to_numpy
from mercer.solvers import reduced_blocks, reduced_rows
from mercer.testing import array_libraries

FOREIGN = {name: make for name, make in array_libraries().items() if name != "numpy"}


def data(n, m, t, seed=0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, m)), generator.standard_normal((n, t))


def assert_reduces(found, Z, Y):
    """R'R = Z'Z, R'Q'Y = Z'Y, and the squares of Y are those of both parts."""
    triangle, rotated, beyond = (to_numpy(part) for part in found)
    size = min(Z.shape)
    assert triangle.shape == (size, Z.shape[1])
    assert rotated.shape == (size, Y.shape[1])
    assert triangle.T @ triangle == pytest.approx(Z.T @ Z, abs=1e-9)
    assert triangle.T @ rotated == pytest.approx(Z.T @ Y, abs=1e-9)
    assert (rotated**2).sum(axis=0) + beyond == pytest.approx((Y**2).sum(axis=0), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 9), st.integers(1, 12))
def test_blocks_reduce_as_all_rows_do(n, m, t, size):
    Z, Y = data(n, m, t)
    weights = np.random.default_rng(1).random(n)
    roots = np.sqrt(weights)[:, None]
    assert_reduces(reduced_rows(Z, Y), Z, Y)
    halves = reduced_rows(Z[:size], Y[:size]).merged(reduced_rows(Z[size:], Y[size:]))
    assert_reduces(halves, Z, Y)
    z_mean, y_mean = Z.mean(axis=0), Y.mean(axis=0)
    cuts = [slice(start, start + size) for start in range(0, n, size)]
    blocks = [(Z[rows], Y[rows], weights[rows]) for rows in cuts]
    found = reduced_blocks(blocks, z_mean, y_mean)
    assert_reduces(found, (Z - z_mean) * roots, (Y - y_mean) * roots)


@pytest.mark.arrays
@pytest.mark.parametrize("name", FOREIGN)
def test_other_libraries_reduce_alike(name):
    make = FOREIGN[name]
    Z, Y = data(20, 4, 50)
    blocks = [(make(Z[:7]), make(Y[:7]), None), (make(Z[7:]), make(Y[7:]), None)]
    zeros = make(np.zeros(4)), make(np.zeros(50))
    assert_reduces(reduced_blocks(blocks, *zeros), Z, Y)


def test_what_lies_beyond_does_not_cancel():
    Z, Y = data(40, 3, 1)
    basis = np.linalg.qr(Z)[0]
    tiny = 1e-9 * (Y - basis @ (basis.T @ Y))
    found = reduced_rows(Z, 1e3 * Z[:, :1] + tiny)
    # Of squares that differ by 24 orders of magnitude nothing would be left.
    assert found.beyond == pytest.approx((tiny**2).sum(axis=0), rel=1e-3)
