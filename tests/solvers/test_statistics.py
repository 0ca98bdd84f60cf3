"""Tests of the sums that one pass gathers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.solvers import Moments, RidgeStatistics


def problem(n=60, m=5, t=2, seed=0, offset=100.0):
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((n, m)) + offset
    return Z, Z @ generator.standard_normal((m, t)) + 7, generator.uniform(0.1, 2, n)


def direct(Z, Y, weights):
    """Return the centred sums from their definitions."""
    mean_z, mean_y = np.average(Z, axis=0, weights=weights), np.average(Y, axis=0, weights=weights)
    Z, Y = Z - mean_z, Y - mean_y
    weighted = Z * weights[:, None]
    return weighted.T @ Z, weighted.T @ Y, (weights[:, None] * Y * Y).sum(axis=0)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.booleans(), st.randoms())
def test_blocks_in_any_order_and_merged_parts_are_the_whole(sizes, weighted, random):
    Z, Y, weights = problem(sum(sizes))
    if not weighted:
        weights = np.ones(len(Z))
    blocks = np.split(np.arange(len(Z)), np.cumsum(sizes)[:-1])
    random.shuffle(blocks)
    streamed, merged = Moments(5, 2), Moments(5, 2)
    for rows in blocks:
        streamed.add(Z[rows], Y[rows], weights[rows] if weighted else None)
        part = Moments(5, 2)
        part.add(Z[rows], Y[rows], weights[rows] if weighted else None)
        merged.merge(part)
    for expected, *actual in zip(
        direct(Z, Y, weights), streamed.centred(True), merged.centred(True), strict=True
    ):
        for value in actual:
            assert value == pytest.approx(expected, rel=1e-10, abs=1e-9)
    assert merged.n_rows == len(Z)
    assert merged.weight == pytest.approx(weights.sum())


def test_without_an_intercept_the_sums_are_about_zero():
    Z, Y, _ = problem()
    moments = Moments(5, 2)
    moments.add(Z, Y)
    gram, cross, squares = moments.centred(False)
    assert gram == pytest.approx(Z.T @ Z)
    assert cross == pytest.approx(Z.T @ Y)
    assert squares == pytest.approx((Y**2).sum(axis=0))


def test_the_rest_of_a_part_is_the_other_part():
    Z, Y, _ = problem()
    whole, part, rest = Moments(5, 2), Moments(5, 2), Moments(5, 2)
    whole.add(Z, Y)
    part.add(Z[:20], Y[:20])
    rest.add(Z[20:], Y[20:])
    for actual, expected in zip(whole.without(part).centred(True), rest.centred(True), strict=True):
        assert actual == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_float32_features_are_summed_in_float64():
    Z, Y, _ = problem(20_000, offset=3.0)
    Z = Z.astype(np.float32)
    moments = Moments(5, 2)
    for start in range(0, len(Z), 100):
        moments.add(Z[start : start + 100], Y[start : start + 100])
    expected = direct(Z.astype(float), Y, np.ones(len(Z)))[0]
    assert moments.gram.dtype == np.float64
    assert np.linalg.norm(moments.centred(True)[0] - expected) <= 1e-6 * np.linalg.norm(expected)


def test_input_is_left_alone_unless_it_may_be_overwritten():
    Z, Y, weights = problem()
    kept = Z.copy()
    moments = Moments(5, 2)
    moments.add(Z, Y, weights)
    assert np.array_equal(Z, kept)
    other = Moments(5, 2)
    other.add(Z.copy(), Y, weights, overwrite=True)
    assert np.array_equal(other.gram, moments.gram)


def test_folds_cover_all_rows_and_do_not_depend_on_blocks():
    Z, Y, _ = problem(100)
    whole, streamed = RidgeStatistics(5, 2, 4), RidgeStatistics(5, 2, 4)
    whole.add(Z, Y)
    for start in range(0, 100, 7):
        streamed.add(Z[start : start + 7], Y[start : start + 7])
    assert whole.n_rows == streamed.n_rows == 100
    for one, other in zip(whole.folds, streamed.folds, strict=True):
        assert one.n_rows == other.n_rows > 0
        assert one.centred(True)[0] == pytest.approx(other.centred(True)[0], abs=1e-9)


def test_statistics_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="same features"):
        RidgeStatistics(5, 2).merge(RidgeStatistics(5, 3))


@pytest.mark.parametrize("n_folds", [0, 4])
def test_the_variance_of_the_targets_is_that_of_all_rows(n_folds):
    generator = np.random.default_rng(3)
    Z, Y = generator.standard_normal((60, 3)), 50.0 + generator.standard_normal((60, 2))
    weights = generator.uniform(0.1, 2.0, 60)
    statistics = RidgeStatistics(3, 2, n_folds)
    for start in (0, 25):
        stop = start + 35 if start else 25
        statistics.add(Z[start:stop], Y[start:stop], weights[start:stop])
    mean = np.average(Y, axis=0, weights=weights)
    expected = np.average((Y - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(statistics.variance(), expected, rtol=1e-12)
