"""Tests of the distributions of columns: against sorting everything, in blocks of any order."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.preprocessing.quantiles import MOST_POINTS, ColumnQuantiles, Quantiles

#: What the documentation says of the error, and what users may rely on.
USUAL, MOST = 0.002, 0.005


def distribution_function(numbers, x):
    """Return the middle of the step at each x, number by number."""
    below = np.array([np.sum(numbers < value) for value in x])
    equal = np.array([np.sum(numbers == value) for value in x])
    return (below + equal / 2) / len(numbers)


def estimated(quantiles, x):
    return quantiles.ranks()(np.asarray(x, dtype=float), np) / np.sqrt(12) + 0.5


def error(quantiles, numbers):
    """Return the largest error of the function at 300 of the numbers, the ends among them."""
    x = np.unique(numbers)
    x = x[np.unique(np.linspace(0, len(x) - 1, 300).astype(int))]
    return abs(estimated(quantiles, x) - distribution_function(numbers, x)).max()


def draws(kind, n, generator):
    """Return numbers of various distributions, with ties and without."""
    if kind == "normal":
        return generator.standard_normal(n)
    if kind == "heavy tails":
        return generator.standard_cauchy(n) ** 3
    if kind == "many zeros":
        return np.where(generator.random(n) < 0.4, 0.0, generator.exponential(size=n))
    if kind == "rounded":
        return generator.standard_normal(n).round(3)
    if kind == "codes and numbers":
        codes = generator.integers(0, 700, n)
        return np.where(generator.random(n) < 0.5, codes, 700 * generator.random(n))
    return np.minimum(generator.zipf(1.5, n), 10**9).astype(float)


KINDS = ("normal", "heavy tails", "many zeros", "rounded", "codes and numbers", "zipf")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["as drawn", "sorted", "sorted, blocks shuffled"])
@pytest.mark.parametrize("size", [50, 1000, 20_000])
def test_the_error_stays_small_in_blocks_of_any_order(kind, order, size):
    generator = np.random.default_rng(0)
    numbers = draws(kind, 40_000, generator)
    blocks = (np.sort(numbers) if order != "as drawn" else numbers).reshape(-1, size)
    if order == "sorted, blocks shuffled":
        blocks = blocks[generator.permutation(len(blocks))]
    found = Quantiles.of(blocks[0])
    for block in blocks[1:]:
        found = found.merged(Quantiles.of(block))
    assert len(found.values) <= MOST_POINTS
    assert found.weights.sum() == len(numbers)
    assert (np.diff(found.values) > 0).all()
    assert error(found, numbers) <= 1.25 * USUAL


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 4000), min_size=1, max_size=8),
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
)
def test_merged_blocks_are_one_pass_within_the_error(sizes, kind, seed):
    numbers = draws(kind, sum(sizes) + 1, np.random.default_rng(seed))
    blocks = [Quantiles.of(block) for block in np.split(numbers, np.cumsum(sizes))]
    forward, backward = blocks[0], blocks[-1]
    for block in blocks[1:]:
        forward = forward.merged(block)
    for block in blocks[-2::-1]:
        backward = block.merged(backward)
    for found in (forward, backward, Quantiles.of(numbers)):
        assert found.weights.sum() == len(numbers)
        assert error(found, numbers) <= (1e-12 if found.exact else MOST)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3).map(float)),
        min_size=2,
        max_size=30,
    ),
    st.integers(0, 5),
)
def test_few_numbers_of_any_size_have_exact_ranks(numbers, n_missing):
    numbers = np.asarray(numbers)
    found = Quantiles.of(np.append(numbers, [np.nan] * n_missing))
    values, counts = np.unique(numbers, return_counts=True)
    assert np.array_equal(found.values, values)
    assert np.array_equal(found.weights, counts)
    if len(values) > 1:
        assert error(found, numbers) <= 1e-12
        everywhere = np.sort(np.concatenate([values, values[1:] / 2 + values[:-1] / 2]))
        assert (np.diff(estimated(found, everywhere)) >= -1e-12).all()


def test_ranks_between_and_beyond_the_known_values():
    found = Quantiles.of(np.asarray([10.0, 10.0, 20.0, 40.0]))
    x = [-1e300, 10.0, 15.0, 20.0, 25.0, 40.0, 1e300]
    assert estimated(found, x) == pytest.approx(
        [0.25, 0.25, (0.25 + 0.625) / 2, 0.625, 0.625 + 0.25 / 4, 0.875, 0.875]
    )
    assert np.isnan(estimated(found, [np.nan])).all()


def test_a_frequent_value_is_a_step_when_its_neighbours_are_grouped():
    numbers = np.concatenate([np.zeros(50_000), 1 + np.random.default_rng(0).random(50_000)])
    found = Quantiles.of(numbers)
    assert not found.exact
    assert estimated(found, [0.0, 1.0]) == pytest.approx([0.25, 0.5], abs=USUAL)


def test_the_largest_numbers_do_not_overflow():
    most = np.finfo(float).max
    numbers = np.concatenate([[-most, most, 5e-324, 0.0], np.linspace(-1.0, 1.0, 3000)])
    assert error(Quantiles.of(numbers), numbers) <= USUAL
    assert estimated(Quantiles.of(np.asarray([-most, most])), [0.0]) == pytest.approx([0.5])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32"])
def test_numbers_of_every_type_are_counted(dtype):
    numbers = np.random.default_rng(0).integers(0, 200, 500).astype(dtype)
    values, counts = np.unique(numbers, return_counts=True)
    found = Quantiles.of(numbers)
    assert np.array_equal(found.values, values.astype(float))
    assert np.array_equal(found.weights, counts)
    assert found.values.dtype == float


def test_large_integers_that_float64_cannot_hold_are_one_value():
    assert Quantiles.of(2**60 + np.arange(5)).values.tolist() == [2.0**60]


def test_nothing_and_a_constant():
    nothing = Quantiles.of(np.asarray([np.nan, np.nan]))
    assert len(nothing.values) == 0
    constant = Quantiles.of(np.full(10_000, 7.0))
    for found in (constant.merged(nothing), nothing.merged(constant)):
        assert (found.values.tolist(), found.weights.tolist()) == ([7.0], [10_000])


def test_whole_values_are_few_and_whole():
    for numbers, expected in (
        ([3.0, 1.0, 2.0, 2.0], [1.0, 2.0, 3.0]),
        ([0.0, 1.0, 1.0], None),
        ([0.0, 0.5, 1.0], None),
        (np.arange(5.0), None),
        ([1.0, 2.0, 2.0**60], None),
    ):
        found = Quantiles.of(np.asarray(numbers)).whole_values(4)
        assert (found if found is None else found.tolist()) == expected


def test_sparse_columns_have_their_zeros():
    X = scipy.sparse.random_array((60, 4), density=0.3, random_state=0, format="csr")
    sparse, dense = ColumnQuantiles(), ColumnQuantiles()
    sparse.add(X)
    dense.add(X.toarray())
    dense.flush()
    for one, other in zip(sparse.columns, dense.columns, strict=True):
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.weights, other.weights)


def test_a_copy_of_distributions_is_independent():
    first = ColumnQuantiles()
    first.add(np.asarray([[1.0], [2.0]]))
    other = first.copy()
    other.add(np.asarray([[3.0]]))
    for found in (first, other):
        found.flush()
        found.flush()
    assert first.columns[0].values.tolist() == [1.0, 2.0]
    assert other.columns[0].values.tolist() == [1.0, 2.0, 3.0]
