"""The front door where its rows are: it finds what it finds on NumPy's arrays."""

from functools import cache

import array_api_strict as xp
import numpy as np
import pytest

import mercer
from mercer import KernelClassifier, KernelRegressor, Laplace, io
from mercer._array import is_numpy, to_numpy
from mercer.machines.auto import learnt, search, trial
from mercer.testing import array_libraries

LIBRARIES = array_libraries() | {
    "device1": lambda values: xp.asarray(values, device=xp.Device("device1"))
}
#: What is on another device need not be tried on the first one.
del LIBRARIES["array_api_strict"]
N = 300


@pytest.fixture(autouse=True)
def small_stages(monkeypatch):
    """Searches of a second."""
    monkeypatch.setattr(search, "STAGES", dict.fromkeys(search.STAGES, (80, 150)))
    monkeypatch.setattr(search, "UPDATES", (1, 1))
    monkeypatch.setattr(search, "PROMISING", 1)
    monkeypatch.setattr(search, "KINDS", search.KINDS[:1])
    monkeypatch.setattr(learnt, "FEWEST_ROWS", 100)
    monkeypatch.setattr(learnt, "families", lambda: [Laplace()])


def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, 4))
    y = np.abs(X[:, 1] - 0.2) + np.sign(X[:, 3]) * X[:, 1] + 0.05 * rng.standard_normal(N)
    return X[:220], y[:220], X[220:], y[220:]


@cache
def regressor():
    """Return the machine of NumPy's arrays, fitted once."""
    return KernelRegressor().fit(*data()[:2])


@cache
def probabilities():
    """Return what NumPy's machine predicts of new rows, fitted once."""
    X, y, new, _ = data()
    return KernelClassifier().fit(X, labels_of(y)).predict_proba(new)


def labels_of(y):
    return np.asarray(["low", "high"])[(y > 0.4).astype(int)]


@pytest.mark.arrays
@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_regression(make, tmp_path):
    X, y, new, truth = data()
    expected = regressor()
    found = KernelRegressor().fit(make(X), make(y))
    mean, std = found.predict(make(new), return_std=True)
    assert is_numpy(mean) == is_numpy(make(new))
    assert type(found.kernel_) is type(expected.kernel_)
    score = expected.score(new, truth)
    assert score > 0.8
    assert found.score(make(new), make(truth)) == pytest.approx(score, abs=0.02)
    wanted = np.median(expected.predict(new, return_std=True)[1])
    assert np.median(to_numpy(std)) == pytest.approx(wanted, rel=0.2)
    io.save(found, tmp_path / "model.mercer")
    read = io.load(tmp_path / "model.mercer")
    assert read.predict(new) == pytest.approx(to_numpy(mean), abs=1e-9)


def test_regression_by_conjugate_gradients(monkeypatch):
    X, y, new, truth = data()
    make = LIBRARIES["device1"]
    score = regressor().score(new, truth)
    monkeypatch.setattr(trial, "DEVICE_DIRECT_ROWS", 50)
    monkeypatch.setattr(learnt, "DEVICE_EXACT_ROWS", 50)
    found = KernelRegressor().fit(make(X), make(y))
    assert found.machine_.solution_.method == "iterative"
    assert found.score(make(new), make(truth)) == pytest.approx(score, abs=0.05)


@pytest.mark.arrays
@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_classification(make):
    X, y, new, truth = data()
    found = KernelClassifier().fit(make(X), labels_of(y))
    assert np.abs(to_numpy(found.predict_proba(make(new))) - probabilities()).mean() < 0.02
    assert set(found.predict(make(new))) == {"low", "high"}
    codes = KernelClassifier().fit(make(X), make((y > 0.4).astype(int))).predict(make(new))
    assert (to_numpy(codes) == (truth > 0.4)).mean() > 0.8


def test_rows_of_the_host_are_searched_on_the_device_of_the_settings():
    pytest.importorskip("torch")
    X, y, new, truth = data()
    score = regressor().score(new, truth)
    with mercer.config(device="cpu"):
        found = KernelRegressor().fit(X, y)
        assert is_numpy(found.predict(new))
    assert found.score(new, truth) == pytest.approx(score, abs=0.02)
