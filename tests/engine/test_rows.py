"""Tests of blocks, rows and outputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.engine.blocks import block_rows, cut
from mercer.engine.memory import allocate
from mercer.engine.rows import map_rows, visit_rows


@given(st.integers(1, 500), st.integers(1, 500))
def test_blocks_cover_all_rows_once(n_rows, rows):
    blocks = cut(n_rows, rows)
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(n_rows))


@given(st.integers(1, 10**7), st.integers(1, 10**6), st.integers(10**7, 10**10))
def test_blocks_stay_within_the_budget(n_rows, row_bytes, memory):
    with mercer.config(memory=memory, n_jobs=3):
        rows = block_rows(n_rows, row_bytes)
    assert 1 <= rows <= n_rows
    assert 3 * 3 * rows * row_bytes <= max(memory, 3 * 3 * row_bytes)


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
        visit_rows(lambda block: seen.extend(block[:, 0]), X)
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
