"""Tests of random directions: norms, uniformity, orthogonality, nesting."""

import numpy as np
import pytest

from mercer._random import Stream
from mercer.sketches import (
    draw_probabilities,
    gibbs_directions,
    haar_directions,
    spherical_directions,
    spherical_structured_directions,
)
from mercer.sketches.directions import conditional_distribution, gibbs_vectors
from mercer.sketches.spherical_structured import structured_points
from mercer.testing import peak_bytes

NESTED = [
    spherical_directions,
    haar_directions,
    gibbs_directions,
    spherical_structured_directions,
]


@pytest.mark.parametrize("draw", NESTED)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_directions_have_norm_one(draw, d):
    W = draw(Stream(0), d, 17)
    assert W.shape == (d, 17)
    assert np.linalg.norm(W, axis=0) == pytest.approx(np.ones(17))


@pytest.mark.parametrize("draw", NESTED)
def test_more_directions_begin_with_the_fewer(draw):
    many = draw(Stream(5), 4, 600)
    for size in (1, 3, 255, 257, 599):
        assert draw(Stream(5), 4, size) == pytest.approx(many[:, :size], abs=1e-14)


@pytest.mark.parametrize("draw", [spherical_directions, haar_directions])
def test_few_directions_of_wide_rows_cost_little(draw):
    _, peak = peak_bytes(lambda: draw(Stream(0), 20_000, 4))
    assert peak < 20 * 4 * 20_000 * 8


def test_more_directions_than_memory_are_refused_in_a_sentence():
    with pytest.raises(MemoryError, match="fewer components"):
        spherical_directions(Stream(0), 2**30, 2**20)


def test_haar_blocks_are_orthonormal_and_uniform():
    W = haar_directions(Stream(0), 5, 12)
    assert W[:, :5].T @ W[:, :5] == pytest.approx(np.eye(5), abs=1e-14)
    assert W[:, 5:10].T @ W[:, 5:10] == pytest.approx(np.eye(5), abs=1e-14)
    assert abs(W[:, :5].T @ W[:, 5:10]).max() > 0.1
    # Without the signs of R, the first entry of a block would never be positive (or negative).
    first = np.array([haar_directions(Stream(seed), 3, 3)[:, 0] for seed in range(2000)])
    assert np.all(abs(first.mean(axis=0)) <= 4.5 / np.sqrt(3 * 2000))
    assert np.all(abs((first**2).mean(axis=0) - 1 / 3) <= 4.5 * np.sqrt(4 / 45 / 2000))


def test_structured_points_are_a_tight_frame():
    for half, size in ((1, 6), (4, 34), (8, 82), (16, 194)):
        points = structured_points(half, size)
        assert len(points) >= size
        assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(len(points)))
        frame = points.T @ points
        assert frame == pytest.approx(np.eye(2 * half) * len(points) / (2 * half), abs=1e-9)


def test_conditional_distribution_is_the_integral_of_its_density():
    x = np.linspace(-6, 6, 4001)
    for others in (0.0, 0.7, 5.0):
        density = (x**2 + others) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / (1 + others)
        step = x[1] - x[0]
        integral = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) * step / 2)])
        assert conditional_distribution(x, others) == pytest.approx(integral, abs=1e-5)


@pytest.mark.parametrize("d", [3, 5])
def test_many_gibbs_sweeps_reach_the_law_and_one_does_not(d):
    # Under the norm-weighted law |v|² is chi squared with d + 2 degrees of freedom.
    generator = np.random.default_rng(0)
    error = np.sqrt(2 * (d + 2) / 20_000)
    squares = (gibbs_vectors(generator, 20_000, d, sweeps=6) ** 2).sum(axis=1)
    assert abs(squares.mean() - (d + 2)) <= 4.5 * error
    assert squares.var() == pytest.approx(2 * (d + 2), rel=0.06)
    once = (gibbs_vectors(generator, 20_000, d, sweeps=1) ** 2).sum(axis=1)
    assert abs(once.mean() - (d + 2)) > 4.5 * error


@pytest.mark.parametrize("stratified", [True, False])
def test_probabilities_are_uniform_and_nested(stratified):
    many = draw_probabilities(Stream(1), 1000, stratified)
    assert np.array_equal(draw_probabilities(Stream(1), 10, stratified), many[:10])
    firsts = np.array([draw_probabilities(Stream(s), 3, stratified) for s in range(3000)])
    counts = np.histogram(firsts[:, 2], bins=10, range=(0, 1))[0]
    assert ((counts - 300) ** 2 / 300).sum() < 28  # chi squared, 9 degrees: 1 in 1000
    assert 0 < many.min() < many.max() < 1
    gaps = np.diff(np.sort(many))
    assert (gaps.max() < 3 / 1000) == stratified
