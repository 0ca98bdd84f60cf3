"""The variance of predictions from landmarks, against dense Gaussian processes."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.features.nystrom.pivoted_cholesky import LowRank, pivoted_cholesky
from mercer.kernels import Laplace, Matern
from mercer.solvers import low_rank_posterior
from mercer.solvers.low_rank_posterior import (
    posterior_of_factor,
    posterior_of_rows,
)
from mercer.testing import array_libraries

KERNEL = Laplace(2.0)


def data(n=80, n_new=30):
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((n, 3)), rng.standard_normal((n_new, 3))
    # Among the new rows are training rows, and one that is far from all.
    new[:5], new[5] = X[:5], 1e3
    return X, new, rng.uniform(0.2, 3.0, n)


def gaussian_process(K, values, own, weights, alpha):
    """Return the posterior variance over α of rows with kernel ``values`` with all others."""
    noise = np.diag(alpha / weights)
    explained = np.einsum("ij,ij->i", values @ np.linalg.inv(K + noise), values)
    return (own - explained) / alpha


def from_landmarks(C, cross, values, own, weights, alpha):
    """Return the same where landmarks alone learn from the rows: prior beyond, posterior within.

    ``C`` is the kernel of the landmarks, ``cross`` that of the rows with them, ``values`` that
    of new rows with them.
    """
    missing = own - np.einsum("ij,ij->i", values @ np.linalg.inv(C), values)
    inner = np.linalg.inv(cross.T @ (weights[:, None] * cross) + alpha * C)
    return missing / alpha + np.einsum("ij,ij->i", values @ inner, values)


def factor_of(K, rank, seed=0):
    rng = np.random.default_rng(seed)
    return pivoted_cholesky(lambda at: K[:, at], np.diag(K).copy(), rank, rng)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_all_rows_as_landmarks_it_is_that_of_a_gaussian_process(alpha, weighted):
    X, new, weights = data()
    weights = weights if weighted else np.ones(len(X))
    K, values, own = KERNEL(X), KERNEL(new, X), KERNEL.diag(new)
    expected = gaussian_process(K, values, own, weights, alpha)
    given_weights = weights if weighted else None
    low_rank = factor_of(K, len(X))
    by_factor = posterior_of_factor(low_rank, given_weights, alpha)
    np.testing.assert_allclose(by_factor.quadratic(values, own), expected, rtol=1e-8)
    np.testing.assert_allclose(by_factor.form(values[:, low_rank.pivots], own), expected, rtol=1e-8)
    # Entries of its blocks are float32.
    by_rows = posterior_of_rows(KERNEL, X, X, given_weights, alpha)
    np.testing.assert_allclose(by_rows.form(values, own), expected, rtol=1e-4)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_as_landmarks_learn_from_all(alpha, weighted):
    X, new, weights = data()
    weights = weights if weighted else np.ones(len(X))
    given_weights = weights if weighted else None
    low_rank = factor_of(KERNEL(X), 20)
    landmarks, own = X[low_rank.pivots], KERNEL.diag(new)
    values = KERNEL(new, landmarks)
    expected = from_landmarks(KERNEL(landmarks), KERNEL(X, landmarks), values, own, weights, alpha)
    by_factor = posterior_of_factor(low_rank, given_weights, alpha)
    np.testing.assert_allclose(by_factor.form(values, own), expected, rtol=1e-8)
    by_rows = posterior_of_rows(KERNEL, X, landmarks, given_weights, alpha)
    np.testing.assert_allclose(by_rows.form(values, own), expected, rtol=1e-4)


@given(st.integers(1, 25), st.integers(1, 8), st.integers(1, 25), st.integers(0, 999))
@settings(max_examples=60)
def test_rows_make_a_prediction_no_less_certain(n, d, rank, seed):
    rng = np.random.default_rng(seed)
    A, new, alpha = (
        rng.standard_normal((n, d)),
        rng.standard_normal((9, d)),
        10.0 ** rng.integers(-3, 3),
    )
    low_rank = factor_of(A @ A.T, rank, seed)
    own = (new**2).sum(axis=1)
    found = posterior_of_factor(low_rank, None, alpha).quadratic(new @ A.T, own)
    assert (found >= 0).all()
    assert (found <= own / alpha * (1 + 1e-6)).all()


def test_far_from_all_rows_it_is_the_prior():
    X, _, weights = data()
    own = np.asarray([1.0, 4.0])
    for posterior in (
        posterior_of_factor(factor_of(KERNEL(X), 20), weights, 0.5),
        posterior_of_rows(KERNEL, X, X[:20], weights, 0.5),
    ):
        assert posterior.form(np.zeros((2, 20)), own) == pytest.approx(own / 0.5, rel=1e-12)


def test_a_row_of_weight_two_counts_as_two_rows():
    X, new, _ = data()
    weights = np.where(np.arange(80) < 30, 2.0, 1.0)
    values, own = KERNEL(new, X[:15]), KERNEL.diag(new)
    one = posterior_of_rows(KERNEL, X, X[:15], weights, 0.1).form(values, own)
    other = posterior_of_rows(KERNEL, np.r_[X, X[:30]], X[:15], None, 0.1).form(values, own)
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_blocks_of_rows_do_not_matter():
    X, new, weights = data()
    values, own = KERNEL(new, X[:15]), KERNEL.diag(new)
    whole = posterior_of_rows(KERNEL, X, X[:15], weights, 0.1).form(values, own)
    with patch.object(low_rank_posterior, "BLOCK_ROWS", 7):
        blocks = posterior_of_rows(KERNEL, X, X[:15], weights, 0.1).form(values, own)
    np.testing.assert_allclose(blocks, whole, rtol=1e-5)


def test_landmarks_may_stand_anywhere_among_the_centres():
    X, new, weights = data()
    posterior = posterior_of_rows(KERNEL, X, X[[3, 50, 7]], weights, 0.1)
    values, own = KERNEL(new, X), KERNEL.diag(new)
    expected = posterior.form(values[:, [3, 50, 7]], own)
    assert np.array_equal(posterior.at(np.asarray([3, 50, 7])).quadratic(values, own), expected)


@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_landmarks_that_occur_twice_change_nothing(nu):
    X, new, weights = data()
    kernel = Matern(nu=nu, lengthscale=2.0)
    own, twice = kernel.diag(new), np.r_[X[:15], X[:4]]
    once = posterior_of_rows(kernel, X, X[:15], weights, 0.1).form(kernel(new, X[:15]), own)
    found = posterior_of_rows(kernel, X, twice, weights, 0.1).form(kernel(new, twice), own)
    np.testing.assert_allclose(found, once, rtol=1e-3)


def test_a_factor_without_columns_knows_the_prior_alone():
    low_rank = LowRank(np.zeros((4, 0)), np.zeros(0, dtype=np.int64), np.ones(4))
    posterior = posterior_of_factor(low_rank, None, 0.5)
    assert posterior.quadratic(np.ones((2, 4)), np.ones(2)) == pytest.approx(2.0)


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_array_libraries_give_the_posterior_of_numpy(library):
    pytest.importorskip(library)
    make = array_libraries()[library]
    X, new, weights = data()
    low_rank = factor_of(KERNEL(X), 20)
    values, own = KERNEL(new, X), KERNEL.diag(new)
    expected = posterior_of_factor(low_rank, weights, 0.1).quadratic(values, own)
    there = low_rank._replace(factor=make(low_rank.factor))
    found = posterior_of_factor(there, weights, 0.1).quadratic(values, own)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    landmarks = X[low_rank.pivots]
    by_rows = posterior_of_rows(KERNEL, make(X), make(landmarks), weights, 0.1)
    np.testing.assert_allclose(by_rows.form(KERNEL(new, landmarks), own), expected, rtol=1e-4)
