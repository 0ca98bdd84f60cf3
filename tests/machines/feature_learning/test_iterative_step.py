"""Feature learning with all rows as centres, by conjugate gradients, against decompositions."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import IRKMClassifier, IRKMRegressor, Laplace, RFMRegressor


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(700)


@pytest.mark.parametrize("learner", [IRKMRegressor, RFMRegressor])
def test_weights_are_those_of_the_decomposition(learner, task):
    X, y = task
    options = {"alpha": 0.3, "n_iterations": 2, "random_state": 0, "validation_fraction": None}
    exact = learner(Laplace(2.0), solver="exact", patience=None, **options).fit(X, y)
    iterative = learner(Laplace(2.0), solver="iterative", patience=None, **options).fit(X, y)
    assert iterative.solver_ == "iterative"
    for one, other in zip(exact.history_[1:], iterative.history_[1:], strict=True):
        assert np.allclose(one["importances"], other["importances"], atol=0.02)
    assert abs(exact.score(X, y) - iterative.score(X, y)) < 0.02


def test_columns_that_matter_are_found_and_told(task):
    X, y = task
    model = IRKMRegressor(solver="iterative", n_iterations=4, random_state=0).fit(X, y)
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}
    assert "conjugate gradients" in str(model.report_)
    assert model.report_.score_reason == "held-out rows"


def test_error_bars_cover_new_rows(task):
    X, y = task
    model = IRKMRegressor(solver="iterative", n_iterations=2, random_state=0).fit(X[:500], y[:500])
    mean, deviation = model.predict(X[500:], return_std=True)
    assert 0.85 <= np.mean(np.abs(mean - y[500:]) <= 1.96 * deviation) <= 1.0


def test_labels_weights_and_model_files(task, tmp_path):
    X, y = task
    labels = np.where(y > np.median(y), "high", "low")
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    model = IRKMClassifier(solver="iterative", n_iterations=1, random_state=0)
    model.fit(X, labels, sample_weight=weights)
    unseen = weights == 0
    assert np.mean(model.predict(X[unseen]) == labels[unseen]) > 0.85
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
