"""Tests of the vectorised cosine and sine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.ops.fourier import cosine_sine


def compiled(phases, n_components):
    out = np.empty((phases.shape[0], n_components), dtype=phases.dtype)
    return cosine_sine(phases, n_components, np, out)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-7), ("float64", 4e-16)])
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 100.0, 1e4, 1e6, 1e9, 1e30])
def test_all_magnitudes_are_exact_to_rounding(dtype, tolerance, scale):
    phases = (scale * np.random.default_rng(0).standard_normal((50, 40))).astype(dtype)
    exact = phases.astype(np.float64)
    expected = np.concatenate([np.cos(exact), np.sin(exact)], axis=1)
    assert abs(compiled(phases, 80) * 40**0.5 - expected).max() <= tolerance


def test_multiples_of_a_right_angle():
    phases = np.arange(-40, 41)[None] * (np.pi / 2)
    expected = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    assert abs(compiled(phases, 162) * 81**0.5 - expected).max() <= 4e-16


def test_one_large_phase_does_not_spoil_its_row():
    phases = np.array([[1.0, 1e200, -2.0]])
    expected = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    assert compiled(phases, 6) * 3**0.5 == pytest.approx(expected, abs=1e-15)


@given(
    arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 20)), elements=st.floats(-1e7, 1e7)),
    st.booleans(),
)
def test_compiled_features_equal_their_twin(phases, odd):
    n_components = 2 * phases.shape[1] - odd
    expected = cosine_sine(phases, n_components, np)
    assert compiled(phases, n_components) == pytest.approx(expected, abs=1e-15)
