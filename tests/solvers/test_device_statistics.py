"""Sums of features on a device, beside those of NumPy, in every array library."""

import copy
import pickle

import numpy as np
import pytest

from mercer._array import device_of, is_numpy, to_numpy
from mercer.solvers import (
    DeviceStatistics,
    FewRows,
    RidgeStatistics,
    gathered_beside,
    on_host,
)
from mercer.solvers.statistics import accumulator_for
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
ARRAYS = ("z_sum", "y_sum", "cross", "y_squares", "z_reference", "y_reference")
pytestmark = pytest.mark.arrays


@pytest.fixture(params=[name for name in LIBRARIES if name != "numpy"])
def make(request):
    return LIBRARIES[request.param]


def blocks(dtype="float64", weights="none", far=3.0):
    rng = np.random.default_rng(0)
    for size in (7, 20, 13):
        Z = (rng.standard_normal((size, 5)) + far).astype(dtype)
        own = None if weights == "none" else rng.uniform(0.1, 2, size)
        if weights == "zeros":
            own[::3] = 0
        yield Z, rng.standard_normal((size, 2)), own


def gathered(given, make=None, n_folds=0):
    found = None
    for Z, Y, w in given:
        if make is not None:
            Z, Y, w = make(Z), make(Y), None if w is None else make(w)
        found = accumulator_for(Z, 5, 2, n_folds) if found is None else found
        found.add(Z, Y, w)
    return found


def assert_same(found, expected, rel):
    for one, other in zip(found.folds, expected.folds, strict=True):
        assert (one.n_rows, one.n_positive) == (other.n_rows, other.n_positive)
        assert one.weight == pytest.approx(other.weight, rel=1e-12)
        assert one.rounding == other.rounding
        here = (
            on_host(found).folds[found.folds.index(one)].about(other.z_reference, other.y_reference)
        )
        for name in ARRAYS:
            expected_values = getattr(other, name)
            scale = np.abs(expected_values).max(initial=1.0)
            assert getattr(here, name) == pytest.approx(expected_values, abs=rel * scale)
        scale = np.abs(other.gram).max()
        assert here.full_gram() == pytest.approx(other.full_gram(), abs=rel * scale)


@pytest.mark.parametrize("n_folds", [0, 3])
@pytest.mark.parametrize("weights", ["none", "positive", "zeros"])
@pytest.mark.parametrize(("dtype", "rel"), [("float64", 1e-12), ("float32", 1e-5)])
def test_sums_are_those_of_numpy(make, dtype, rel, weights, n_folds):
    given = list(blocks(dtype, weights))
    found = gathered(given, make, n_folds)
    assert isinstance(found, DeviceStatistics)
    assert device_of(found.place) == device_of(make(np.eye(2)))
    assert str(found.place.dtype).endswith("float64")
    assert_same(found, gathered(given, None, n_folds), rel)


def test_features_far_from_zero_keep_their_digits(make):
    given = list(blocks(far=1e7))
    found = on_host(gathered(given, make)).total().centred(True)[0]
    Z = np.concatenate([part[0] for part in given])
    Z = Z - Z.mean(axis=0)
    assert found == pytest.approx(Z.T @ Z, rel=1e-7)


def test_a_block_without_weight_counts_rows_only(make):
    given = list(blocks(weights="positive"))
    first = np.full((4, 5), 1e9), np.zeros((4, 2)), np.zeros(4)
    found = gathered([first, *given], make)
    assert found.n_rows == 44
    assert_same(found, gathered([first, *given]), 1e-12)


@pytest.mark.parametrize("kind", ["targets", "light", "heavy"])
def test_what_float32_cannot_hold_is_summed_all_the_same(make, kind):
    given = list(blocks("float32", "none" if kind == "targets" else "positive"))
    factor = {"targets": 1e36, "light": 1e-42, "heavy": 1e36}[kind]
    if kind == "targets":
        given = [(Z, Y * factor, w) for Z, Y, w in given]
    else:
        given = [(Z, Y, w * factor) for Z, Y, w in given]
    found, expected = gathered(given, make), gathered(given)
    there = on_host(found).total().centred(True)
    for one, other in zip(there, expected.total().centred(True), strict=True):
        assert np.isfinite(one).all()
        assert one == pytest.approx(other, rel=1e-4, abs=1e-4 * np.abs(other).max())


def test_sums_of_a_fold_are_taken_away(make):
    given = list(blocks(weights="zeros"))
    found, expected = gathered(given, make, 3), gathered(given, None, 3)
    total, theirs = found.total(), expected.total()
    rest, wanted = found.without(1, total), expected.without(1, theirs)
    assert device_of(rest.gram) == device_of(found.place)
    assert rest.weight == pytest.approx(wanted.weight)
    assert to_numpy(rest.centred(True)[0]) == pytest.approx(wanted.centred(True)[0], rel=1e-9)
    assert found.variance() == pytest.approx(expected.variance(), rel=1e-12)


def test_copies_merges_and_pickles(make):
    given = list(blocks())
    found = gathered(given, make, 2)
    before = to_numpy(found.folds[0].gram).copy()
    other = copy.deepcopy(found)
    assert isinstance(other, DeviceStatistics)
    other.merge(gathered(given, make, 2))
    other.add(*map(make, given[0][:2]))
    assert np.array_equal(to_numpy(found.folds[0].gram), before)
    assert other.n_rows == 87
    stored = pickle.loads(pickle.dumps(found))
    assert type(stored) is RidgeStatistics
    assert is_numpy(stored.place)
    assert_same(found, stored, 1e-15)


def test_sums_that_move_share_no_memory(make):
    given = list(blocks())
    here = gathered(given)
    before = here.folds[0].gram.copy()
    there = gathered_beside(here, make(np.eye(2)))
    assert isinstance(there, DeviceStatistics)
    for part in given:
        there.add(*map(make, part[:2]))
    assert np.array_equal(here.folds[0].gram, before)
    back = gathered_beside(there, np.eye(2))
    assert back.folds[0].gram.flags.f_contiguous
    assert_same(there, gathered(given + given), 1e-12)
    back.add(*given[0][:2])
    assert back.n_rows == 87
    assert there.n_rows == 80


def test_rows_draw_the_same_folds_after_a_move(make):
    given = list(blocks())
    moved = gathered_beside(gathered(given[:1], None, 3), make(np.eye(2)))
    for part in given[1:]:
        moved.add(*map(make, part[:2]))
    assert_same(moved, gathered(given, None, 3), 1e-12)


def test_few_rows_move_and_become_sums(make):
    Z, Y, w = next(blocks(weights="positive"))
    few = gathered_beside(FewRows(Z, Y, w), make(np.eye(2)))
    assert device_of(few.place) == device_of(make(Z))
    assert gathered_beside(few, make(Z)) is few
    assert_same(few.accumulator(), FewRows(Z, Y, w).accumulator(), 1e-12)


def test_what_cannot_move_is_said():
    with pytest.raises(TypeError, match="cannot be moved"):
        gathered_beside(object(), np.eye(2))
    with pytest.raises(TypeError, match="no accumulator"):
        accumulator_for("features", 1, 1)
