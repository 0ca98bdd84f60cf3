"""Both sides of a tall matrix in panels, against the dense products."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.engine import panels
from mercer.engine.panels import RowPanels
from mercer.testing import array_libraries


class Tiles:
    """Fills tiles from a matrix, and writes down which ones it was asked for."""

    def __init__(self, matrix):
        self.matrix, self.asked = matrix, []

    def __call__(self, rows, columns, out):
        self.asked.append((rows.start, columns.start))
        out[:, :] = self.matrix[rows, columns]


def whole_numbers(n, m, n_columns, seed=0):
    """Return a matrix and coefficients whose products are exact."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(-8, 9, (n, m)).astype(float),
        rng.integers(-8, 9, (m, n_columns)).astype(float),
    )


def real_numbers(n, m, n_columns, seed=0):
    """Return a matrix of float32 entries, and coefficients of very different size."""
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, m)).astype(np.float32).astype(float)
    return K, rng.standard_normal((m, n_columns)) * 10.0 ** np.arange(n_columns)


def weighted(weights):
    return lambda rows, U: weights[rows] * U


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 5, 511, 512, 513, 1025])
def test_products_from_both_sides_equal_the_dense_ones(n, n_columns):
    K, A = whole_numbers(n, 9, n_columns)
    weights = np.random.default_rng(1).integers(0, 4, (n, 1)).astype(float)
    found = RowPanels(Tiles(K), K.shape, room=10**9).both_sides(A, weighted(weights))
    assert np.array_equal(found, K.T @ (weights * (K @ A)))


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 7), st.integers(0, 1500))
@settings(max_examples=80)
def test_products_are_exact_for_all_shapes_and_rooms(n, m, n_columns, room):
    K, A = whole_numbers(n, m, n_columns)
    with patch.object(panels, "TILE", 4), patch.object(panels, "COLUMNS", 5):
        tall = RowPanels(Tiles(K), K.shape, room=room)
        for _ in range(2):
            assert np.array_equal(tall.both_sides(A, lambda rows, U: U), K.T @ (K @ A))
    assert tall.kept_bytes <= room


def test_function_sees_every_row_once():
    K, A = whole_numbers(1025, 6, 2)
    seen = np.full((1025, 2), np.nan)

    def look(rows, U):
        assert np.isnan(seen[rows]).all()
        seen[rows] = U
        return U

    RowPanels(Tiles(K), K.shape, room=0).both_sides(A, look)
    assert np.array_equal(seen, K @ A)


def test_products_are_those_of_float64_with_entries_in_float32():
    K, A = real_numbers(900, 30, 3)
    found = RowPanels(Tiles(K), K.shape, room=10**9).both_sides(A, lambda rows, U: U)
    np.testing.assert_allclose(found / 10.0 ** np.arange(3), K.T @ (K @ A) / 10.0 ** np.arange(3))
    # Digits of entries beyond float32 are lost on both sides alike.
    more = RowPanels(Tiles(K * (1 + 1e-9)), K.shape, room=10**9)
    assert np.array_equal(more.both_sides(A, lambda rows, U: U), found)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_kept_and_recomputed_panels_give_the_same_product(n_columns):
    K, A = real_numbers(1025, 40, n_columns)
    products, shares = [], []
    for room in (0, 4 * 512 * 40, 10**9):
        tall = RowPanels(Tiles(K), K.shape, room=room)
        products += [tall.both_sides(A, lambda rows, U: U) for _ in range(2)]
        shares.append(tall.kept_share)
    assert shares == [0.0, 1 / 3, 1.0]
    for other in products[1:]:
        np.testing.assert_allclose(other, products[0], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("room", [0, 100_000, 10**9])
def test_product_does_not_depend_on_the_number_of_threads(room):
    K, A = real_numbers(3000, 25, 3)
    products = []
    for n_jobs in (1, 2, 5):
        with mercer.config(n_jobs=n_jobs):
            tall = RowPanels(Tiles(K), K.shape, room=room)
            products += [tall.both_sides(A, lambda rows, U: U) for _ in range(2)]
    for other in products[1:]:
        assert np.array_equal(other, products[0])


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 1500))
@settings(max_examples=60)
def test_kept_panels_are_computed_once_and_fit_the_room(n, m, room):
    K, A = whole_numbers(n, m, 1)
    fill = Tiles(K)
    with patch.object(panels, "TILE", 4), patch.object(panels, "COLUMNS", 5):
        tall = RowPanels(fill, K.shape, room=room)
        tall.both_sides(A, lambda rows, U: U)
        first, fill.asked = fill.asked, []
        tall.both_sides(A, lambda rows, U: U)
    count = -(-n // 4)
    assert len(first) == len(set(first)) == count * -(-m // 5)
    again = {row for row, _ in fill.asked}
    assert count - len(again) == min(count, room // (4 * 4 * m))
    assert tall.kept_share == pytest.approx(1 - len(again) / count)
    assert tall.kept_bytes == (count - len(again)) * 4 * 4 * m <= room


def test_a_panel_that_fails_is_computed_again():
    K, A = whole_numbers(600, 5, 2)
    fill, failures = Tiles(K), [KeyboardInterrupt]

    def failing(rows, columns, out):
        fill(rows, columns, out)
        if rows.start and failures:
            out[:, :] = np.nan
            raise failures.pop()

    tall = RowPanels(failing, K.shape, room=10**9)
    with pytest.raises(KeyboardInterrupt):
        tall.both_sides(A, lambda rows, U: U)
    assert np.array_equal(tall.both_sides(A, lambda rows, U: U), K.T @ (K @ A))


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("room", [0, 700, 10**6])
def test_array_libraries_give_the_products_of_numpy(library, room):
    pytest.importorskip(library)
    make = array_libraries()[library]
    K, A = real_numbers(53, 11, 3)
    with patch.object(panels, "DEVICE_TILE", 8), patch.object(panels, "COLUMNS", 5):
        tall = RowPanels(Tiles(make(K.astype(np.float32))), K.shape, room, make(K))
        for _ in range(2):
            found = tall.both_sides(make(A), lambda rows, U: U)
            assert type(found) is type(make(A))
            assert np.asarray(found) == pytest.approx(K.T @ (K @ A), rel=1e-12, abs=1e-9)
    assert tall.kept_bytes <= room
