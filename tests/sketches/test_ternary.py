"""Tests of ternary projections against the matrices they stand for."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer._array import namespace, to_numpy
from mercer._random import Stream
from mercer.ops.ternary import SignedLists, signed_lists, signed_matrix, transposed
from mercer.sketches import TernaryProjection
from mercer.testing import array_libraries


def whole_rows(shape, seed=0, dtype=float):
    """Return rows of small integers, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


@given(
    n=st.integers(1, 70), d=st.integers(1, 40), size=st.integers(1, 140), seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.float64]), sparsity=st.sampled_from([0.0, 0.5, 0.95]),
)  # fmt: skip
def test_products_equal_the_dense_product(n, d, size, seed, dtype, sparsity):
    projection = TernaryProjection(Stream(seed), d, size, sparsity)
    X = whole_rows((n, d), seed, dtype)
    found = projection.project(X, np)
    assert found.dtype == dtype
    assert np.array_equal(found, X @ projection.dense().astype(dtype))
    sparse = scipy.sparse.csr_array(X)
    assert np.array_equal(projection.project(sparse, np), found)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-13)])
def test_products_of_real_rows_are_equal_up_to_rounding(dtype, tolerance):
    projection = TernaryProjection(Stream(1), 300, 200, 0.8)
    X = np.random.default_rng(0).standard_normal((50, 300)).astype(dtype)
    assert projection.project(X, np) == pytest.approx(X @ projection.matrix, abs=tolerance)
    few = scipy.sparse.random_array(
        (50, 300), density=0.01, random_state=0, format="csr", dtype=dtype
    )
    assert projection.project(few, np) == pytest.approx(few @ projection.matrix, abs=tolerance)


def test_rows_do_not_depend_on_their_neighbours():
    projection = TernaryProjection(Stream(1), 100, 130, 0.5)
    X = np.random.default_rng(0).standard_normal((45, 100)).astype(np.float32)
    alone = [projection.project(X[i : i + 1], np) for i in range(len(X))]
    assert np.array_equal(np.concatenate(alone), projection.project(X, np))


def test_results_go_where_they_belong_and_the_input_is_not_modified():
    projection = TernaryProjection(Stream(0), 12, 70, 0.5)
    X = whole_rows((40, 12))
    kept, out = X.copy(), np.full((42, 75), -1.0)
    result = projection.project(np.asfortranarray(X), np, out[1:41, 2:72])
    assert np.shares_memory(result, out)
    assert np.array_equal(out[1:41, 2:72], X @ projection.matrix)
    out[1:41, 2:72] = -1
    assert (out == -1).all()
    assert np.array_equal(X, kept)


def test_entries_are_independent_draws():
    d, size, sparsity = 200, 500, 0.7
    W = TernaryProjection(Stream(3), d, size, sparsity).dense()
    for value, share in ((0, 0.7), (1, 0.15), (-1, 0.15)):
        error = np.sqrt(share * (1 - share) / W.size)
        assert abs(np.mean(value == W) - share) < 5 * error
    gram = W.T.astype(float) @ W / d
    off = gram[~np.eye(size, dtype=bool)]
    assert abs(off.mean()) < 5 * 0.3 / np.sqrt(off.size / 2 * d)
    assert np.std(off) == pytest.approx(0.3 / np.sqrt(d), rel=0.05)


@pytest.mark.parametrize("d", [7, 30_000])
def test_projections_are_nested_whatever_is_drawn_at_once(d):
    many = TernaryProjection(Stream(2), d, 80, 0.9).dense()
    for size in (1, 34, 79):
        assert np.array_equal(TernaryProjection(Stream(2), d, size, 0.9).dense(), many[:, :size])


def test_lists_hold_ones_then_minus_ones_of_each_column():
    projection = TernaryProjection.from_matrix([[1, 0], [-1, 0], [1, 0]])
    assert projection.indices.tolist() == [0, 2, 1]
    assert projection.indices.dtype == np.int32
    assert projection.offsets.tolist() == [0, 2, 3, 3, 3]
    assert projection.nbytes == 3 * 4 + 5 * 8
    assert projection.sparsity == 0.5


@given(n=st.integers(1, 9), m=st.integers(1, 9), seed=st.integers(0, 999))
def test_lists_are_matrices(n, m, seed):
    matrix = np.random.default_rng(seed).integers(-1, 2, (n, m)).astype(np.int8)
    lists = signed_lists(matrix)
    lists.check()
    transposed(lists).check()
    assert np.array_equal(signed_matrix(lists), matrix)
    assert np.array_equal(signed_matrix(transposed(lists)), matrix.T)


@pytest.mark.parametrize("sparsity", [-0.1, 1, 1.5, np.nan, "much"])
def test_a_sparsity_that_is_no_probability_below_one_is_refused(sparsity):
    with pytest.raises(ValueError, match="sparsity must be at least 0 and below 1"):
        TernaryProjection(Stream(0), 3, 3, sparsity)


def test_wrong_rows_and_matrices_are_refused():
    with pytest.raises(ValueError, match="X has 4 columns"):
        TernaryProjection(Stream(0), 3, 3).project(np.zeros((2, 4)), np)
    with pytest.raises(ValueError, match="entries -1, 0 and 1"):
        TernaryProjection.from_matrix([[2]])


@pytest.mark.parametrize("library", array_libraries())
def test_other_libraries_multiply(library):
    projection = TernaryProjection(Stream(0), 20, 30, 0.5)
    X = whole_rows((4, 20))
    rows = array_libraries()[library](X)
    found = to_numpy(projection.project(rows, namespace(rows)))
    assert np.array_equal(found, X @ projection.matrix)


def test_projections_are_saved_and_damaged_ones_refused(tmp_path):
    projection = TernaryProjection(Stream(0), 20, 30, 0.5)
    X = scipy.sparse.csr_array(np.eye(20))
    projection.project(X, np)
    mercer.save(projection, tmp_path / "p.mercer")
    again = mercer.load(tmp_path / "p.mercer")
    assert np.array_equal(again.dense(), projection.dense())
    projection.indices = projection.indices + np.int32(7)
    mercer.save(projection, tmp_path / "p.mercer")
    with pytest.raises(mercer.io.ModelFileError, match="lists of a ternary matrix are damaged"):
        mercer.load(tmp_path / "p.mercer")


@pytest.mark.parametrize(
    "damaged",
    [
        SignedLists(np.array([0, 3], np.int32), np.array([0, 1, 2]), 3),
        SignedLists(np.array([0, -1], np.int32), np.array([0, 1, 2]), 3),
        SignedLists(np.array([0, 1], np.int32), np.array([0, 3, 2]), 3),
        SignedLists(np.array([0, 1], np.int32), np.array([0, 1, 1]), 3),
        SignedLists(np.array([0, 1], np.int64), np.array([0, 1, 2]), 3),
        SignedLists(np.array([0, 1], np.int32), np.array([0, 2]), 3),
    ],
)
def test_lists_that_lead_outside_are_refused(damaged):
    with pytest.raises(ValueError, match="damaged"):
        damaged.check()
