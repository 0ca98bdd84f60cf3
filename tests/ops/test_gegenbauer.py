"""Gegenbauer polynomials and harmonics, against their defining sums."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from mercer.ops._jit.gegenbauer import replace_by_sums
from mercer.ops.gegenbauer import (
    clenshaw_steps,
    legendre,
    log_harmonics,
    orthonormal,
    weighted_sum,
)
from mercer.ops.harmonics import count, harmonics


@pytest.mark.parametrize("d", [2, 3, 4, 9, 50])
def test_numbers_of_harmonics_are_differences_of_binomials(d):
    expected = [comb(d + l - 1, l) - (comb(d + l - 3, l - 2) if l > 1 else 0) for l in range(13)]
    assert np.exp(log_harmonics(d, 12)) == pytest.approx(expected, rel=1e-12)


def test_numbers_of_harmonics_do_not_overflow():
    assert np.isfinite(log_harmonics(10_000, 400)).all()
    assert np.exp(log_harmonics(1, 3)) == pytest.approx([1, 1, 0, 0])


@pytest.mark.parametrize("d", [3, 5, 50])
def test_polynomials_are_scaled_gegenbauer_polynomials(d):
    t = np.linspace(-1, 1, 31)
    for l, found in enumerate(legendre(t, d, 12)):
        order = d / 2 - 1
        expected = special.eval_gegenbauer(l, order, t) / special.eval_gegenbauer(l, order, 1.0)
        assert abs(found - expected).max() < 1e-12


def test_polynomials_of_the_circle_are_chebyshev_polynomials():
    angle = np.linspace(0, np.pi, 17)
    for l, found in enumerate(legendre(np.cos(angle), 2, 9)):
        assert abs(found - np.cos(l * angle)).max() < 1e-13


@pytest.mark.parametrize("d", [2, 3, 8, 1000])
def test_orthonormal_polynomials_are_the_others_times_the_root_of_the_harmonics(d):
    t = np.linspace(-1, 1, 13)
    scales = np.exp(log_harmonics(d, 8) / 2)
    for l, plain in enumerate(legendre(t, d, 8)):
        found = orthonormal(t, d, 8)[l]
        assert abs(found - scales[l] * plain).max() < 1e-12 * scales[l]


@pytest.mark.parametrize("d", [3, 6])
def test_orthonormal_polynomials_reproduce(d):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((200_000, d))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    x, y = np.eye(d)[0], np.full(d, d**-0.5)
    left, right = orthonormal(w @ x, d, 3), orthonormal(w @ y, d, 3)
    exact = [float(p) for p in legendre(np.asarray(x @ y), d, 3)]
    for k in range(4):
        for l in range(4):
            products = left[k] * right[l]
            error = products.mean() - (exact[l] if k == l else 0.0)
            assert abs(error) <= 4.5 * products.std() / 200_000**0.5 + 1e-12


@settings(max_examples=30, deadline=None)
@given(d=st.integers(2, 40), degree=st.integers(0, 14), seed=st.integers(0, 99))
def test_sums_of_polynomials_are_what_they_say(d, degree, seed):
    rng = np.random.default_rng(seed)
    T, weights = rng.uniform(-1, 1, (5, 7)), rng.standard_normal((5, degree + 1))
    p = orthonormal(T, d, degree)
    expected = sum(weights[:, l, None] * p[l] for l in range(degree + 1))
    scale = np.abs(weights[:, :, None] * p.transpose(1, 0, 2)).sum(axis=1).max()
    assert abs(weighted_sum(T, weights, d, np) - expected).max() < 1e-12 * scale


@settings(max_examples=20, deadline=None)
@given(
    d=st.integers(1, 30),
    degree=st.integers(0, 12),
    start=st.integers(0, 4),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_compiled_sum_equals_the_plain_one(d, degree, start, dtype):
    rng = np.random.default_rng(degree)
    degree = min(degree, 1) if d == 1 else degree
    out = rng.uniform(-1, 1, (6, start + 11)).astype(dtype)
    weights = rng.standard_normal((6, 2, degree + 1)).astype(dtype)
    bounds = np.asarray([0, 4, 11])
    expected = out.astype(float)
    for g in range(2):
        columns = slice(start + bounds[g], start + bounds[g + 1])
        expected[:, columns] = weighted_sum(
            expected[:, columns], weights[:, g].astype(float), d, np
        )
    steps = (step.astype(dtype) for step in clenshaw_steps(d, degree))
    replace_by_sums(out, start, weights, bounds, *steps)
    tolerance = 1e-13 if dtype == "float64" else 2e-5
    assert abs(out - expected).max() <= tolerance * max(1.0, abs(expected).max())


@pytest.mark.parametrize(("d", "degree"), [(1, 5), (2, 30), (3, 60), (4, 2), (9, 2), (9, 1)])
def test_harmonics_add_up_to_the_polynomial(d, degree):
    X = np.random.default_rng(0).standard_normal((8, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[1] = -X[0]
    X[2] = np.eye(d)[-1]
    columns = harmonics(X, degree, np)
    for l, expected in enumerate(legendre(np.clip(X @ X.T, -1, 1), d, degree)):
        assert columns[l].shape[1] == count(d, l)
        assert abs(columns[l] @ columns[l].T - expected).max() < 1e-11
