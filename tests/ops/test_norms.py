"""Tests of norms that neither overflow nor underflow."""

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from mercer.ops.norms import row_norms, unit_rows


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5), st.integers(-300, 300))
def test_norms_at_every_magnitude(values, exponent):
    X = np.array([values]) * 10.0**exponent
    expected = float(math.hypot(*X[0]))
    for rows in (X, scipy.sparse.csr_array(X)):
        # Entries in the subnormal range have fewer digits to begin with.
        assert row_norms(rows, np)[0] == pytest.approx(expected, rel=1e-13, abs=1e-307)


def test_unit_rows_have_norm_one_or_zero():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 1e-200], [1e200, -1e200]])
    for rows in (X, scipy.sparse.csr_array(X)):
        unit, norms = unit_rows(rows, np)
        dense = unit.toarray() if scipy.sparse.issparse(unit) else unit
        assert np.linalg.norm(dense, axis=1) == pytest.approx([1, 0, 1, 1])
        assert norms == pytest.approx([5, 0, math.sqrt(2) * 1e-200, math.sqrt(2) * 1e200])
