"""Tests of blocks, rows and outputs."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.engine.blocks import cut, plan_rows, row_width
from mercer.engine.memory import allocate
from mercer.engine.rows import map_rows, visit_rows


@given(st.integers(1, 500), st.integers(1, 500))
def test_blocks_cover_all_rows_once(n_rows, rows):
    blocks = cut(n_rows, rows)
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(n_rows))


@given(st.integers(1, 10**7), st.integers(1, 10**6), st.integers(10**7, 10**10))
def test_blocks_stay_within_the_budget(n_rows, row_bytes, memory):
    with mercer.config(memory=memory, n_jobs=3):
        rows, workers = plan_rows(n_rows, row_bytes)
    assert 1 <= rows <= n_rows
    assert 1 <= workers <= 3
    assert 3 * workers * rows * row_bytes <= memory


def test_small_work_stays_on_one_thread_and_large_work_does_not():
    with mercer.config(n_jobs=4):
        assert plan_rows(100, 1000).workers == 1
        assert plan_rows(10_000, 10_000).workers == 4


def test_sparse_rows_are_budgeted_by_their_non_zeros():
    X = scipy.sparse.random_array((50, 2**20), density=1e-5, format="csr", random_state=0)
    assert row_width(X) < 100
    dense = scipy.sparse.csr_array(np.ones((5, 30)))
    assert row_width(dense) == 30
    with mercer.config(n_jobs=64):
        assert mercer.Gaussian(5.0)(X).shape == (50, 50)
        features = mercer.RandomFourier(n_components=6, random_state=0).fit(X)
        assert features.transform(X).shape == (50, 6)


def test_a_function_may_return_its_own_array_or_the_place():
    X = np.arange(12.0).reshape(6, 2)

    def fresh(block, out=None):
        return block * 2

    def in_place(block, out=None):
        return np.multiply(block, 2, out=out)

    with mercer.config(block_rows=2):
        for function in (fresh, in_place):
            assert np.array_equal(map_rows(function, X, 2, label="test"), 2 * X)


def test_rows_are_visited_in_order():
    X = np.arange(10.0)[:, None]
    seen = []
    with mercer.config(block_rows=3):
        visit_rows(lambda block: seen.extend(block[:, 0]), X, label="test")
    assert seen == list(range(10))


def test_a_memory_map_is_read_block_by_block(tmp_path):
    path = tmp_path / "rows.npy"
    X = np.random.default_rng(0).standard_normal((500, 4)).astype(np.float32)
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    features = mercer.RandomFourier(n_components=8, random_state=0).fit(mapped)
    assert np.array_equal(features.transform(mapped), features.transform(X))


def test_a_result_beyond_the_machine_is_refused_in_a_sentence():
    with pytest.raises(MemoryError, match=r"kernel\.matvec"):
        allocate(np.empty(0), (10**8, 10**8), "float64")


def test_the_first_bad_value_is_named_whatever_the_blocks():
    X = np.zeros((100, 3), dtype=np.float32)
    X[57, 2] = np.inf
    features = mercer.RandomFourier(n_components=4).fit(X[:50])
    for rows in (10, 1000):
        with (
            mercer.config(block_rows=rows, n_jobs=1),
            pytest.raises(ValueError, match="infinity at row 57, column 2"),
        ):
            features.transform(X)


def test_finite_rows_whose_sum_overflows_are_fine():
    X = np.full((4, 3), 3e38, dtype=np.float32)
    features = mercer.RandomFourier(mercer.Gaussian(1e36), n_components=4, random_state=0)
    assert np.isfinite(features.fit(X).transform(X)).all()
