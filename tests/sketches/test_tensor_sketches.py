"""Tests of sketches: their oracles, their means and their variances in standard errors."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._random import Stream
from mercer.ops.convolution import convolved
from mercer.ops.count_sketch import count_sketch
from mercer.sketches import (
    CountSketch,
    PolyChain,
    PolyTree,
    ProductSketch,
    SeriesSketch,
    TensorSketch,
    TensorSRHT,
)

X = np.asarray([[0.6, -0.5, 0.4, 0.3], [0.2, 0.7, -0.1, 0.5]])
N = (X[0] @ X[0]) * (X[1] @ X[1])
T = X[0] @ X[1]
Q = (X[0] ** 2 * X[1] ** 2).sum()


def estimates(make, draws, rows=X):
    """Return the inner products of the sketches of two rows, over seeds."""
    found = []
    for seed in range(draws):
        Z = make(Stream(seed))(rows)
        found.append(Z[0] @ Z[1])
    return np.array(found)


def assert_mean(found, expected):
    error = found.std(ddof=1) / len(found) ** 0.5
    assert abs(found.mean() - expected) <= 4.5 * error


def assert_variance(found, expected):
    """Five standard errors of a sample variance."""
    deviation = (found - found.mean()) ** 2
    error = deviation.std(ddof=1) / len(found) ** 0.5
    assert abs(found.var(ddof=1) - expected) <= 5 * error


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 7), st.integers(0, 10**6))
def test_count_sketch_equals_its_matrix(n, d, size, seed):
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((n, d)) * (generator.random((n, d)) < 0.5)
    places, signs = generator.integers(size, size=d), generator.choice([-1.0, 1.0], d)
    matrix = np.zeros((len(places), size))
    matrix[np.arange(len(places)), places] = signs
    expected = rows @ matrix
    assert count_sketch(rows, places, signs, size) == pytest.approx(expected, abs=1e-12)
    sparse = scipy.sparse.csr_array(rows)
    assert count_sketch(sparse, places, signs, size) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 3), st.integers(0, 10**6))
def test_convolution_equals_its_double_loop(n, size, factors, seed):
    parts = [np.random.default_rng(seed + k).standard_normal((n, size)) for k in range(factors)]
    expected = parts[0]
    for part in parts[1:]:
        whole = np.zeros_like(expected)
        for i in range(size):
            for j in range(size):
                whole[:, (i + j) % size] += expected[:, i] * part[:, j]
        expected = whole
    assert convolved(parts, size, np) == pytest.approx(expected, abs=1e-10)
    narrow = convolved([part.astype(np.float32) for part in parts], size, np)
    assert narrow.dtype == np.float32


def test_count_sketch_has_its_mean_and_variance():
    m = 8
    found = estimates(lambda s: lambda rows: CountSketch(s, 4, m).sketch(rows, np), 8000)
    assert_mean(found, T)
    assert_variance(found, (N + T * T - 2 * Q) / m)


@pytest.mark.parametrize("m", [8, 9])
@pytest.mark.parametrize("p", [2, 3])
def test_tensor_sketch_has_its_mean_and_variance(m, p):
    def make(stream):
        sketch = TensorSketch(stream, [4] * p, m)
        return lambda rows: sketch.sketch([rows] * p, np)

    found = estimates(make, 8000)
    A = (N + T * T - Q) ** p + (2 * T * T - Q) ** p - 2 * T ** (2 * p)
    B = (N + 2 * (T * T - Q)) ** p - T ** (2 * p)
    e = 1 if m % 2 else 2
    assert_mean(found, T**p)
    assert_variance(found, A / m + e * (B - A) / m**2)


def test_two_different_factors():
    other = np.asarray([[1.0, 0.5], [0.3, -2.0]])

    def make(stream):
        sketch = TensorSketch(stream, (4, 2), 16)
        return lambda rows: sketch.sketch([rows, other], np)

    assert_mean(estimates(make, 4000), T * (other[0] @ other[1]))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(2, 40), st.integers(0, 10**6))
def test_short_sparse_rows_are_sketched_as_dense_ones(degree, size, seed):
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((6, 30)) * (generator.random((6, 30)) < 0.15)
    rows[2] = generator.standard_normal(30)
    rows[3] = 0.0
    sketch = TensorSketch(Stream(seed), [30] * degree, size)
    sparse = sketch.sketch([scipy.sparse.csr_array(rows)] * degree, np)
    scale = max(1.0, abs(sparse).max())
    assert sketch.sketch([rows] * degree, np) == pytest.approx(sparse, abs=1e-9 * scale)


def test_twice_the_columns_have_half_the_variance():
    def variance(m):
        def make(stream):
            sketch = TensorSketch(stream, [4, 4], m)
            return lambda rows: sketch.sketch([rows, rows], np)

        return estimates(make, 2000).var()

    assert 0.35 <= variance(64) / variance(32) <= 0.65


@pytest.mark.parametrize("transform", ["hadamard", "fourier"])
def test_products_of_randomised_transforms_are_unbiased(transform):
    def make(stream):
        sketch = TensorSRHT(stream, (4, 4), 8, transform)
        return lambda rows: sketch.sketch([rows, rows], np)

    assert_mean(estimates(make, 4000), T * T)


def test_a_complex_sketch_of_odd_size_is_refused():
    with pytest.raises(ValueError, match="even size"):
        TensorSRHT(Stream(0), (4, 4), 7, "fourier")


@pytest.mark.parametrize("node", ["tensor", "srht", "srht-complex"])
@pytest.mark.parametrize("p", [2, 3, 5])
def test_chains_and_trees_are_unbiased(p, node):
    def chain(stream):
        sketch = PolyChain(stream, 4, 16, p, node)
        return lambda rows: list(sketch.powers(rows, np))[-1]

    def tree(stream):
        sketch = PolyTree(stream, 4, 16, p, node)
        return lambda rows: sketch.sketch(rows, np)

    for make in (chain, tree):
        assert_mean(estimates(make, 1500), T**p)


def test_a_chain_gives_all_powers():
    for j in range(1, 5):

        def make(stream, j=j):
            sketch = PolyChain(stream, 4, 16, 4)
            return lambda rows: list(sketch.powers(rows, np))[j - 1]

        if j == 1:
            assert estimates(make, 3) == pytest.approx(T)
        else:
            assert_mean(estimates(make, 1500), T**j)


def test_products_of_signs_have_their_mean_and_variance():
    m, p = 8, 2
    found = estimates(lambda s: lambda rows: ProductSketch(s, 4, m, p).sketch(rows, np), 8000)
    assert_mean(found, T**p)
    assert_variance(found, ((N + 2 * (T * T - Q)) ** p - T ** (2 * p)) / m)


def test_a_first_factor_that_keeps_its_places_has_its_mean_and_variance():
    m, left = 8, np.random.default_rng(0).standard_normal((2, 8))

    def make(stream):
        sketch = TensorSketch(stream, (8, 4), m, keeps_places=True)
        return lambda rows: sketch.sketch([left, rows], np)

    found = estimates(make, 8000)
    (a, b), (x, y) = left, X
    assert_mean(found, (a @ b) * T)
    # Products of entries meet where places do: i + h(j) = k + h(l), for j and l apart at random.
    variance = 0.0
    for j, l in combinations(range(4), 2):
        variance += (a @ b) ** 2 * (x[j] * y[l] + x[l] * y[j]) ** 2 / m
        for i, k in combinations(range(8), 2):
            one = a[i] * b[k] * x[j] * y[l] + a[k] * b[i] * x[l] * y[j]
            other = a[i] * b[k] * x[l] * y[j] + a[k] * b[i] * x[j] * y[l]
            variance += (one**2 + other**2 + 2 * one * other * (2 * (k - i) == m)) / m
    assert_variance(found, variance)
    with pytest.raises(ValueError, match="9 columns cannot keep their places among 8"):
        CountSketch(Stream(0), 9, 8, keeps_places=True)


def test_series_that_share_their_powers_stay_unbiased():
    coefficients = (0.5, 1.0, 0.3, 0.2), (0.2, 0.0, 0.7)

    def make(stream, which):
        first = SeriesSketch(stream.child("first"), 4, 24, np.asarray(coefficients[0]))
        second = SeriesSketch(
            stream.child("second"), 4, 24, np.asarray(coefficients[1]), powers=first
        )
        return lambda rows: (first, second)[which].sketch(rows, np)

    for which, c in enumerate(coefficients):
        found = estimates(lambda stream, which=which: make(stream, which), 2000)
        assert_mean(found, sum(c_j * T**j for j, c_j in enumerate(c)))


@pytest.mark.parametrize("size", [1, 3, 8, 40])
@pytest.mark.parametrize("c", [(0.5, 1.0, 0.3), (0.0, 1.0, 0.0, 0.4), (0.7, 0.0, 0.2), (0.5, 1.0)])
def test_a_series_is_unbiased_in_any_number_of_columns(size, c):
    def make(stream):
        sketch = SeriesSketch(stream, 4, size, np.asarray(c))
        return lambda rows: sketch.sketch(rows, np)

    found = estimates(make, 2000)
    expected = sum(c_j * T**j for j, c_j in enumerate(c))
    if found.std() < 1e-12:
        assert found == pytest.approx(expected)
    else:
        assert_mean(found, expected)


def test_a_constant_is_not_lost_where_the_linear_part_just_fits():
    rows = np.eye(3)
    found = [
        SeriesSketch(Stream(s), 3, 3, np.asarray([0.5, 1.0])).sketch(rows, np) for s in range(2000)
    ]
    assert_mean(np.array([Z[0] @ Z[1] for Z in found]), 0.5)


def test_low_degrees_of_a_series_are_exact_where_they_fit():
    sketch = SeriesSketch(Stream(0), 4, 40, np.asarray([0.5, 2.0, 0.0]))
    Z = sketch.sketch(X, np)
    assert Z @ Z.T == pytest.approx(0.5 + 2.0 * X @ X.T)


def test_a_series_without_terms_has_empty_columns():
    sketch = SeriesSketch(Stream(0), 4, 6, np.zeros(3))
    assert np.array_equal(sketch.sketch(X, np), np.zeros((2, 6)))
    assert sketch.sketch(X.astype(np.float32), np).dtype == np.float32
