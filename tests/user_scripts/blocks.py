"""Rows that arrive in blocks: a stream, partial_fit, and two machines that merge."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mercer import FeatureRidge, Gaussian, RandomFourier

Floats = NDArray[np.float64]


def blocks(first: int, n_blocks: int) -> Iterator[tuple[Floats, Floats]]:
    for seed in range(first, first + n_blocks):
        X = np.random.default_rng(seed).uniform(size=(50, 2))
        yield X, np.sin(4 * X[:, 0]) + X[:, 1]


features = RandomFourier(Gaussian(0.5), n_components=50, random_state=0)
whole = FeatureRidge(features).fit(list(blocks(0, 4)))
left, right = FeatureRidge(features), FeatureRidge(features)
for X, y in blocks(0, 2):
    left.partial_fit(X, y)
for X, y in blocks(2, 2):
    right = right.partial_fit(X, y)
merged: FeatureRidge = left.merge(right)
assert np.allclose(merged.predict(X), whole.predict(X), atol=1e-6)
