"""Products with a tall matrix, against the plain ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.engine.tall import tall_times, tall_transposed_times
from mercer.testing import array_libraries


def numbers(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((d, k)), rng.standard_normal((n, k))


@given(st.integers(1, 70), st.integers(1, 6), st.integers(1, 7), st.integers(0, 99), st.booleans())
def test_products_equal_the_plain_ones(n, d, k, seed, by_columns):
    rng = np.random.default_rng(seed)
    F, V, W = (rng.integers(-9, 10, shape).astype(float) for shape in ((n, d), (d, k), (n, k)))
    F = np.asfortranarray(F) if by_columns else F
    assert np.array_equal(tall_times(F, V), F @ V)
    assert np.array_equal(tall_transposed_times(F, W), F.T @ W)


@pytest.mark.parametrize("n", [15, 16, 17, 511, 1025])
def test_products_are_those_of_float64(n):
    F, V, W = numbers(n, 5, 3)
    np.testing.assert_allclose(tall_times(F, V), F @ V, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(tall_transposed_times(F, W), F.T @ W, rtol=1e-12, atol=1e-12)


def test_a_factor_without_columns_multiplies_to_zero():
    F = np.empty((20, 0))
    assert np.array_equal(tall_times(F, np.empty((0, 3))), np.zeros((20, 3)))
    assert tall_transposed_times(F, np.ones((20, 3))).shape == (0, 3)


def test_products_do_not_depend_on_the_number_of_threads():
    F, V, W = numbers(1500, 20, 3)
    found = []
    for n_jobs in (1, 2, 5):
        with mercer.config(n_jobs=n_jobs):
            found.append((tall_times(F, V), tall_transposed_times(F, W)))
    for one, other in found[1:]:
        assert np.array_equal(one, found[0][0])
        assert np.array_equal(other, found[0][1])


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_array_libraries_give_the_products_of_numpy(library):
    pytest.importorskip(library)
    make = array_libraries()[library]
    F, V, W = numbers(40, 4, 3)
    times, transposed = tall_times(make(F), make(V)), tall_transposed_times(make(F), make(W))
    assert type(times) is type(transposed) is type(make(F))
    assert np.asarray(times) == pytest.approx(F @ V, abs=1e-13)
    assert np.asarray(transposed) == pytest.approx(F.T @ W, abs=1e-12)
