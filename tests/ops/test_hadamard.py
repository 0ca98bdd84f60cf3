"""Tests of the one fast Walsh-Hadamard transform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.ops.hadamard import padded_length, walsh_hadamard, walsh_hadamard_twin
from oracles import hadamard


@given(st.integers(0, 7), st.integers(1, 4), st.sampled_from(["float32", "float64"]))
def test_transform_is_the_product_with_the_matrix(power, rows, dtype):
    X = np.random.default_rng(power).standard_normal((rows, 2**power)).astype(dtype)
    expected = X @ hadamard(2**power)
    tolerance = {"float32": 1e-5, "float64": 1e-13}[dtype]
    for transform in (walsh_hadamard, walsh_hadamard_twin):
        actual = transform(X, np)
        assert actual.dtype == dtype
        assert abs(actual - expected).max() <= tolerance * max(1, abs(expected).max())


def test_transform_twice_is_the_identity_times_its_length():
    X = np.random.default_rng(0).standard_normal((3, 64))
    kept = X.copy()
    assert walsh_hadamard(walsh_hadamard(X, np), np) == pytest.approx(64 * X)
    assert np.array_equal(X, kept)


def test_padded_length_is_the_next_power_of_two():
    for d in range(1, 200):
        p = padded_length(d)
        assert p >= d > p // 2
        assert p & (p - 1) == 0
