"""Tests of distances and angles against double loops."""

import math

import mpmath
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.ops.distances import (
    manhattan_distances,
    signed_half_chords,
    squared_distances,
)
from oracles import angle, pairwise

ROWS = arrays(
    float,
    st.tuples(st.integers(1, 6), st.just(3)),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


def with_near_pairs():
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[1] = X[0]
    X[2] = X[0] * (1 + 1e-9)
    X[3] = X[0] + 1e-6 * X[4]
    X[5] = -X[0]
    X[6] = -X[0] + 1e-7 * X[4]
    return X


@given(X=ROWS, Y=ROWS)
def test_squared_distances_equal_a_double_loop(X, Y):
    expected = pairwise(lambda x, y: math.dist(x, y) ** 2, X, Y)
    actual = squared_distances(X, Y, np)
    # Beyond the pairs that are recomputed, rounding is relative to the norms of the rows.
    scale = max(1.0, abs(X).max() ** 2, abs(Y).max() ** 2)
    assert np.all(actual >= 0)
    assert np.all(abs(actual - expected) <= 1e-11 * expected + 1e-13 * scale)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_near_pairs_keep_their_digits(shift):
    X = with_near_pairs() + shift
    expected = pairwise(lambda x, y: math.dist(x, y), X, X)
    assert np.sqrt(squared_distances(X, X, np)) == pytest.approx(expected, rel=1e-11, abs=1e-300)


def test_twin_for_sparse_rows_keeps_digits_too():
    X = with_near_pairs()
    expected = pairwise(lambda x, y: math.dist(x, y), X, X)
    sparse = scipy.sparse.csr_array(X)
    for left, right in ((sparse, sparse), (X, sparse), (sparse, X)):
        actual = np.sqrt(squared_distances(left, right, np))
        assert actual == pytest.approx(expected, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_chords_code_the_angle_without_loss(form):
    X = with_near_pairs()
    code, norms, _ = signed_half_chords(form(X), form(X), np)
    assert norms == pytest.approx([math.hypot(*x) for x in X], rel=1e-15)
    for i, j in np.ndindex(code.shape):
        with mpmath.workdps(50):
            theta = angle(X[i], X[j])
            small = float(theta if code[i, j] >= 0 else mpmath.pi - theta)
        # Unit rows carry a rounding error of 1e-16 each.
        actual = 2 * math.asin(abs(code[i, j]) ** 0.5)
        assert actual == pytest.approx(small, rel=1e-12, abs=4e-16)


def test_manhattan_distances_equal_a_double_loop():
    X = np.random.default_rng(0).standard_normal((5, 3))
    expected = pairwise(lambda x, y: sum(abs(x - y)), X, X)
    assert manhattan_distances(X, X, np) == pytest.approx(expected, rel=1e-14)
    sparse = scipy.sparse.csr_array(X)
    assert manhattan_distances(sparse, sparse, np) == pytest.approx(expected, rel=1e-14)


def test_overflow_is_an_error():
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="overflow"):
        squared_distances(np.full((1, 2), 1e200), -np.full((1, 2), 1e200), np)
