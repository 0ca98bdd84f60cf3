"""Tests of ridge machines whose features grow: the same as one fit of all features."""

import numpy as np
import pytest

import mercer
from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, RandomFourier
from mercer.machines.growth import promise


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Begin with few features, so that growing is cheap."""
    monkeypatch.setattr("mercer.machines.growth.FIRST", 32)


def data(n=700, d=3):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, d))
    return X, np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * generator.standard_normal(n)


def growing(lengthscale=0.8):
    return RandomFourier(Gaussian(lengthscale), n_components="auto", random_state=0)


@pytest.mark.parametrize("selection", ["gcv", "loo", 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_grown_machine_is_that_of_all_features_at_once(selection, weighted):
    X, y = data()
    weights = np.random.default_rng(1).integers(0, 3, len(X)) if weighted else None
    machine = FeatureRidge(growing(), selection=selection).fit(X, y, weights)
    assert len(machine.growth_.sizes) > 1
    alpha = np.logspace(-3, 1, 5)
    machine = FeatureRidge(growing(), selection=selection, alpha=alpha).fit(X, y, weights)
    Z = machine.features_.transform(X)
    whole = FeatureRidge(selection=selection, alpha=alpha).fit(Z, y, weights)
    assert machine.alpha_ == whole.alpha_
    assert np.allclose(machine.predict(X), whole.predict(Z), atol=1e-8)
    assert np.isclose(machine.expected_error(), whole.expected_error(), rtol=1e-8)


def test_growth_stops_at_the_tolerance_and_scores_are_those_of_the_sizes():
    X, y = data()
    machine = FeatureRidge(growing(), tolerance=0.02).fit(X, y)
    path = machine.growth_
    assert promise(list(path.values)) <= 0.02 or "would not be worth it" in path.stopped
    assert machine.features_.n_features_out_ == path.sizes[-1]
    assert np.isclose(path.values[-1], 1 - machine.expected_error())
    assert all(2 * a == b for a, b in zip(path.sizes, path.sizes[1:], strict=False))
    easy = FeatureRidge(growing(3.0), tolerance=0.5).fit(X, y)
    assert len(easy.growth_.sizes) == 2


def test_classifiers_grow_and_stay_calibrated(tmp_path):
    X, y = data()
    machine = FeatureRidgeClassifier(growing(), tolerance=0.05).fit(X, y > 0)
    Z = machine.features_.transform(X)
    whole = FeatureRidgeClassifier(alpha=machine.alpha_).fit(Z, y > 0)
    assert np.allclose(machine.predict_proba(X[:50]), whole.predict_proba(Z[:50]), atol=1e-6)
    mercer.save(machine, tmp_path / "grown.mercer")
    loaded = mercer.load(tmp_path / "grown.mercer")
    assert np.array_equal(loaded.predict(X), machine.predict(X))
    assert loaded.growth_ == machine.growth_


def test_the_memory_budget_ends_the_growth():
    X, y = data()
    with mercer.config(memory="300kB"):
        machine = FeatureRidge(growing(0.1), tolerance=1e-6).fit(X, y)
    assert machine.growth_.stopped == "the memory budget does not allow 128 features"
    assert machine.growth_.sizes == (32, 64)


def test_few_rows_have_few_features():
    X, y = data(40)
    machine = FeatureRidge(growing(), tolerance=1e-6).fit(X, y)
    assert machine.growth_.sizes == (20,)


def test_streams_and_parts_are_refused_with_the_way_out():
    X, y = data(200)
    with pytest.raises(ValueError, match="give fit arrays, or a number"):
        FeatureRidge(growing()).fit([(X, y)])
    with pytest.raises(ValueError, match="give fit arrays, or a number"):
        FeatureRidge(growing()).partial_fit(X, y)
    with pytest.raises(AttributeError, match="n_components='auto'"):
        _ = FeatureRidge().fit(X, y).growth_
