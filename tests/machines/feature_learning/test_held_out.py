"""Rows kept aside, and probabilities from rows that were left out."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import mercer
from mercer import (
    FeatureRidgeClassifier,
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    Laplace,
    RandomFourier,
    RFMClassifier,
    RFMRegressor,
)
from mercer._random import Stream

SOLVERS = [("exact", Laplace(2.0)), ("features", Gaussian(2.0)), ("nystrom", Laplace(2.0))]


def rows(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize(("solver", "kernel"), SOLVERS)
def test_the_error_is_that_of_rows_kept_aside(solver, kernel):
    X, y = rows()
    options = {"solver": solver, "alpha": 0.1, "n_components": 40, "standardize": False}
    machine = IRKMRegressor(kernel, n_iterations=0, random_state=0, **options)
    aside = Stream(0).child("aside").generator().random(300) < 0.25
    assert 50 < aside.sum() < 100
    found = machine.set_params(validation_fraction=0.25).fit(X, y)
    if solver != "nystrom":
        # Landmarks are drawn from all rows: there a fit to some has others.
        part = IRKMRegressor(kernel, n_iterations=0, random_state=0, **options)
        part.fit(X[~aside], y[~aside])
        expected = np.mean((part.predict(X[aside]) - y[aside]) ** 2) / np.var(y)
        assert found.left_out_error_ == pytest.approx(expected, rel=1e-9)
    # In the end all rows are learnt from.
    whole = IRKMRegressor(kernel, n_iterations=0, random_state=0, **options).fit(X, y)
    assert found.predict(X) == pytest.approx(whole.predict(X), abs=1e-9)


@pytest.mark.parametrize("machine", [IRKMRegressor, RFMRegressor])
def test_the_same_rows_are_kept_aside_however_they_come(machine):
    X, y = rows()
    weights = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    options = {"solver": "features", "n_components": 40, "n_iterations": 2, "alpha": 0.1}
    model = machine(Gaussian(2.0), validation_fraction=0.3, random_state=3, **options)
    whole = model.fit(X, y, weights)
    errors = [step["error"] for step in whole.history_]
    predicted = whole.predict(X)
    cuts = np.split(np.arange(300), [7, 150])
    model.fit([(X[cut], y[cut], weights[cut]) for cut in cuts])
    assert [step["error"] for step in model.history_] == pytest.approx(errors, rel=1e-8)
    assert model.predict(X) == pytest.approx(predicted, abs=1e-8)
    assert model.left_out_error_ == pytest.approx(min(errors), rel=1e-8)


def test_rows_kept_aside_are_not_deceived_by_noise():
    rng = np.random.default_rng(1)
    X, X_new = rng.standard_normal((300, 15)), rng.standard_normal((2000, 15))
    y, y_new = rng.standard_normal(300), rng.standard_normal(2000)
    model = RFMRegressor(n_iterations=6, patience=None, validation_fraction=None)
    assert model.fit(X, y).left_out_error_ < 0.8
    assert model.score(X_new, y_new) < -0.2
    honest = RFMRegressor(n_iterations=6, patience=None, random_state=0).fit(X, y)
    assert honest.validation_fraction_ == 0.2
    assert honest.left_out_error_ > 0.9
    assert honest.score(X_new, y_new) > -0.1


def test_few_rows_and_weights_of_columns_keep_none_aside():
    X, y = rows(49)
    assert RFMRegressor(n_iterations=1).fit(X, y).validation_fraction_ is None
    assert RFMRegressor(n_iterations=0).fit(*rows()).validation_fraction_ is None
    assert IRKMRegressor(n_iterations=1).fit(*rows()).validation_fraction_ is None


def test_shares_that_leave_too_few_rows_are_refused():
    X, y = rows(20)
    with pytest.raises(ValueError, match="both must be two at least"):
        IRKMRegressor(validation_fraction=0.001, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="must be None with fresh=True"):
        IRKMRegressor(validation_fraction=0.2, fresh=True, n_iterations=1).fit(X, y)


def labels_of(X, seed):
    """Return labels of known probabilities, and these."""
    chances = 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))
    return (np.random.default_rng(seed).random(len(X)) < chances).astype(int), chances


@pytest.mark.parametrize(("solver", "kernel"), SOLVERS)
@pytest.mark.parametrize("share", [None, 0.3])
def test_probabilities_are_near_the_true_ones(solver, kernel, share):
    X, X_new = (np.random.default_rng(seed).standard_normal((1500, 3)) for seed in (0, 1))
    y, (y_new, chances) = labels_of(X, 2)[0], labels_of(X_new, 3)
    options = {"solver": solver, "n_components": 200, "n_iterations": 3, "random_state": 0}
    model = IRKMClassifier(kernel, validation_fraction=share, **options).fit(X, y)
    found = model.predict_proba(X_new)
    assert found.sum(axis=1) == pytest.approx(np.ones(1500))
    assert np.exp(model.predict_log_proba(X_new)) == pytest.approx(found)
    assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X_new))
    # Between what can be known and what guessing costs, nearer to the former.
    best, guess = log_loss(y_new, chances), log_loss(y_new, np.full(1500, y.mean()))
    assert log_loss(y_new, found) < best + 0.3 * (guess - best)


def test_probabilities_of_many_classes_survive_a_model_file(tmp_path):
    X = np.random.default_rng(0).standard_normal((400, 4))
    y = np.asarray(list("abc"))[np.argmax(X[:, :3] + 0.5 * X[:, 1:], axis=1)]
    model = RFMClassifier(n_iterations=2, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    assert expected.shape == (400, 3)
    assert log_loss(y, expected) < 0.5
    mercer.save(model, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").predict_proba(X) == pytest.approx(expected)


def test_classes_of_all_rows_are_known_before_they_are_dealt():
    X = np.random.default_rng(0).standard_normal((200, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    y[7] = "c"
    model = IRKMClassifier(fresh=True, n_iterations=3, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_a_few_rows_that_are_all_right_do_not_make_certain():
    rng = np.random.default_rng(1)
    X, X_new = rng.standard_normal((40, 3)), rng.standard_normal((2000, 3))
    far = abs(X[:, 0]) > 0.3
    model = IRKMClassifier(random_state=0).fit(X[far], X[far, 0] > 0)
    assert model.report_.score > 0.9
    assert log_loss(X_new[:, 0] > 0, model.predict_proba(X_new)) < 0.3


def test_many_classes_are_known_for_sure():
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((60, 15))
    labels = rng.integers(60, size=3000)
    X = centres[labels] + rng.standard_normal((3000, 15))
    features = RandomFourier(Gaussian(5.0), n_components=200, random_state=0)
    model = FeatureRidgeClassifier(features).fit(X[:1500], labels[:1500])
    assert log_loss(labels[1500:], model.predict_proba(X[1500:])) < 0.05
    # Rows of weight 0 are no rows.
    weights = (np.arange(1500) < 900).astype(float)
    some = FeatureRidgeClassifier(features, alpha=1.0).fit(X[:1500], labels[:1500], weights)
    part = FeatureRidgeClassifier(features, alpha=1.0).fit(X[:900], labels[:900])
    assert some.predict_proba(X[1500:]) == pytest.approx(part.predict_proba(X[1500:]), abs=1e-6)


@pytest.mark.parametrize("solver", ["features", "nystrom"])
def test_accuracy_of_noise_is_a_guess_near_interpolation(solver):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 5)), rng.integers(0, 2, 300)
    options = {"solver": solver, "n_components": 300, "n_iterations": 0, "random_state": 0}
    for alpha in (1e-6, 1e-3):
        model = IRKMClassifier(Gaussian(1.0), alpha=alpha, **options).fit(X, y)
        assert model.report_.score < 0.6
