"""Predictions with error bars, from an exact kernel and from features."""

import numpy as np
from numpy.typing import NDArray

from mercer import FeatureRidge, KernelRidge, Matern, NystromFeatures


def share_inside(machine: KernelRidge | FeatureRidge, X: NDArray[np.float64], y: object) -> float:
    mean, deviation = machine.predict(X, return_std=True)
    inside: NDArray[np.bool_] = np.abs(np.asarray(y) - mean) < 2 * deviation
    return float(inside.mean())


rng = np.random.default_rng(0)
X = rng.uniform(size=(150, 1))
y = np.sin(6 * X[:, 0]) + rng.normal(0, 0.1, 150)
kernel = Matern(0.5, nu=2.5)
machines: list[KernelRidge | FeatureRidge] = [
    KernelRidge(kernel),
    FeatureRidge(NystromFeatures(kernel, n_components=20, random_state=0)),
]
for machine in machines:
    assert share_inside(machine.fit(X, y), X, y) > 0.8
