"""Products with a symmetric matrix in tiles, against the dense product."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.engine import symmetric
from mercer.engine.symmetric import SymmetricTiles
from mercer.testing import array_libraries, peak_bytes


class Tiles:
    """Fills tiles from a matrix, and writes down which ones it was asked for."""

    def __init__(self, matrix):
        self.matrix, self.asked = matrix, []

    def __call__(self, rows, columns, out):
        self.asked.append((rows.start, rows.stop, columns.start, columns.stop))
        out[:, :] = self.matrix[rows, columns]


def whole_numbers(n, n_columns, seed=0):
    """Return a symmetric matrix and columns whose products are exact in float32."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-8, 9, (n, n)).astype(float)
    return np.tril(A) + np.tril(A, -1).T, rng.integers(-8, 9, (n, n_columns)).astype(float)


def real_numbers(n, n_columns, seed=0):
    """Return a symmetric matrix, and columns of very different size."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    return A + A.T, rng.standard_normal((n, n_columns)) * 10.0 ** np.arange(n_columns)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 5, 511, 512, 513, 1025])
def test_product_is_exact_where_rounding_has_no_part(n, n_columns, dtype):
    A, V = whole_numbers(n, n_columns)
    tiles = SymmetricTiles(Tiles(A), n, room=10**9, dtype=dtype)
    found = tiles.product(V)
    assert found.dtype == np.float64
    assert np.array_equal(found, A @ V)
    assert (tiles.kept_share, tiles.n_products) == (1.0, 1)


@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 4000), st.integers(0, 99))
@settings(max_examples=80)
def test_product_is_exact_for_all_shapes_and_rooms(n, n_columns, room, seed):
    A, V = whole_numbers(n, n_columns, seed)
    before = V.copy()
    with patch.object(symmetric, "TILE", 4):
        tiles = SymmetricTiles(Tiles(A), n, room=room)
        for _ in range(2):
            assert np.array_equal(tiles.product(V), A @ V)
    assert np.array_equal(V, before)
    assert tiles.kept_bytes <= room


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
def test_product_is_as_exact_as_its_dtype(n_columns, dtype):
    A, V = real_numbers(700, n_columns)
    found = SymmetricTiles(Tiles(A), 700, room=10**9, dtype=dtype).product(V)
    # Two roundings of factors, and those of sums over the columns of a tile.
    bound = 40 * np.finfo(dtype).eps * (np.abs(A) @ np.abs(V))
    assert np.all(np.abs(found - A @ V) <= bound)
    if dtype == "float32":
        assert np.any(found != A @ V)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_kept_and_recomputed_tiles_give_the_same_product(n_columns, dtype):
    n = 1025
    A, V = real_numbers(n, n_columns)
    whole = np.dtype(dtype).itemsize * n**2
    products, shares = [], []
    for room in (0, whole // 4, whole):
        tiles = SymmetricTiles(Tiles(A), n, room=room, dtype=dtype)
        products += [tiles.product(V), tiles.product(V)]
        shares.append(tiles.kept_share)
    assert shares[0] == 0.0 < shares[1] < 1.0 == shares[2]
    bound = 40 * np.finfo(dtype).eps * (np.abs(A) @ np.abs(V))
    for other in products[1:]:
        assert np.all(np.abs(other - products[0]) <= bound)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("room", [0, 2_500_000, 10**9])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_product_does_not_depend_on_the_number_of_threads(room, n_columns, dtype):
    A, V = real_numbers(1100, n_columns)
    products = []
    for n_jobs in (1, 2, 5):
        with mercer.config(n_jobs=n_jobs):
            tiles = SymmetricTiles(Tiles(A), 1100, room=room, dtype=dtype)
            products += [tiles.product(V), tiles.product(V)]
    for other in products[1:]:
        assert np.array_equal(other, products[0])


@given(st.integers(1, 40), st.integers(0, 8000), st.sampled_from(["float32", "float64"]))
@settings(max_examples=60)
def test_kept_tiles_are_computed_once_and_fit_the_room(n, room, dtype):
    A, V = whole_numbers(n, 2)
    fill = Tiles(A)
    with patch.object(symmetric, "TILE", 4):
        tiles = SymmetricTiles(fill, n, room=room, dtype=dtype)
        tiles.product(V)
        first, fill.asked = set(fill.asked), []
        tiles.product(V)
    kept = first - set(fill.asked)
    sizes = [(bottom - top) * (right - left) for top, bottom, left, right in kept]
    assert tiles.kept_bytes == np.dtype(dtype).itemsize * sum(sizes) <= room
    assert tiles.kept_share == len(kept) / len(first)
    count = -(-n // 4)
    assert len(first) == count * (count + 1) // 2
    # The half below the diagonal is never computed.
    assert all(top <= left for top, _, left, _ in first)


def test_memory_of_a_product_without_room_is_a_tile_and_the_sums():
    n = 2500
    rng = np.random.default_rng(0)
    x, V = rng.standard_normal(n), rng.standard_normal((n, 1))

    def fill(rows, columns, out):
        np.multiply(x[rows, None], x[columns], out=out, casting="same_kind")

    with mercer.config(n_jobs=1):
        tiles = SymmetricTiles(fill, n, room=0)
        tiles.product(V)
        found, peak = peak_bytes(lambda: tiles.product(V))
    assert found == pytest.approx(x[:, None] * (x @ V), abs=1e-3)
    assert peak < 4 * 512**2 + 8 * n * (symmetric.STRIPS + 4) + 500_000


def test_a_tile_that_fails_is_computed_again():
    A, V = whole_numbers(600, 2)
    fill, failures = Tiles(A), [KeyboardInterrupt, ArithmeticError]

    def failing(rows, columns, out):
        fill(rows, columns, out)
        if rows.start < columns.start and failures:
            out[:, :] = np.nan
            raise failures.pop()

    tiles = SymmetricTiles(failing, 600, room=10**9)
    with pytest.raises(ArithmeticError):
        tiles.product(V)
    with pytest.raises(KeyboardInterrupt):
        tiles.product(V)
    assert np.array_equal(tiles.product(V), A @ V)


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("room", [0, 1500, 10**6])
def test_array_libraries_give_the_products_of_numpy(library, room):
    pytest.importorskip(library)
    make = array_libraries()[library]
    A, V = real_numbers(53, 3)
    expected = SymmetricTiles(Tiles(A), 53, room=10**6, dtype="float64").product(V)
    with patch.object(symmetric, "DEVICE_TILE", 8):
        tiles = SymmetricTiles(Tiles(make(A)), 53, room, make(A), "float64")
        for _ in range(2):
            found = tiles.product(make(V))
            assert type(found) is type(make(V))
            assert np.asarray(found) == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert tiles.kept_bytes <= room
