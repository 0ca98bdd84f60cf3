"""Sums of packed features against those of the same features unpacked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import PackedFeatures
from mercer.features.packed import EVEN, SIGN, TERNARY, Code
from mercer.solvers import (
    Moments,
    PackedMoments,
    PackedStatistics,
    Problem,
    accumulator_for,
    posterior_of,
    solve_ridge,
)

CODES = {"ternary": TERNARY, "even": EVEN, "sign": SIGN, "3 bits": Code.uniform(3, -1.0, 1.0)}
SUMS = ("n_rows", "n_positive", "weight", "z_sum", "y_sum", "cross", "y_squares")


def features(code, n, m, seed=0):
    codes = np.random.default_rng(seed).integers(0, 2**code.n_planes, (n, m))
    if code is TERNARY:
        codes %= 3
    return PackedFeatures.from_codes(codes, code)


def targets(n, k=2, seed=1):
    return np.random.default_rng(seed).standard_normal((n, k)) + 5


def plain(Z, Y, weights=None):
    """The sums about zero, in plain products."""
    dense = Z.unpack(float)
    own = np.ones(len(Y)) if weights is None else weights
    return own.sum(), own @ dense, dense.T @ (own[:, None] * dense), dense.T @ (own[:, None] * Y)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("weighted", [False, True])
@given(st.integers(1, 150), st.integers(1, 140), st.integers(0, 999))
@settings(max_examples=15, deadline=None)
def test_sums_are_those_of_the_unpacked_features(name, weighted, n, m, seed):
    Z, Y = features(CODES[name], n, m, seed), targets(n, seed=seed)
    weights = np.random.default_rng(seed).integers(0, 3, n).astype(float) if weighted else None
    found = PackedMoments(m, 2)
    found.add(Z, Y, weights)
    weight, sums, gram, cross = plain(Z, Y, weights)
    assert (found.n_rows, found.weight) == (n, weight)
    if weight == 0:
        assert not found.gram.any()
        return
    moved = found.about(np.zeros(m), np.zeros(2))
    np.testing.assert_allclose(moved.z_sum, sums, atol=1e-10 * n)
    np.testing.assert_allclose(moved.full_gram(), gram, atol=1e-10 * n)
    np.testing.assert_allclose(moved.cross, cross, atol=1e-9 * n)
    if not weighted and CODES[name].is_integer:
        assert np.array_equal(moved.full_gram(), gram)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_in_any_order_and_merged_parts_are_one_block(weighted):
    Z, Y = features(TERNARY, 300, 70), targets(300)
    weights = np.random.default_rng(2).random(300) if weighted else None
    whole, parts, other = (PackedMoments(70, 2) for _ in range(3))
    whole.add(Z, Y, weights)
    for made, rows in ((parts, slice(200, 300)), (other, slice(50)), (parts, slice(50, 200))):
        made.add(Z[rows], Y[rows], None if weights is None else weights[rows])
    parts.merge(other)
    same = parts.about(whole.z_reference, whole.y_reference)
    for name in SUMS:
        np.testing.assert_allclose(getattr(same, name), getattr(whole, name), atol=1e-9)
    np.testing.assert_allclose(same.full_gram(), whole.full_gram(), atol=1e-9)


def test_packed_rows_go_on_after_sums_of_floats_about_another_point():
    Z, Y = features(TERNARY, 100, 20), targets(100)
    floats = Moments(20, 2)
    floats.add(Z[:40].unpack(float), Y[:40])
    assert floats.z_reference.any()
    found = PackedMoments(20, 2)
    found.merge(floats)
    found.add(Z[40:], Y[40:])
    weight, sums, gram, _ = plain(Z, Y)
    moved = found.about(np.zeros(20), np.zeros(2))
    assert moved.weight == weight
    np.testing.assert_allclose(moved.z_sum, sums, atol=1e-9)
    np.testing.assert_allclose(moved.full_gram(), gram, atol=1e-9)


@pytest.mark.parametrize("n_folds", [0, 4])
def test_solutions_and_error_bars_are_those_of_unpacked_features(n_folds):
    Z, Y = features(SIGN, 400, 60), targets(400)
    dense = Z.unpack(float)
    packed, floats = (accumulator_for(block, 60, 2, n_folds) for block in (Z, dense))
    assert isinstance(packed, PackedStatistics)
    packed.add(Z, Y)
    floats.add(dense, Y)
    ours, theirs = (solve_ridge(sums, Problem()) for sums in (packed, floats))
    np.testing.assert_allclose(ours.alpha, theirs.alpha, rtol=1e-9)
    np.testing.assert_allclose(ours.coef, theirs.coef, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-7)
    forms = (posterior_of(sums, 3.0, True).quadratic(dense[:5]) for sums in (packed, floats))
    np.testing.assert_allclose(*forms, rtol=1e-7)
