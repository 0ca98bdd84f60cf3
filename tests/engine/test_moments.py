"""Moments of columns against exact fractions, whatever the blocks, weights and containers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.engine.moments import ColumnMoments
from mercer.testing import array_libraries

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)
ENTRIES = FINITE | st.just(np.nan) | st.sampled_from([0.0, 1.0, 1e15, 1e15 + 1])
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e-3])


def oracle(X, weights):
    """Return weight, mean, variance, low and high of each column, in exact fractions."""
    for column in X.T:
        pairs = [
            (Fraction(float(x)), Fraction(float(w)))
            for x, w in zip(column, weights, strict=True)
            if w > 0 and not np.isnan(x)
        ]
        weight = sum(w for _, w in pairs)
        if not pairs:
            yield 0.0, np.nan, np.nan, np.inf, -np.inf
            continue
        mean = sum(w * x for x, w in pairs) / weight
        variance = sum(w * (x - mean) ** 2 for x, w in pairs) / weight
        values = [float(x) for x, _ in pairs]
        yield float(weight), float(mean), float(variance), min(values), max(values)


def assert_right(moments, X, weights):
    expected = np.asarray(list(oracle(X, weights))).T
    weight, mean, variance, low, high = expected
    kept = np.asarray(weights) > 0
    assert moments.n_rows == kept.sum()
    assert moments.row_weight == pytest.approx(np.sum(weights), rel=1e-12)
    assert np.array_equal(moments.count, (~np.isnan(X[kept])).sum(axis=0))
    assert moments.weight == pytest.approx(weight, rel=1e-12)
    assert np.array_equal(moments.low, low)
    assert np.array_equal(moments.high, high)
    known = ~np.isnan(mean)
    assert np.array_equal(np.isnan(moments.mean), ~known)
    error = abs(moments.mean - mean)[known]
    # Sparse blocks subtract the weight of missing entries from that of all: digits are lost where
    # hardly any weight is left.
    lost = np.sum(weights) / weight[known]
    allowed = 1e-15 * abs(mean[known]) + 1e-13 * lost * np.sqrt(variance[known])
    assert (error <= allowed).all()
    # What a mean loses in rounding is not seen as deviation.
    deviation = moments.deviation(rounding=0.0)
    assert deviation == pytest.approx(np.sqrt(variance), rel=1e-9, abs=1e-12, nan_ok=True)
    assert moments.variance() == pytest.approx(variance, rel=1e-9, abs=1e-24, nan_ok=True)
    same = low == high
    assert not deviation[same].any()
    assert np.array_equal(moments.mean[same], low[same])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.booleans())
def test_blocks_in_any_order_give_the_exact_moments(data, sizes, sparse):
    n = sum(sizes)
    X = data.draw(arrays(float, (n, 2), elements=ENTRIES))
    weights = data.draw(arrays(float, (n,), elements=WEIGHTS))
    if not weights.any():
        weights[0] = 1.0
    make = scipy.sparse.csr_array if sparse else np.asarray
    cuts = np.cumsum(sizes)[:-1]
    parts = list(zip(np.split(X, cuts), np.split(weights, cuts), strict=True))
    added = ColumnMoments()
    for block, own in parts:
        added.add(make(block), own)
    merged = ColumnMoments()
    for block, own in data.draw(st.permutations(parts)):
        merged.merge(ColumnMoments.of(make(block), own))
    for found in (added, merged):
        assert_right(found, X, weights)


@pytest.mark.parametrize("exponent", [-1070, -1000, -520, 0, 520, 1023])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_no_square_overflows_or_vanishes(exponent, make):
    plain = np.asarray([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    X = np.ldexp(plain, exponent)
    moments = ColumnMoments()
    for block in (X[:1], X[1:2], np.zeros((0, 2)), X[2:]):
        moments.add(make(block))
    # The last of 2**-1070 are subnormal numbers, of a few digits.
    tolerance = 0.1 if exponent < -1022 else 1e-12
    assert np.ldexp(moments.deviation(), -exponent) == pytest.approx(plain.std(axis=0), tolerance)
    pooled = np.ldexp(moments.pooled().deviation(), -exponent)
    assert pooled[0] == pytest.approx(plain.std(), tolerance)


def test_zeros_first_and_tiny_entries_after():
    moments = ColumnMoments.of(np.zeros((2, 1)))
    moments.add(np.asarray([[1e-200], [3e-200]]))
    assert moments.deviation() == pytest.approx(np.std([0, 0, 1e-200 * 1e200, 3]) * 1e-200)
    tiny_first = ColumnMoments.of(np.asarray([[1e-200], [3e-200]]))
    tiny_first.add(np.zeros((2, 1)))
    assert np.array_equal(tiny_first.deviation(), moments.deviation())


def test_one_row_of_almost_no_weight_far_away_costs_no_digits():
    X = np.random.default_rng(0).standard_normal((100, 1))
    moments = ColumnMoments.of(np.asarray([[1e10]]), np.asarray([1e-300]))
    moments.add(X)
    assert moments.mean == pytest.approx(X.mean(axis=0), rel=1e-12)
    assert moments.deviation() == pytest.approx(X.std(axis=0), rel=1e-12)


def test_a_row_of_weight_zero_is_no_row():
    X = np.asarray([[np.inf, 1e10], [1.0, 2.0], [3.0, 2.0]])
    for make in (np.asarray, scipy.sparse.csr_array):
        moments = ColumnMoments.of(make(X), np.asarray([0.0, 1.0, 1.0]))
        assert moments.mean.tolist() == [2.0, 2.0]
        assert moments.deviation().tolist() == [1.0, 0.0]
        assert moments.n_rows == 2
    nothing = ColumnMoments.of(X, np.zeros(3))
    assert nothing.n_rows == 0
    nothing.merge(ColumnMoments())
    assert nothing.row_weight == 0.0


def test_rounding_is_no_deviation_unless_asked_for():
    X = np.asarray([[0.1 + 0.2], [0.3]])
    moments = ColumnMoments.of(X)
    assert moments.deviation().tolist() == [0.0]
    assert moments.deviation(rounding=0.0)[0] > 0


def test_infinity_is_nan_without_a_warning():
    for make in (np.asarray, scipy.sparse.csr_array):
        moments = ColumnMoments.of(make(np.asarray([[np.inf, 1.0], [1.0, 2.0]])))
        moments.add(make(np.ones((2, 2))))
        assert np.isnan(moments.deviation()).tolist() == [True, False]
        assert moments.high[0] == np.inf


def test_blocks_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"must have 2 columns.*got 3"):
        ColumnMoments.of(np.eye(2)).add(np.eye(3))


def test_pooled_moments_are_those_of_all_entries():
    X = np.random.default_rng(0).standard_normal((50, 4)) + 1e6
    X[X < 1e6 - 1] = np.nan
    pooled = ColumnMoments.of(X).pooled()
    assert pooled.mean[0] == pytest.approx(np.nanmean(X), rel=1e-14)
    assert pooled.deviation()[0] == pytest.approx(np.nanstd(X), rel=1e-12)
    assert pooled.n_rows == pooled.count[0] == np.isfinite(X).sum()
    assert ColumnMoments.of(np.full((3, 3), 0.1)).pooled().deviation(rounding=0.0)[0] == 0.0
    assert ColumnMoments().pooled().n_rows == 0


def test_a_copy_goes_its_own_way():
    moments = ColumnMoments.of(np.eye(2))
    other = moments.copy()
    other.add(np.ones((5, 2)))
    assert moments.n_rows == 2
    assert moments.mean.tolist() == [0.5, 0.5]


@pytest.mark.arrays
@pytest.mark.parametrize("name", array_libraries())
def test_arrays_of_every_library(name):
    make = array_libraries()[name]
    X = np.random.default_rng(0).standard_normal((20, 3)) * [1.0, 1e300, 1e-300]
    X[4, 1] = np.nan
    weights = np.arange(20.0) % 3
    for own in (None, weights):
        found, expected = ColumnMoments.of(make(X), own), ColumnMoments.of(X, own)
        assert found.mean == pytest.approx(expected.mean, rel=1e-12)
        assert found.deviation() == pytest.approx(expected.deviation(), rel=1e-12)
        assert np.array_equal(found.low, expected.low)
        assert np.array_equal(found.count, expected.count)
