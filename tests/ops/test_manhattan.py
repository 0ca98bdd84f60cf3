"""Tests of sums of signs and sizes of differences against double loops and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer._array import namespace, to_numpy
from mercer.ops.manhattan import (
    absolute_sums,
    absolute_sums_twin,
    signed_sums,
    signed_sums_twin,
)
from mercer.testing import array_libraries

#: Few different values, so that there are ties.
ROWS = arrays(float, st.tuples(st.integers(1, 5), st.just(3)), elements=st.integers(-2, 2))


def numbers(X, Y, n_targets=2):
    generator = np.random.default_rng(0)
    W = generator.standard_normal((len(X), len(Y)))
    W[0, 0] = 0.0
    return W, generator.standard_normal((len(Y), n_targets))


@given(X=ROWS, Y=ROWS)
def test_sums_equal_loops(X, Y):
    W, C = numbers(X, Y)
    signed, absolute = np.zeros((2, len(X), 3)), np.zeros(3)
    for i in range(len(X)):
        for j in range(len(Y)):
            absolute += W[i, j] * abs(X[i] - Y[j])
            for t in range(2):
                signed[t, i] += W[i, j] * C[j, t] * np.sign(X[i] - Y[j])
    for found in (signed_sums(W, X, Y, C, np), signed_sums_twin(W, X, Y, C, np)):
        assert np.stack(found) == pytest.approx(signed, abs=1e-13)
    for found in (absolute_sums(W, X, Y, np), absolute_sums_twin(W, X, Y, np)):
        assert found == pytest.approx(absolute, abs=1e-13)


def test_libraries_and_layouts_agree():
    generator = np.random.default_rng(1)
    X, Y = generator.standard_normal((6, 4)), generator.standard_normal((5, 4))
    W, C = numbers(X, Y, 3)
    expected = signed_sums(W, X, Y, C, np), absolute_sums(W, X, Y, np)
    columns = [np.asfortranarray(part) for part in (W, X, Y, C)]
    assert np.array_equal(signed_sums(*columns, np), expected[0])
    for make in array_libraries().values():
        w, x, y, c = (make(part) for part in (W, X, Y, C))
        xp = namespace(x)
        for found, wanted in zip(signed_sums(w, x, y, c, xp), expected[0], strict=True):
            assert to_numpy(found) == pytest.approx(wanted, abs=1e-13)
        found = to_numpy(absolute_sums(w, x, y, xp))
        assert found == pytest.approx(expected[1], abs=1e-13)
