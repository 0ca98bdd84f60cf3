"""Tests of the float32 tiles of kernels against the same formulas in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.ops.fused import FUNCTIONS, Form, fused_rows, fused_tile, is_fused, plain_tile

FORMS = [
    *(Form(function, 1.3, power=1.2) for function in FUNCTIONS),
    Form("exponential", 0.7, manhattan=True),
    Form("powered", 0.7, manhattan=True, power=0.4),
]


def filled(X, Y, form, out=None):
    out = np.full((len(X), len(Y)), np.nan, dtype=np.float32) if out is None else out
    left = np.ascontiguousarray(X / form.lengthscale, dtype=np.float32)
    fused_tile(left, np.ascontiguousarray((Y / form.lengthscale).T, dtype=np.float32), form, out)
    return out


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f.function}-{f.manhattan}")
@pytest.mark.parametrize("n_rows", [1, 2, 5])
@pytest.mark.parametrize("n_columns", [1, 3, 4, 9])
def test_tiles_equal_the_formula(form, n_rows, n_columns):
    rng = np.random.default_rng(n_columns)
    X, Y = rng.standard_normal((n_rows, n_columns)), rng.standard_normal((7, n_columns))
    Y[3] = X[0]
    assert np.abs(filled(X, Y, form) - plain_tile(X, Y, form)).max() < 5e-7


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f.function}-{f.manhattan}")
def test_equal_rows_have_kernel_one_exactly(form):
    X = np.random.default_rng(0).standard_normal((6, 5))
    assert (np.diag(filled(X, X, form)) == 1).all()


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f.function}-{f.manhattan}")
def test_a_part_of_a_matrix_is_filled_and_nothing_beside_it(form):
    X = np.random.default_rng(0).standard_normal((5, 3))
    out = np.full((8, 9), -1, dtype=np.float32)
    filled(X, X, form, out[1:6, 2:7])
    assert np.array_equal(out[1:6, 2:7], filled(X, X, form))
    out[1:6, 2:7] = -1
    assert (out == -1).all()


@pytest.mark.parametrize("part", [np.s_[6:1:-1, 2:7], np.s_[1:6, ::2], np.s_[1:6, 6:1:-1]])
def test_tiles_of_any_strides_are_filled(part):
    X = np.random.default_rng(0).standard_normal((5, 3))
    out = np.full((8, 9), -1, dtype=np.float32)
    filled(X, X, FORMS[0], out[part])
    assert np.array_equal(out[part], filled(X, X, FORMS[0]))
    out[part] = -1
    assert (out == -1).all()


@pytest.mark.parametrize("power", [0.2, 0.7, 1.0, 1.9])
def test_powers_hold_from_the_smallest_to_the_largest_distances(power):
    distances = np.concatenate([[0.0], np.logspace(-30, 30, 500)]).astype(np.float32)
    form = Form("powered", 1.0, manhattan=True, power=power)
    out = np.empty((1, len(distances)), dtype=np.float32)
    fused_tile(np.zeros((1, 1), dtype=np.float32), distances[None], form, out)
    assert np.abs(out[0] - np.exp(-(distances.astype(float) ** power))).max() < 3e-7


@settings(deadline=None, max_examples=40)
@given(st.floats(0, 1e6), st.sampled_from(FORMS))
def test_kernels_of_one_pair_are_between_zero_and_one(distance, form):
    value = filled(np.zeros((1, 1)), np.asarray([[distance]]), form)[0, 0]
    assert 0 <= value <= 1
    assert value == pytest.approx(
        plain_tile(np.zeros((1, 1)), np.asarray([[distance]]), form)[0, 0], abs=5e-7
    )


def test_rows_far_from_the_origin_keep_their_digits():
    X = np.random.default_rng(0).standard_normal((4, 3)) + 1e8
    out = np.empty((4, 4), dtype=np.float32)
    form = Form("exponential", 1.0, manhattan=True)
    fused_rows(X, X, form, out)
    assert out == pytest.approx(plain_tile(X, X, form), abs=1e-6)
    assert is_fused(X, X, out)
    assert not is_fused(X, X, out.astype(float))
