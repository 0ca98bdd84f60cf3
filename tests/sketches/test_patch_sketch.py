"""Sketches of patches: loops as oracles, means in standard errors, and what is exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._random import Stream
from mercer.ops.gates import n_directions, relu_and_gated
from mercer.ops.patches import Taps, neighbours, patches, tapped
from mercer.sketches import PatchSketch


def images_of(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def inside(images, row, column):
    return 0 <= row < images.shape[1] and 0 <= column < images.shape[2]


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4)),
    st.integers(1, 9),
    st.sampled_from([1, 3, 5]),
    st.integers(0, 10**6),
)
def test_sketch_equals_loops(shape, size, filter_size, seed):
    images, channels = images_of(shape, seed), shape[3]
    generator = np.random.default_rng(seed)
    steps = np.asarray(neighbours(filter_size, 2), dtype=np.int32)
    # Channels follow each other, as those of the sketch do.
    starts = generator.integers(channels, size=(len(steps), -(-size // channels)))
    columns = (np.repeat(starts, channels, axis=1)[:, :size] + np.arange(size)) % channels
    signs = generator.choice([-1.0, 1.0], columns.shape)
    found = tapped(images, Taps(channels, steps, columns.astype(np.int32), signs), np)
    expected = np.zeros((*shape[:3], size))
    for k, y, x, j in np.ndindex(*expected.shape):
        for tap, (down, right) in enumerate(steps):
            if inside(images, y + down, x + right):
                channel = columns[tap, j]
                expected[k, y, x, j] += signs[tap, j] * images[k, y + down, x + right, channel]
    assert found == pytest.approx(expected.reshape(-1, size), abs=1e-12)


@pytest.mark.parametrize("n_axes", [1, 2])
def test_patches_equal_loops(n_axes):
    images = images_of((2, 1 if n_axes == 1 else 3, 4, 2))
    found = patches(images, 3, n_axes, np).reshape(*images.shape[:3], -1, 2)
    steps = neighbours(3, n_axes)
    assert len(steps) == 3**n_axes
    for k, y, x in np.ndindex(*images.shape[:3]):
        for tap, (down, right) in enumerate(steps):
            there = inside(images, y + down, x + right)
            wanted = images[k, y + down, x + right] if there else np.zeros(2)
            assert found[k, y, x, tap] * len(steps) ** 0.5 == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("size", [1, 5, 8, 12, 30])
def test_inner_products_of_patches_are_unbiased(size):
    images = images_of((2, 3, 4, 8))
    rows = patches(images, 3, 2, np)
    exact = rows @ rows.T
    found = []
    for seed in range(400):
        Z = PatchSketch(Stream(seed), 8, size, 3, 2).sketch(images, np)
        found.append(Z @ Z.T)
    error = np.std(found, axis=0, ddof=1) / 20
    assert (abs(np.mean(found, axis=0) - exact) / error).max() < 4.5


def test_one_tap_is_exact_and_channels_beyond_are_ignored():
    images = images_of((2, 3, 4, 9))
    Z = PatchSketch(Stream(0), 8, 8, 1, 2).sketch(images, np)
    rows = images[..., :8].reshape(-1, 8)
    assert Z @ Z.T == pytest.approx(rows @ rows.T, abs=1e-12)


def test_variance_is_that_of_the_formula():
    u, v = images_of((2, 5, 8)) + 0.5
    found = []
    for seed in range(3000):
        Z = PatchSketch(Stream(seed), 8, 8, 5, 1).sketch(np.stack([u, v])[:, None], np)
        # The patch of the middle is the whole signal.
        found.append(Z[2] @ Z[7])
    squares, others, inner = (u * u).sum(axis=1), (v * v).sum(axis=1), (u * v).sum(axis=1)
    expected = 0.0
    for a in range(5):
        for b in range(a):
            both = squares[a] * others[b] + squares[b] * others[a]
            expected += (both + 2 * inner[a] * inner[b]) / (25 * 8)
    deviation = (np.asarray(found) - inner.mean()) ** 2
    assert abs(deviation.mean() - expected) < 5 * deviation.std() / len(found) ** 0.5


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(0, 7), st.integers(1, 7), st.integers(0, 10**6))
def test_gates_equal_loops(n, n_relu, n_gated, seed):
    generator = np.random.default_rng(seed)
    P = generator.standard_normal((n, n_directions(max(n_relu, n_gated))))
    P[0, 0] = 0.0
    Y = generator.standard_normal((n, n_gated))
    found = relu_and_gated(P, Y, n_relu, np)
    for i in range(n):
        for j in range(n_relu):
            half = n_directions(n_relu)
            p = P[i, j] if j < half else -P[i, j - half]
            assert found[i, j] == pytest.approx((2 / n_relu) ** 0.5 * max(p, 0.0))
        for j in range(n_gated):
            half = n_directions(n_gated)
            p = P[i, j] if j < half else -P[i, j - half]
            assert found[i, n_relu + j] == pytest.approx(2**0.5 * Y[i, j] if p > 0 else 0.0)
