"""Targets: check, encode, expand, decode and score, for all machines."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import KernelRegressor
from mercer.machines.targets import LabelTargets, NumberTargets


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=2, max_size=40))
def test_labels_survive_encoding_expanding_and_decoding(labels):
    targets = LabelTargets(["a", "b", "c", "d"])
    checked = targets.check(np.asarray(labels), len(labels))
    encoded = targets.encode(checked)
    expanded = targets.expand(encoded)
    assert expanded.shape == (len(labels), targets.n_columns)
    assert targets.decode(expanded).tolist() == labels
    assert np.array_equal(targets.codes(expanded), encoded)
    assert targets.score(checked, targets.decode(expanded), None) == 1.0


def test_two_classes_share_a_column():
    targets = LabelTargets()
    checked = targets.check(np.asarray([7, 3, 3]), 3)
    targets.observe(checked)
    assert targets.expand(targets.encode(checked)).ravel().tolist() == [1.0, -1.0, -1.0]


@pytest.mark.parametrize("shape", [(5,), (5, 2)])
def test_numbers_survive_encoding_and_decoding(shape):
    y = np.arange(float(np.prod(shape))).reshape(shape)
    targets = NumberTargets()
    encoded = targets.encode(targets.check(y, 5))
    assert encoded.ndim == 2
    assert np.array_equal(targets.decode(targets.expand(encoded)), y)
    with pytest.raises(ValueError, match="same targets"):
        targets.encode(np.zeros((5, 3)))


def test_weights_of_classes_multiply_sample_weights():
    targets = LabelTargets(class_weight={"a": 3.0})
    targets.observe(np.asarray(["a", "b"]))
    encoded = targets.encode(np.asarray(["b", "a", "a"]))
    found = targets.weights(encoded, np.asarray([1.0, 2.0, 0.5]), whole=False)
    assert found.tolist() == [1.0, 6.0, 1.5]
    balanced = LabelTargets(class_weight="balanced")
    balanced.observe(np.asarray(["a", "b"]))
    assert balanced.weights(encoded, None, whole=True).tolist() == [1.5, 0.75, 0.75]
    with pytest.raises(ValueError, match="as a dict"):
        balanced.weights(encoded, None, whole=False)


def test_counts_of_labels_are_not_stored():
    targets = LabelTargets()
    targets.observe(np.asarray(["a", "a", "b"]))
    assert targets.balanced_weights() == {"a": 0.75, "b": 1.5}
    assert not targets.__mercer_state__(compact=False)["_counts"]


def test_strings_as_numbers_name_the_classifier():
    X = np.random.default_rng(0).standard_normal((10, 2))
    for y in (["low", "high"] * 5, pd.Series(["low", "high"] * 5)):
        with pytest.raises(ValueError, match="KernelClassifier"):
            KernelRegressor("rbf").fit(X, y)
