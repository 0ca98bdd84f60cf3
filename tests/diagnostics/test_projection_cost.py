"""Tests of projection costs."""

import numpy as np
import pytest

from mercer import Gaussian, RandomFourier
from mercer.diagnostics import projection_cost
from mercer.diagnostics.projection_cost import projection_ratios


def test_ratios_by_explicit_projections():
    generator = np.random.default_rng(0)
    Z, F = generator.standard_normal((40, 10)), generator.standard_normal((40, 30))
    A, K = Z @ Z.T, F @ F.T

    def projection(M):
        vectors = np.linalg.eigh(M)[1][:, -5:]
        return vectors @ vectors.T

    def cost(M, P):
        return np.trace(M - P @ M @ P)

    P, Q = projection(K), projection(A)
    expected = cost(A, P) / cost(K, P), cost(A, Q) / cost(K, Q), cost(K, Q) / cost(K, P)
    assert projection_ratios(A, K, 5) == pytest.approx(expected, rel=1e-9)
    assert cost(K, P) == pytest.approx(np.linalg.eigvalsh(K)[:-5].sum())


def test_more_features_come_nearer():
    X = np.random.default_rng(0).standard_normal((300, 3))
    few, many = (
        projection_cost(
            RandomFourier(Gaussian(1.5), n_components=m, random_state=0).fit(X), X, rank=6
        )
        for m in (64, 4096)
    )
    assert many.epsilon < few.epsilon < 1
    assert 1 <= many.excess < few.excess
    sampled = projection_cost(
        RandomFourier(Gaussian(1.5), n_components=64, random_state=0).fit(X), X, 6, n_rows=100
    )
    assert "100 of 300 rows" in str(sampled)


def test_bad_arguments():
    X = np.random.default_rng(0).standard_normal((20, 3))
    features = RandomFourier().fit(X)
    for rank in (0, 20, 2.5, True):
        with pytest.raises(ValueError, match="rank must be"):
            projection_cost(features, X, rank)
    with pytest.raises(ValueError, match="give a smaller rank"):
        projection_ratios(np.ones((4, 4)), np.ones((4, 4)), 2)
