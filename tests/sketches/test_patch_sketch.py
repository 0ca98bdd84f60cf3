"""Sketches and samples of patches: loops as oracles, means in standard errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._random import Stream
from mercer.ops.gates import Activation, activated, n_directions
from mercer.ops.patches import Taps, neighbours, patches, picked, tapped
from mercer.sketches import PatchSample, PatchSketch


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


@pytest.mark.parametrize(
    ("parts", "size"), [((5, 3), 1), ((5, 3), 5), ((5, 3), 50), ((8, 16), 64), ((8, 16), 200)]
)
def test_inner_products_of_samples_are_unbiased(parts, size):
    images = images_of((2, 3, 4, sum(parts))) + 0.3
    rows = patches(images, 3, 2, np)
    exact = rows @ rows.T
    found = []
    for seed in range(400):
        Z = picked(images, PatchSample(Stream(seed), parts, size, 3, 2).picks, np)
        found.append(Z @ Z.T)
    error = np.std(found, axis=0, ddof=1) / 20
    assert (abs(np.mean(found, axis=0) - exact) / error).max() < 4.5


def test_a_sample_has_equal_shares_of_neighbours_and_parts():
    places = PatchSample(Stream(0), (10, 30), 72, 3, 2).picks.places
    shares, counts = np.unique(np.stack([*places[:2], places[2] >= 10]), axis=1, return_counts=True)
    assert shares.shape[1] == 18
    assert (counts == 4).all()
    assert (places[2] < 40).all()


@pytest.mark.parametrize(("parts", "size"), [((64, 64), 40), ((16, 24), 200), ((8, 8), 8)])
def test_channels_are_read_in_runs_of_eight(parts, size):
    picks = PatchSample(Stream(1), parts, size, 3, 2).picks
    taps = PatchSketch(Stream(1), sum(parts), size, 3, 2).taps
    assert picks.together == taps.together == 8
    runs = picks.places.reshape(3, -1, 8)
    assert (runs[:2] == runs[:2, :, :1]).all()
    for channels in (runs[2], taps.columns.reshape(-1, 8)):
        assert (channels == channels[:, :1] + np.arange(8)).all()
        assert not (channels[:, 0] % 8).any()
    assert PatchSample(Stream(1), (*parts, 3), size, 3, 2).picks.together == 1


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)),
    st.integers(0, 7),
    st.integers(1, 30),
    st.sampled_from([None, 2, 4]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_activated_projections_equal_loops(shape, n_relu, n_gated, degree, pooled, seed):
    planes, generator = images_of(shape, seed), np.random.default_rng(seed)
    n_rows, k = int(np.prod(shape[:3])), n_directions(max(n_relu, n_gated))
    P, norms = generator.standard_normal((n_rows, k)), generator.uniform(1, 2, n_rows)
    P[0, 0] = 0.0
    picks = PatchSample(Stream(seed), (shape[3],), n_gated, 3, 2).picks
    activation = Activation.of_degree(degree)
    found = activated(P, norms, planes, picks, n_relu, activation, pooled, np)
    expected = np.zeros((*shape[:3], n_relu + n_gated))
    for i, y, x, j in np.ndindex(*expected.shape):
        row = (i * shape[1] + y) * shape[2] + x
        place = j if j < n_relu else j - n_relu
        half = n_directions(n_relu if j < n_relu else n_gated)
        p = P[row, place] if place < half else -P[row, place - half]
        z = p / norms[row]
        if j < n_relu:
            value = np.polyval(activation.relu[::-1], z) * norms[row] if degree else max(p, 0.0)
            expected[i, y, x, j] = (2 / n_relu) ** 0.5 * value
            continue
        down, right, channel = picks.places[:, place]
        if inside(planes, y + down, x + right):
            slope = np.polyval(activation.step[::-1], z) if degree else float(p > 0)
            there = planes[i, y + down, x + right, channel]
            expected[i, y, x, j] = 2**0.5 * slope * picks.scales[place] * there
    assert found == pytest.approx(expected.mean(axis=(1, 2)) if pooled else expected, abs=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 4, 6])
def test_series_of_the_relu_are_those_of_its_kernel(degree):
    activation = Activation.of_degree(degree)
    z, weights = np.polynomial.hermite_e.hermegauss(20)
    weights = weights / weights.sum()
    relu, step = (np.polyval(part[::-1], z) for part in (activation.relu, activation.step))
    # The kernels of order 1 and 0 at 1: 1/π + 1/2 + 1/2π + 1/24π + ..., 1/2 + 1/π + 1/6π + ...
    terms = np.asarray([1 / np.pi, 0.5, 0.5 / np.pi, 0, 1 / 24 / np.pi, 0, 1 / 80 / np.pi])
    slopes = np.asarray([0.5, 1 / np.pi, 0, 1 / 6 / np.pi, 0, 3 / 40 / np.pi])
    assert 2 * weights @ relu**2 == pytest.approx(terms[: degree + 1].sum(), rel=1e-12)
    assert 2 * weights @ step**2 == pytest.approx(slopes[:degree].sum(), rel=1e-12)
    assert activation.step == pytest.approx(np.polyder(activation.relu[::-1])[::-1], abs=1e-14)
