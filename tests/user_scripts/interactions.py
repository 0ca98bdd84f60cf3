"""Which columns matter: machines that learn features."""

from typing import assert_type

import numpy as np

from mercer import IRKMRegressor, RFMRegressor
from mercer.datasets import SparsePolynomial, leap_complexity, staircase

polynomial: SparsePolynomial = staircase(2)
X = np.random.default_rng(0).choice([-1.0, 1.0], size=(150, 8))
y = polynomial(X)

weights: np.ndarray = IRKMRegressor(n_iterations=3).fit(X, y).column_weights_
model = assert_type(RFMRegressor(n_iterations=2, alpha=1e-3).fit(X, y), RFMRegressor)
metric: np.ndarray = model.metric_
assert weights.shape == (8,)
assert set(np.argsort(np.asarray(weights))[-2:]) == {0, 1}
assert metric.shape == (8, 8)
assert leap_complexity(polynomial) == 1
