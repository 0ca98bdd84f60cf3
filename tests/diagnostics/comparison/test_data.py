"""Tests of the split and of what all methods see."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch

from mercer.diagnostics.comparison.data import ENCODED, UNCLIPPED, WITH_CONSTANT, prepared

X = np.arange(120.0).reshape(40, 3) ** 2
y = X[:, 0] / 7


def split(X=X, y=y, task="auto", test_size=0.25, max_rows=100, seed=0):
    return prepared(X, y, task, test_size, max_rows, seed)


def test_rows_are_split_without_repetition_and_keep_their_targets():
    data = split()
    assert data.X_train.shape == (30, 3)
    assert data.X_test.shape == (10, 3)
    assert sorted([*data.y_train, *data.y_test]) == sorted(y)
    # Standardised columns keep their order, and so do targets that grow with the first one.
    together = np.argsort(data.X_train[:, 0])
    np.testing.assert_array_equal(together, np.argsort(data.y_train))
    assert not np.array_equal(split(seed=1).y_test, data.y_test)
    np.testing.assert_array_equal(split().y_test, data.y_test)


def test_the_encoder_knows_the_training_rows_only():
    data = split()
    rows, _ = data.training(None, UNCLIPPED)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=0), 1, atol=1e-12)
    assert abs(data.testing(UNCLIPPED).mean()) > 1e-3


def test_a_linear_model_sees_outliers_as_they_are():
    far = X.copy()
    far[:, 0] = y
    targets = y.copy()
    far[0, 0] = targets[0] = -1e6
    data = split(far, targets)
    rows, targets = data.training(None, UNCLIPPED)
    rows = np.concatenate([rows, data.testing(UNCLIPPED)])
    targets = np.concatenate([targets, data.y_test])
    assert abs(np.corrcoef(rows[:, 0], targets)[0, 1]) == pytest.approx(1)
    clipped = np.concatenate([data.training(None, ENCODED)[0], data.testing(ENCODED)])
    assert abs(clipped).max() < abs(rows).max()


def test_more_rows_than_asked_for_are_drawn_from():
    data = split(max_rows=20, test_size=5)
    assert (len(data.y_train), len(data.y_test)) == (15, 5)
    assert "20 of 40 rows were drawn" in data.reason


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (y, "regression"),
        (np.arange(40), "regression"),
        (np.arange(40) % 3, "classification"),
        (y > 100, "classification"),
        (np.where(y > 100, "a", "b"), "classification"),
        (np.where(y > 100, "a", "b").astype(object), "classification"),
        (y[:, None], "regression"),
    ],
)
def test_the_task_goes_by_the_target(targets, task):
    assert split(y=targets).task == task


def test_a_task_can_be_asked_for():
    assert split(y=np.arange(40) % 3, task="regression").task == "regression"


def test_the_constant_column_is_as_long_as_a_row():
    data = split()
    rows, _ = data.training(None, WITH_CONSTANT)
    assert rows.shape == (30, 4)
    np.testing.assert_allclose(rows[:, 3] ** 2, np.mean((rows[:, :3] ** 2).sum(axis=1)))
    assert data.testing(WITH_CONSTANT)[0, 3] == rows[0, 3]
    assert data.training(7, ENCODED)[0].shape == (7, 3)
    sparse = split(scipy.sparse.csr_array(X))
    assert sparse.training(None, WITH_CONSTANT)[0].shape == (30, 3)


def test_frames_are_encoded_with_their_names():
    frame = pd.DataFrame({"size": y, "city": np.where(y > 50, "Bern", "Zug")})
    frame.loc[3, "size"] = np.nan
    data = split(frame, pd.Series(y))
    assert data.names[0] == "size"
    assert any("Bern" in name for name in data.names)
    assert np.isfinite(data.X_train).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.ones((40, 2))}, "several targets one by one"),
        ({"task": "ranking"}, "task must be one of"),
        ({"test_size": 1.5}, "test_size must be a share"),
        ({"test_size": 39}, "test_size must be a share"),
        ({"test_size": True}, "test_size must be a share"),
        ({"max_rows": 3}, "max_rows must be an integer of at least 20"),
        ({"y": y[:-1]}, "39"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        split(**changes)


def test_rows_of_a_device_are_refused():
    with pytest.raises(TypeError, match="rows of the host"):
        split(torch.ones(40, 3))
