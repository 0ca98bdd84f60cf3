"""Tests of the recursion on angles against 50-digit arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.ops.angles import RELU, STEP, TANGENT, relu_kernel, relu_kernel_twin
from mercer.ops.distances import signed_half_chords
from oracles import relu_network

ANGLES = [0.0, 1e-12, 1e-8, 1e-4, 1e-2, 0.3, 1.0, np.pi / 2, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-8]


def code_of(theta):
    """Return the code of an angle, exact at both ends."""
    return np.where(theta <= np.pi / 2, np.sin(theta / 2) ** 2, -(np.sin((np.pi - theta) / 2) ** 2))


@pytest.mark.parametrize("quantity", [STEP, RELU, TANGENT])
@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_layers_equal_the_oracle(depth, quantity):
    X = np.array([[np.cos(theta), np.sin(theta)] for theta in ANGLES])
    expected = [relu_network([1.0, 0.0], x, depth)[quantity] for x in X]
    code, *norms = signed_half_chords(np.array([[1.0, 0.0]]), X, np)
    assert relu_kernel(code, norms, depth, quantity, np)[0] == pytest.approx(expected, abs=2e-15)
    out = np.empty(code.shape, dtype=np.float32)
    relu_kernel(code, norms, depth, quantity, np, out)
    assert out[0] == pytest.approx(expected, abs=1e-6)


@given(
    theta=st.lists(st.floats(0, np.pi), min_size=1, max_size=40),
    depth=st.integers(1, 6),
    quantity=st.sampled_from([STEP, RELU, TANGENT]),
)
def test_compiled_layers_equal_their_twin(theta, depth, quantity):
    code = code_of(np.array([theta]))
    ones = np.ones(1), np.ones(len(theta))
    expected = relu_kernel_twin(code, depth, quantity, np)
    assert relu_kernel(code, ones, depth, quantity, np) == pytest.approx(expected, abs=1e-14)


def test_values_of_the_reference_table():
    t = np.array([[-1.0, -0.5, 0.0, 0.5, 0.9, 1.0]])
    code = np.where(t < 0, -np.maximum((1 + t) / 2, 1e-300), (1 - t) / 2)
    table = {
        1: [0, -0.0576688856, 0.3183098862, 0.9423311144, 1.6803287350, 2],
        2: [0.3183098862, 0.3438622463, 0.6857086363, 1.3514795611, 2.3688136627, 3],
        3: [0.6857086363, 0.7422493226, 1.0603881068, 1.7378446792, 2.9856931874, 4],
        5: [1.4303904972, 1.5071068020, 1.7921959668, 2.4628931325, 4.0608947406, 6],
    }
    ones = np.ones(1), np.ones(6)
    for depth, values in table.items():
        assert relu_kernel(code, ones, depth, TANGENT, np)[0] == pytest.approx(values, abs=1e-10)
