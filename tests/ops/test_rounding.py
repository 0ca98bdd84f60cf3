"""Tests of stochastic rounding: hashes of rows, unbiased codes, and the known excess."""

import numpy as np
import pytest
import scipy.sparse

from mercer._array import to_numpy
from mercer.ops.rounding import (
    codes_by_arrays,
    hashes_by_numpy,
    rounded_codes,
    rounding_excess,
    row_hashes,
)
from mercer.testing import array_libraries


def rows_with_zeros():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 12))
    X[rng.random(X.shape) < 0.5] = 0.0
    return X


def test_hashes_are_those_of_numpy_whatever_the_form():
    X = rows_with_zeros()
    hashes = hashes_by_numpy(X)
    assert len(set(hashes.tolist())) == 50
    sparse = scipy.sparse.csr_array(X)
    backwards = sparse[:, ::-1][:, ::-1]
    signed = np.where(X == 0, -0.0, X)
    for rows in (X, X.astype("float32"), np.asfortranarray(X), signed, sparse, backwards):
        assert np.array_equal(row_hashes(rows), hashes)
    assert not np.isin(row_hashes(X[:, ::-1].copy()), hashes).any()
    assert not np.isin(row_hashes(-X), hashes).any()


def test_codes_are_those_of_whole_arrays_in_any_library():
    rng = np.random.default_rng(0)
    hashes, keys = (rng.integers(0, 2**64, size, dtype=np.uint64) for size in (40, 70))
    for dtype in ("float32", "float64"):
        cosines = np.cos(9 * rng.standard_normal((40, 70))).astype(dtype)
        cosines[0, :2] = -1, 1
        for n_bits in (1, 3, 8):
            codes = rounded_codes(cosines, hashes, keys, n_bits)
            assert np.array_equal(codes, codes_by_arrays(cosines, hashes, keys, n_bits))
            assert codes[0, 0] == 0
            assert codes[0, 1] == 2**n_bits - 1
            for make in array_libraries().values():
                found = rounded_codes(make(cosines), hashes, keys, n_bits)
                assert np.array_equal(to_numpy(found), codes)


@pytest.mark.parametrize("n_bits", [1, 2, 5, 8])
def test_codes_are_right_on_average_and_neighbours(n_bits):
    rng = np.random.default_rng(0)
    n = 40_000
    hashes, keys = (rng.integers(0, 2**64, size, dtype=np.uint64) for size in (n, 9))
    cosines = np.cos(np.linspace(0.1, 3, 9))
    codes = rounded_codes(np.tile(cosines, (n, 1)), hashes, keys, n_bits)
    places = (cosines + 1) / 2 * (2**n_bits - 1)
    share = places - np.floor(places)
    assert np.array_equal(np.unique(codes[:, 0]), np.floor(places[0]) + np.arange(2))
    standard_error = np.sqrt(share * (1 - share) / n)
    assert np.all(abs(codes.mean(axis=0) - places) <= 4.5 * standard_error)
    # Neither rows nor columns share their noise: products of deviations vanish on average.
    deviations = (codes - places) / np.sqrt(share * (1 - share))
    between = deviations.T @ deviations / n
    assert abs(between[~np.eye(9, dtype=bool)]).max() < 5 / n**0.5
    assert abs((deviations[1:] * deviations[:-1]).mean(axis=0)).max() < 5 / n**0.5


@pytest.mark.parametrize("n_bits", range(1, 9))
def test_excess_is_the_mean_over_phases(n_bits):
    phases = (np.arange(400_000) + 0.5) / 400_000 * np.pi
    steps = 2**n_bits - 1
    places = steps * (1 + np.cos(phases)) / 2
    share = places - np.floor(places)
    assert rounding_excess(n_bits) == pytest.approx(
        8 / steps**2 * np.mean(share * (1 - share)), rel=1e-6
    )
