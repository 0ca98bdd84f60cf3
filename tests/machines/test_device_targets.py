"""Targets, weights and scores in every array library, beside what NumPy says of them."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, r2_score

from mercer._array import is_numpy, to_numpy
from mercer.engine.streams import as_weights
from mercer.machines import scores
from mercer.machines.device_targets import checked_labels, checked_numbers
from mercer.machines.targets import LabelTargets, NumberTargets
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
FOREIGN = [name for name in LIBRARIES if name != "numpy"]
pytestmark = pytest.mark.arrays


@pytest.fixture(params=FOREIGN)
def make(request):
    return LIBRARIES[request.param]


def rows(n=6):
    return np.zeros((n, 1))


def test_numbers_go_where_the_rows_are(make):
    y, X = np.arange(6.0), make(rows())
    for given in (y, make(y), make(y.astype(np.float32)), make(y.astype(int)), y.tolist()):
        found = checked_numbers(given, 6, X)
        assert type(found) is type(X)
        assert np.array_equal(to_numpy(found), y)
    assert is_numpy(checked_numbers(make(y), 6))
    assert checked_numbers(make(y.astype(np.float32)), 6, X).dtype == make(y.astype("f4")).dtype


def test_numbers_on_a_device_are_refused_for_the_same_reasons(make):
    X, y = make(rows()), np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="6 rows, y has 5"):
        checked_numbers(make(y[:5]), 6, X)
    y[4, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity at row 4"):
        checked_numbers(make(y), 6, X)
    with pytest.raises(ValueError, match="one or two dimensions"):
        checked_numbers(make(np.zeros((6, 1, 1))), 6, X)
    with pytest.raises(ValueError, match="real dtype"):
        checked_numbers(make(np.zeros(6, dtype=complex)), 6, X)
    with pytest.warns(DataConversionWarning):
        assert checked_numbers(make(y[:, :1]), 6, X).ndim == 1


@pytest.mark.parametrize("kind", ["int64", "int8", "float64", "bool"])
def test_labels_that_are_numbers_are_encoded_where_they_are(make, kind):
    labels = np.asarray([1, 0, 1, 1, 0, 0]).astype(kind)
    ours, theirs = LabelTargets(), LabelTargets()
    expected, found = ours.check(labels, 6), theirs.check(make(labels), 6, make(rows()))
    ours.observe(expected)
    theirs.observe(found)
    assert np.array_equal(ours.classes, theirs.classes)
    assert ours.balanced_weights() == theirs.balanced_weights()
    codes = theirs.encode(found)
    assert not is_numpy(codes)
    assert np.array_equal(to_numpy(theirs.expand(codes)), ours.expand(ours.encode(expected)))
    decisions = ours.expand(ours.encode(expected)) * 0.5
    answer = theirs.decode(make(decisions))
    assert not is_numpy(answer)
    assert np.array_equal(to_numpy(answer), labels)
    assert str(answer.dtype).endswith(kind)


def test_labels_that_are_strings_stay_on_the_host_and_their_codes_do_not(make):
    labels, X = np.asarray(["b", "a", "c"]), make(rows(3))
    targets = LabelTargets()
    checked = targets.check(labels, 3, X)
    targets.observe(checked)
    codes = targets.encode(checked, X)
    assert type(codes) is type(X)
    expanded = targets.expand(codes)
    assert np.array_equal(to_numpy(expanded).argmax(axis=1), [1, 0, 2])
    assert targets.decode(expanded).tolist() == ["b", "a", "c"]


def test_labels_on_a_device_that_are_none(make):
    targets = LabelTargets(classes=[0, 300])
    with pytest.raises(ValueError, match="label 44"):
        targets.encode(make(np.asarray([0, 44], dtype=np.uint8)))
    with pytest.raises(ValueError, match="label 1"):
        LabelTargets(classes=["a", "b"]).encode(make(np.asarray([1, 1])))
    one, alike = LabelTargets(), make(np.asarray([3, 3]))
    one.observe(alike)
    with pytest.raises(ValueError, match="one class only"):
        one.encode(alike)
    for wrong in ([0.5, 1.0], [np.nan, 1.0], [[0, 1], [1, 0]]):
        with pytest.raises(ValueError, match=r"continuous|NaN|1d array"):
            checked_labels(make(np.asarray(wrong)), 2, make(rows(2)))


@pytest.mark.parametrize("class_weight", [{0: 2.0, 1: 0.5, 2: 1.0}, "balanced"])
def test_weights_of_classes(make, class_weight):
    codes = np.asarray([0, 0, 1, 2, 2, 2])
    given = np.asarray([1.0, 0.0, 2.0, 1.0, 0.5, 0.0])
    targets = LabelTargets(classes=[0, 1, 2], class_weight=class_weight)
    for own in (None, given):
        expected = targets.weights(codes, own, whole=True)
        theirs = None if own is None else make(own)
        found = targets.weights(make(codes), theirs, whole=True)
        assert not is_numpy(found)
        assert np.allclose(to_numpy(found), expected)


def test_sample_weights_stay_on_the_device(make):
    X, weights = make(rows(3)), np.asarray([1.0, 0.0, 2.0])
    for given in (weights, make(weights), make(weights.astype(np.float32)), [1, 0, 2]):
        found = as_weights(given, 3, X)
        assert type(found) is type(X)
        assert np.array_equal(to_numpy(found), weights)
    assert is_numpy(as_weights(make(weights), 3))
    for wrong in ([1.0, -1.0, 0.0], [1.0, np.inf, 0.0], [1.0, 1.0]):
        with pytest.raises(ValueError, match="sample_weight"):
            as_weights(make(np.asarray(wrong)), 3, X)


def test_scores_are_those_of_scikit_learn(make, monkeypatch):
    monkeypatch.setattr(scores, "PART_BYTES", 100)
    rng = np.random.default_rng(0)
    true, predicted = rng.standard_normal((2, 20, 3))
    true[:, 1] = 2.0
    predicted[:, 2] = true[:, 2] = 1.0
    weights = rng.uniform(size=20)
    targets = NumberTargets()
    for own in (None, weights):
        expected = r2_score(true, predicted, sample_weight=own)
        theirs = None if own is None else make(own)
        assert targets.score(make(true), make(predicted), theirs) == pytest.approx(expected)
        labels, guesses = (true[:, 0] > 0), (predicted[:, 0] > 0)
        found = LabelTargets().score(make(labels), make(guesses), theirs)
        assert found == pytest.approx(accuracy_score(labels, guesses, sample_weight=own))
    with pytest.warns(UserWarning, match="two samples"):
        assert np.isnan(targets.score(make(true[:1]), make(predicted[:1]), None))
