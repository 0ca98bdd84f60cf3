"""Clusters, principal components and a greedy design: no targets."""

from typing import assert_type

import numpy as np

from mercer import Gaussian, GreedyDesign, KernelKMeans, KernelPCA, RandomFourier

X = np.random.default_rng(0).standard_normal((120, 3)) + np.repeat(np.eye(3) * 8, 40, axis=0)
features = RandomFourier(Gaussian(4.0), n_components=60, random_state=0)

clusters: np.ndarray = KernelKMeans(features, n_clusters=3, random_state=0).fit(X).predict(X)
scores: np.ndarray = KernelPCA(features, 2).fit(X).transform(X)
design = assert_type(GreedyDesign(features, n_points=5).fit(X), GreedyDesign)
chosen: np.ndarray = design.indices_
assert len(set(clusters[:40].tolist())) == 1
assert scores.shape == (120, 2)
assert len(chosen) == 5
