"""Machines given arrays on a device that NumPy cannot read: rows, targets and weights."""

import array_api_strict as xp
import numpy as np
import pytest

from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    IRKMRegressor,
    KernelClassifier,
    KernelRegressor,
    KernelRidge,
    RandomFourier,
    RFMClassifier,
)
from mercer._array import to_numpy

FEATURES = RandomFourier(Gaussian(1.5), n_components=60, random_state=0)
MACHINES = [
    FeatureRidge(FEATURES),
    FeatureRidgeClassifier(FEATURES),
    KernelRidge(Gaussian(1.5)),
    KernelRegressor(Gaussian(1.5)),
    KernelClassifier(Gaussian(1.5), n_components=80),
    IRKMRegressor(n_iterations=1, random_state=0),
    RFMClassifier(n_iterations=1, random_state=0),
]


def on_device(values):
    return xp.asarray(values, device=xp.Device("device1"))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_rows_targets_and_weights_on_another_device(machine):
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((90, 3)), rng.uniform(0.5, 1.5, 90)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    if hasattr(machine, "predict_proba"):
        y = (y > 0).astype(int)
    with pytest.raises(RuntimeError, match="NumPy"):
        np.asarray(on_device(X))
    expected = machine.fit(X, y, weights).predict(X)
    score = machine.score(X, y, weights)
    machine.fit(on_device(X), on_device(y), on_device(weights))
    assert to_numpy(machine.predict(on_device(X))) == pytest.approx(expected, abs=1e-9)
    found = machine.score(on_device(X), on_device(y), on_device(weights))
    assert found == pytest.approx(score, abs=1e-9)
    if hasattr(machine, "predict_proba"):
        names = np.asarray(["no", "yes"])[y]
        assert set(machine.fit(on_device(X), names).predict(on_device(X))) <= {"no", "yes"}
