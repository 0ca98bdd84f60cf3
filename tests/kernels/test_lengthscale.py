"""Tests of the summary of rows that lengthscales are taken from."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from mercer import Gaussian, Laplace
from mercer.kernels.lengthscale import SAMPLE_ROWS, RowSummary


def summary_of(blocks):
    summary = RowSummary()
    for block in blocks:
        summary.update(block)
    return summary


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.floats(-1e4, 1e4))
def test_blocks_do_not_matter(sizes, shift):
    X = np.random.default_rng(0).standard_normal((sum(sizes), 3)) + shift
    whole = summary_of([X])
    parts = summary_of(np.split(X, np.cumsum(sizes)[:-1]))
    variance = X.var()
    assert whole.sum_of_squares / X.size == pytest.approx(variance, rel=1e-8)
    assert parts.sum_of_squares == pytest.approx(whole.sum_of_squares, rel=1e-8)
    if len(X) > 1:
        assert parts.lengthscale("median") == whole.lengthscale("median")


def test_merged_summaries_know_all_rows():
    X = np.random.default_rng(0).standard_normal((900, 3))
    merged = RowSummary()
    merged.merge(RowSummary())
    for part in np.array_split(X, 3):
        merged.merge(summary_of([part]))
    assert merged.n_rows == 900
    assert merged.lengthscale("scale") == pytest.approx(np.sqrt(1.5 * X.var()))
    assert merged.lengthscale("median") == pytest.approx(
        summary_of([X]).lengthscale("median"), rel=1e-12
    )


def test_the_sample_is_small_and_uniform():
    X = np.arange(20_000.0)[:, None]
    summary = summary_of(np.array_split(X, 7))
    sample = summary._sample.columns[0][:, 0]
    assert len(sample) == SAMPLE_ROWS
    assert len(set(sample)) == SAMPLE_ROWS
    assert abs(sample.mean() - 10_000) <= 4 * 20_000 / np.sqrt(12 * SAMPLE_ROWS)


def test_sparse_rows_give_the_same_numbers():
    X = np.random.default_rng(0).standard_normal((300, 4))
    X[abs(X) < 1] = 0
    dense, sparse = summary_of([X]), summary_of([scipy.sparse.csr_array(X)])
    for rule in ("median", "scale"):
        assert sparse.lengthscale(rule) == pytest.approx(dense.lengthscale(rule))


@pytest.mark.parametrize("factor", [1e-170, 1e160])
@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplace("median")])
def test_medians_of_rows_of_extreme_size(kernel, factor):
    X = np.random.default_rng(0).standard_normal((50, 3))
    found = kernel.fitted_to(X * factor).lengthscale / factor
    assert found == pytest.approx(kernel.fitted_to(X).lengthscale, rel=1e-12)
