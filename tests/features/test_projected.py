"""Tests of thresholds of projections against the same on whole matrices."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer._array import to_numpy
from mercer._random import Stream
from mercer.features.packed import packed_thresholds, threshold_codes
from mercer.ops.thresholds import Thresholds
from mercer.sketches import DenseProjection, TernaryProjection
from mercer.testing import array_libraries, peak_bytes

#: Between whole numbers, so that rounding decides nothing.
RULES = [Thresholds("odd", 2.5, -1.5), Thresholds("even", 2.5, -1.5), Thresholds("sign", 0.5)]


def by_hand(values, rule):
    """Return what a rule makes of values, from its definition."""
    values = np.asarray(values, dtype=float)
    above = values > rule.upper
    below = np.zeros(values.shape, dtype=bool) if rule.lower is None else values < rule.lower
    if rule.kind == "sign":
        found = np.where(above, 1, -1)
    elif rule.kind == "odd":
        found = above.astype(int) - below
    else:
        found = above | below
    return found.astype(np.int8)


def whole_rows(n, d, seed, dtype=float):
    return np.random.default_rng(seed).integers(-3, 4, (n, d)).astype(dtype)


@given(
    n=st.integers(1, 70), d=st.integers(1, 30), size=st.integers(1, 140), seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.float64, np.int64]), rule=st.sampled_from(RULES),
)  # fmt: skip
def test_bits_and_codes_are_those_of_the_dense_product(n, d, size, seed, dtype, rule):
    projection = TernaryProjection(Stream(seed), d, size, 0.5)
    X = whole_rows(n, d, seed, dtype)
    wanted = by_hand(X @ projection.matrix, rule)
    for rows in (X, scipy.sparse.csr_array(X)):
        for other in (projection, DenseProjection(projection.matrix)):
            found = threshold_codes(rows, other, rule)
            assert found.dtype == np.int8
            assert np.array_equal(found, wanted)
            packed = packed_thresholds(rows, other, rule)
            assert np.array_equal(packed.unpack(), wanted)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_stay_sparse(rule, dtype):
    X = whole_rows(300, 400, 0, dtype) * (np.random.default_rng(1).random((300, 400)) < 0.02)
    projection = TernaryProjection(Stream(0), 400, 130, 0.3)
    wanted = by_hand(X @ projection.matrix, rule)
    assert len(np.unique(wanted)) == len(np.unique(by_hand([[-9.0, 0.0, 9.0]], rule)))
    rows = scipy.sparse.csr_array(X)
    assert np.array_equal(threshold_codes(rows, projection, rule), wanted)
    assert np.array_equal(packed_thresholds(rows, projection, rule).unpack(), wanted)
    assert np.array_equal(projection.project(rows, np), X @ projection.matrix)


@pytest.mark.parametrize("kind", ["odd", "even", "sign"])
def test_every_column_may_have_its_own_thresholds(kind):
    rng = np.random.default_rng(0)
    upper = rng.integers(0, 9, 100) + 0.5
    rule = Thresholds(kind, upper, None if kind == "sign" else -upper)
    projection = TernaryProjection(Stream(0), 20, 100, 0.5)
    X = whole_rows(40, 20, 0)
    wanted = by_hand(X @ projection.matrix, rule)
    assert np.array_equal(packed_thresholds(X, projection, rule).unpack(), wanted)
    assert np.array_equal(threshold_codes(X, projection, rule), wanted)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_values_on_a_threshold_are_not_beyond_it(rule):
    rule = Thresholds(rule.kind, 1.0, None if rule.lower is None else -1.0)
    projection = TernaryProjection.from_matrix(np.ones((1, 64), dtype=int))
    X = np.asarray([[-1.0], [1.0], [1.5], [-1.5]])
    wanted = by_hand(np.repeat(X, 64, axis=1), rule)
    assert np.array_equal(packed_thresholds(X, projection, rule).unpack(), wanted)
    assert np.array_equal(threshold_codes(X, projection, rule), wanted)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
@pytest.mark.parametrize("library", array_libraries())
def test_rows_of_other_libraries(library, rule):
    projection = TernaryProjection(Stream(0), 20, 70, 0.5)
    X = whole_rows(40, 20, 0, np.float32)
    wanted = by_hand(X @ projection.matrix, rule)
    rows = array_libraries()[library](X)
    codes = threshold_codes(rows, projection, rule)
    assert type(codes) is type(rows)
    assert np.array_equal(to_numpy(codes), wanted)
    assert np.array_equal(packed_thresholds(rows, projection, rule).unpack(), wanted)


def test_blocks_and_threads_do_not_matter():
    projection = TernaryProjection(Stream(0), 50, 200, 0.5)
    X = np.random.default_rng(0).standard_normal((333, 50)).astype(np.float32)
    rule = Thresholds("odd", 0.7, -1.2)
    whole = packed_thresholds(X, projection, rule)
    with mercer.config(block_rows=7, n_jobs=2):
        assert packed_thresholds(X, projection, rule) == whole
        assert np.array_equal(threshold_codes(X, projection, rule), whole.unpack())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
@pytest.mark.parametrize("sparse", [False, True])
def test_no_values_of_features_are_ever_in_memory(rule, sparse):
    n, d, size = 20_000, 64, 2048
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    if sparse:
        X = scipy.sparse.random_array(
            (n, d), density=0.02, random_state=0, format="csr", dtype=np.float32
        )
    projection = TernaryProjection(Stream(0), d, size, 0.5)
    packed_thresholds(X[:10], projection, rule)
    packed, peak = peak_bytes(lambda: packed_thresholds(X, projection, rule))
    assert packed.nbytes * 16 <= n * size * 4
    assert peak < 1.3 * packed.nbytes
    codes, peak = peak_bytes(lambda: threshold_codes(X, projection, rule))
    assert peak < 1.3 * codes.nbytes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("both", 1.0, 0.0), "kind must be one of"),
        (("odd", 1.0), "have a lower threshold"),
        (("sign", 1.0, 0.0), "have no lower threshold"),
        (("even", 1.0, 2.0), "must not be above"),
    ],
)
def test_wrong_thresholds_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Thresholds(*arguments)


def test_thresholds_of_another_number_of_columns_are_refused():
    projection = TernaryProjection(Stream(0), 5, 7)
    with pytest.raises(ValueError, match=r"shape \(7,\)"):
        packed_thresholds(np.zeros((2, 5)), projection, Thresholds("sign", np.zeros(6)))


def test_rows_that_are_not_finite_are_refused():
    X = np.zeros((4, 5))
    X[2, 3] = np.nan
    with pytest.raises(ValueError, match="rows contains NaN at row 2, column 3"):
        packed_thresholds(X, TernaryProjection(Stream(0), 5, 7), RULES[0], "rows")


def test_thresholds_are_saved(tmp_path):
    mercer.save(Thresholds("odd", np.ones(3), -1.0), tmp_path / "t.mercer")
    again = mercer.load(tmp_path / "t.mercer")
    assert np.array_equal(again.upper, np.ones(3))
    assert (again.kind, again.lower) == ("odd", -1.0)
