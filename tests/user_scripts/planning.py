"""What a fit will cost, settings, and methods side by side."""

import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, KernelRegressor, RandomFourier
from mercer.diagnostics import Plan

X = np.random.default_rng(0).uniform(size=(200, 2))
y = X[:, 0] ** 2

plan: Plan = mercer.plan((1_000_000, 20), RandomFourier(Gaussian(1.0), n_components=512))
with mercer.config(memory="500 MB", n_jobs=1):
    machine = FeatureRidge(RandomFourier(Gaussian(0.5), n_components=40, random_state=0)).fit(X, y)
front = KernelRegressor("gaussian", n_components=50).set_params(random_state=0)
parameters: dict[str, object] = front.get_params()
assert "kernel" in parameters
assert machine.score(X, y) > 0.9
assert str(plan)
