"""Randomly pivoted Cholesky: what it leaves, what it draws, and where it ends."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.features.nystrom import pivoted_cholesky as module
from mercer.features.nystrom.pivoted_cholesky import pivoted_cholesky
from mercer.kernels import NTK, Gaussian, Laplace
from mercer.testing import array_libraries


class Columns:
    """Gives columns of a matrix, and gives up on whoever never stops asking."""

    def __init__(self, K, most=500):
        self.K, self.left = K, most

    def __call__(self, places):
        self.left -= 1
        assert self.left >= 0, "pivots are drawn for ever"
        return self.K[:, places]


def factorised(K, rank, seed=0, n_selected=0):
    generator = np.random.default_rng(seed)
    return pivoted_cholesky(Columns(K), np.diag(K).copy(), rank, generator, n_selected)


def one_by_one(K, rank, generator):
    """Return the trace that is left after drawing one pivot after another."""
    rest = K.copy()
    for _ in range(rank):
        diagonal = np.maximum(np.diag(rest), 0.0)
        pivot = generator.choice(len(K), p=diagonal / diagonal.sum())
        rest = rest - np.outer(rest[:, pivot], rest[pivot]) / rest[pivot, pivot]
        rest[pivot] = rest[:, pivot] = 0.0
    return float(np.trace(rest))


@pytest.mark.parametrize("true_rank", [1, 4, 20])
@pytest.mark.parametrize("asked", [20, 60, 1000])
def test_matrices_of_low_rank_are_found_exactly(true_rank, asked):
    A = np.random.default_rng(true_rank).standard_normal((60, true_rank))
    K = A @ A.T
    found = factorised(K, asked)
    # A few more columns hold what the rounding of the first ones has left.
    assert true_rank <= found.factor.shape[1] <= 2 * true_rank
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-10 * np.trace(K))
    assert found.missing.sum() <= 1e-10 * np.trace(K)


def test_a_regular_matrix_is_found_exactly_with_all_its_rows():
    X = np.random.default_rng(0).uniform(size=(150, 3))
    K = np.asarray(Laplace(0.5)(X))
    found = factorised(K, 1000)
    assert sorted(found.pivots) == list(range(150))
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-12)
    assert not found.missing.any()


@given(
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(1, 45),
    st.integers(0, 999),
    st.sampled_from([0, 2, 100]),
)
@settings(max_examples=150)
def test_what_is_missing_is_positive_and_known(n, d, rank, seed, n_selected):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * rng.choice([1e-3, 1.0, 30.0], (n, 1))
    A[rng.random(n) < 0.2] = A[0]
    K = A @ A.T
    # Small blocks: several of them, also for few rows.
    with patch.object(module, "BLOCK", 3):
        found = factorised(K, rank, seed, n_selected)
    scale = float(np.trace(K))
    rest = K - found.factor @ found.factor.T
    assert found.factor.shape == (n, len(found.pivots))
    assert len(set(found.pivots.tolist())) == len(found.pivots) <= min(n, rank)
    assert np.linalg.eigvalsh(rest).min() >= -1e-9 * scale
    assert (found.missing >= 0).all()
    np.testing.assert_allclose(found.missing, np.diag(rest), atol=1e-9 * scale)
    # The columns of the pivots are known.
    np.testing.assert_allclose(rest[:, found.pivots], 0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("rank", [1, 127, 128, 129, 200])
def test_factor_has_as_many_columns_as_were_asked_for(rank):
    X = np.random.default_rng(0).uniform(size=(260, 4))
    K = np.asarray(Laplace(1.0)(X))
    found = factorised(K, rank)
    assert found.factor.shape == (260, rank)
    rest = K - found.factor @ found.factor.T
    np.testing.assert_allclose(found.missing, np.diag(rest), atol=1e-10)
    assert np.linalg.eigvalsh(rest).min() >= -1e-10


def test_one_of_each_set_of_equal_rows_is_enough():
    rng = np.random.default_rng(0)
    places = rng.permutation(np.arange(300) % 12)
    K = np.asarray(Gaussian(1.0)(rng.standard_normal((12, 3))[places]))
    found = factorised(K, 300)
    assert sorted(places[found.pivots]) == list(range(12))
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-10)


def test_a_zero_matrix_has_a_factor_without_columns():
    found = factorised(np.zeros((5, 5)), 3)
    assert found.factor.shape == (5, 0)
    assert found.factor.dtype == np.float64
    assert found.pivots.shape == (0,)
    assert np.array_equal(found.missing, np.zeros(5))


def test_rows_of_zeros_are_no_pivots():
    K = np.diag(np.where(np.arange(30) % 3 == 0, 2.0, 0.0))
    found = factorised(K, 30)
    assert sorted(found.pivots) == list(range(0, 30, 3))
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-12)


def gaussian(n, lengthscale):
    """Return a Gaussian kernel matrix of normal rows."""
    return np.asarray(Gaussian(lengthscale)(np.random.default_rng(0).standard_normal((n, 2))))


@pytest.mark.parametrize(
    ("K", "rank"),
    [
        (gaussian(120, 1.0), 3),
        (gaussian(120, 1.0), 10),
        (gaussian(120, 1.0), 30),
        # One pivot matters, and is likely to be drawn first.
        (np.diag([900.0] + [1.0] * 99), 1),
        (np.diag(1.0 / np.arange(1, 101) ** 2), 5),
    ],
    ids=["smooth, 3", "smooth, 10", "smooth, 30", "one large", "falling"],
)
def test_what_is_left_is_that_of_pivots_drawn_one_by_one(K, rank):
    ours = np.asarray([factorised(K, rank, seed).missing.sum() for seed in range(300)])
    theirs = np.asarray(
        [one_by_one(K, rank, np.random.default_rng(seed)) for seed in range(1000, 1300)]
    )
    standard_error = np.sqrt((ours.var() + theirs.var()) / 300)
    assert standard_error < 0.2 * theirs.mean()
    assert abs(ours.mean() - theirs.mean()) <= 5 * standard_error


def test_repeated_rows_whose_diagonal_rounds_come_to_an_end():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((20, 3))[generator.integers(0, 20, 300)]
    K = np.asarray(NTK()(X))
    diagonal = np.diag(K) * (1 + 1e-8)
    columns = Columns(K.astype(np.float32))
    found = pivoted_cholesky(columns, diagonal, 50, np.random.default_rng(0))
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-4 * diagonal.max())


def test_pivots_are_drawn_where_most_is_missing():
    K = np.diag(1.0 / np.arange(1, 101) ** 2)
    left = np.mean([factorised(K, 20, seed).missing.sum() for seed in range(30)])
    # Of pivots that are drawn alike four fifths would be left.
    assert left < 0.1 * np.trace(K)


def test_columns_in_float32_give_a_factor_to_their_rounding():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    K = np.asarray(Laplace(1.0)(X))
    found = pivoted_cholesky(
        Columns(K.astype(np.float32)), np.ones(200), 60, np.random.default_rng(0)
    )
    assert found.factor.dtype == np.float64
    rest = K - found.factor @ found.factor.T
    np.testing.assert_allclose(found.missing, np.diag(rest), atol=1e-5)
    assert np.linalg.eigvalsh(rest).min() >= -1e-5


def test_same_seed_gives_the_same_factor_and_the_diagonal_is_not_modified():
    X = np.random.default_rng(0).uniform(size=(100, 2))
    K, diagonal = np.asarray(Laplace(1.0)(X)), np.ones(100)
    one, other = (
        pivoted_cholesky(Columns(K), diagonal, 30, np.random.default_rng(7)) for _ in range(2)
    )
    assert np.array_equal(one.factor, other.factor)
    assert np.array_equal(one.pivots, other.pivots)
    assert np.array_equal(diagonal, np.ones(100))
    assert not np.array_equal(one.pivots, factorised(K, 30, seed=8).pivots)


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_array_libraries_give_the_factor_of_numpy(library):
    pytest.importorskip(library)
    make = array_libraries()[library]
    X = np.random.default_rng(0).uniform(size=(200, 3))
    K = np.asarray(Laplace(1.0)(X))
    expected = factorised(K, 140)
    found = pivoted_cholesky(
        lambda places: make(K[:, places]), np.ones(200), 140, np.random.default_rng(0)
    )
    assert type(found.factor) is type(make(K))
    assert np.array_equal(found.pivots, expected.pivots)
    np.testing.assert_allclose(np.asarray(found.factor), expected.factor, atol=1e-10)
    np.testing.assert_allclose(found.missing, expected.missing, atol=1e-10)


class Everything:
    """Proposes every row of which something is missing."""

    def choice(self, n, size, p):
        return np.flatnonzero(p)


@pytest.mark.parametrize("proposals", [2, 12])
def test_selected_pivots_are_those_that_lower_the_trace_most(proposals):
    X = np.random.default_rng(1).standard_normal((12, 2))
    K = np.asarray(Gaussian(0.5)(X))
    # All pivots in one block, or each in a block of its own.
    with patch.object(module, "PROPOSALS", proposals):
        found = pivoted_cholesky(Columns(K), np.diag(K).copy(), 5, Everything(), 5).pivots
    rest, best = K.copy(), []
    for _ in range(5):
        gains = [(rest[:, i] ** 2).sum() / rest[i, i] if i not in best else -1 for i in range(12)]
        best.append(int(np.argmax(gains)))
        rest = rest - np.outer(rest[:, best[-1]], rest[best[-1]]) / rest[best[-1], best[-1]]
    assert found.tolist() == best


def test_selected_pivots_leave_less_than_drawn_ones():
    X = np.random.default_rng(0).standard_normal((400, 6))
    K = np.asarray(Gaussian(2.0)(X))
    drawn, selected = (
        np.mean([factorised(K, 40, seed, n).missing.sum() for seed in range(20)]) for n in (0, 40)
    )
    assert selected < 0.95 * drawn
