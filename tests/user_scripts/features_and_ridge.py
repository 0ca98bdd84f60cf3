"""Choose features and machine oneself, and measure the features."""

from typing import assert_type

import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.solvers import Solution

X = np.random.default_rng(0).uniform(size=(200, 2))
y = np.sin(6 * X[:, 0]) + X[:, 1]

features = RandomFourier(Gaussian("median"), n_components=64, random_state=0)
Z = np.asarray(assert_type(features.fit(X), RandomFourier).transform(X))
machine = assert_type(FeatureRidge(features).fit(X, y), FeatureRidge)
assert_type(machine.solution_, Solution)
chosen: float | np.ndarray = machine.alpha_
error = mercer.approximation_error(machine.features_, X)
frequencies: np.ndarray = features.frequencies_
assert Z.shape == (200, 64)
assert frequencies.shape == (2, 32)
assert machine.score(X, y) > 0.9
assert 0 < error.relative < 1
