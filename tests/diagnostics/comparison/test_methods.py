"""Tests of what can be compared."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

from mercer import Gaussian, Matern, RandomFourier
from mercer.diagnostics.comparison.methods import DEFAULT, NAMED, Settings, methods_of
from mercer.diagnostics.comparison.tuning import Tuner

X = np.random.default_rng(0).standard_normal((60, 2))


@pytest.fixture
def settings():
    return Settings("regression", Tuner(X, X[:, 0], "regression", 0), 5)


def test_the_default_methods_have_names():
    assert set(DEFAULT) <= set(NAMED)
    assert [method.label for method in methods_of(None)] == [NAMED[n].label for n in DEFAULT]


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", NAMED)
def test_every_name_makes_what_can_learn(name, task):
    y = X[:, 0] if task == "regression" else X[:, 0] > 0
    settings = Settings(task, Tuner(X, y, task, 0), 0)
    model, about = NAMED[name].make(8, settings)
    assert hasattr(model, "predict")
    assert about
    features = getattr(model, "features", None)
    if NAMED[name].sized:
        assert features.get_params()["n_components"] == 8


def test_maps_of_one_kernel_share_its_lengthscale(settings):
    ours = NAMED["gaussian"].make(8, settings)[0].features
    theirs = NAMED["sklearn-rbf"].make(8, settings)[0].features
    assert theirs.gamma == pytest.approx(1 / (2 * ours.kernel.lengthscale**2))
    assert NAMED["exact"].make(None, settings)[0].kernel == ours.kernel


def test_objects_are_maps_kernels_or_estimators(settings):
    given = [Matern(2.0), RBFSampler(gamma=3.0), StandardScaler(), DummyRegressor()]
    found = methods_of(given)
    assert [method.sized for method in found] == [True, True, False, False]
    models = [method.make(16 if method.sized else None, settings)[0] for method in found]
    assert isinstance(models[0].features, RandomFourier)
    assert (models[1].features.gamma, models[1].features.n_components) == (3.0, 16)
    # The given object is not changed, and seeds that it has are kept.
    assert given[1].n_components == 100
    assert models[1].features.random_state == 5
    seeded = methods_of(RBFSampler(random_state=9))[0].make(8, settings)[0]
    assert seeded.features.random_state == 9
    assert isinstance(models[3], DummyRegressor)
    assert models[3] is not given[3]


def test_a_mapping_gives_labels(settings):
    method = methods_of({"mine": Gaussian(2.0)})[0]
    assert method.label == "mine"
    assert method.make(8, settings)[0].features.kernel.lengthscale == 2.0


@pytest.mark.parametrize(
    ("maps", "kind", "message"),
    [
        (["gausian"], ValueError, "'gaussian'"),
        (["something"], ValueError, "known are linear"),
        ([], ValueError, "maps is empty"),
        (["linear", "linear"], ValueError, "two methods called 'linear'"),
        ([RBFSampler], TypeError, "not classes"),
        ([3], TypeError, "got 3"),
    ],
)
def test_what_cannot_be_compared_is_refused(maps, kind, message):
    with pytest.raises(kind, match=message):
        methods_of(maps)


def test_the_lengthscale_follows_the_target():
    X = np.random.default_rng(0).standard_normal((500, 2))
    smooth = Tuner(X, X[:, 0] + 0.1 * X[:, 1] ** 2, "regression", 0).kernel("gaussian")[0]
    rough = Tuner(X, np.sin(5 * X[:, 0]), "regression", 0).kernel("gaussian")[0]
    assert rough.lengthscale < smooth.lengthscale


def test_lengthscales_beyond_the_usual_ones_are_found():
    X = np.random.default_rng(0).uniform(0, 1, (800, 1))
    kernel, why = Tuner(X, np.sin(60 * X[:, 0]), "regression", 0).kernel("gaussian")
    median = Gaussian("median").fitted_to(X).lengthscale
    assert kernel.lengthscale < 0.25 * median
    assert "best of 4 " not in why
