"""Tests of the sizes that theorems ask for."""

import numpy as np
import pytest

from mercer import ArcCosine, Gaussian, RandomFourier
from mercer.diagnostics import (
    spectral_approximation,
    statistical_dimension,
    sufficient_fourier,
    sufficient_gegenbauer,
    sufficient_ntk,
    sufficient_relu,
    sufficient_step,
)


def test_constants_are_the_corrected_ones():
    n, d, alpha, s, epsilon, delta, square = 1000, 7, 20.0, 30.0, 0.3, 0.05, 400.0
    log = np.log(16 * s / delta)
    assert sufficient_fourier(n, alpha, s, epsilon, delta) == np.ceil(
        8 / 3 * n / alpha / epsilon**2 * log
    )
    assert sufficient_step(n, alpha, s, epsilon, delta) == np.ceil(
        16 / 3 * n / alpha / epsilon**2 * log
    )
    assert sufficient_relu(d, square, alpha, s, epsilon, delta) == np.ceil(
        16 / 3 * d * square / alpha / epsilon**2 * log
    )
    found = sufficient_ntk(n, d, square, alpha, s, epsilon, delta)
    third = np.log(48 * s / delta)
    assert found.n_step == np.ceil(96 * n / alpha / epsilon**2 * third)
    assert found.n_relu == np.ceil(32 / 3 * d * square / alpha / epsilon**2 * third)
    assert found.n_sketch == np.ceil(297 / epsilon**2 / delta * (2 * n / (2 + alpha / 2)) ** 2)


def test_leverages_are_within_their_bounds():
    # The leverage of a feature z is z' (K + alpha)^-1 z, under the law that the features have.
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 4))
    alpha, W = 0.5, generator.standard_normal((4, 2000))
    step = 2**0.5 * (X @ W > 0)
    inverse = np.linalg.inv(ArcCosine(order=0)(X) + alpha * np.eye(60))
    leverages = np.sum(step * (inverse @ step), axis=0)
    assert leverages.max() <= 2 * 60 / alpha
    # Their mean is the statistical dimension.
    dimension = statistical_dimension(ArcCosine(order=0), X, alpha).value
    error = leverages.std() / 2000**0.5
    assert abs(leverages.mean() - dimension) < 4 * error


def test_a_sufficient_number_suffices():
    X = np.random.default_rng(0).standard_normal((60, 3))
    kernel, alpha, epsilon = Gaussian(2.0), 6.0, 0.5
    dimension = statistical_dimension(kernel, X, alpha).value
    frequencies = sufficient_fourier(60, alpha, dimension, epsilon, delta=0.1)
    for seed in range(3):
        features = RandomFourier(
            kernel,
            n_components=2 * frequencies,
            projection="gaussian",
            stratified=False,
            random_state=seed,
        ).fit(X)
        assert spectral_approximation(features, X, alpha).epsilon < epsilon


def test_degrees_count_their_harmonics_at_most():
    # With a tiny ridge parameter every harmonic counts: 1 + 3 + 5 in three dimensions.
    few = sufficient_gegenbauer(np.array([1.0, 1.0, 1.0]), 3, 1000, 1e-9, 2.0, 0.5)
    assert few == np.ceil(8 / 3 * 9 / 0.25 * np.log(16 * 2 / 0.1))
    with_zeros = sufficient_gegenbauer(np.array([1.0, 0.0, 1.0]), 3, 1000, 1e-9, 2.0, 0.5)
    assert with_zeros < few


def test_bad_arguments():
    for epsilon in (0.0, 0.6, -1.0):
        with pytest.raises(ValueError, match="epsilon"):
            sufficient_fourier(10, 1.0, 1.0, epsilon)
    with pytest.raises(ValueError, match="delta"):
        sufficient_fourier(10, 1.0, 1.0, 0.1, 1.0)
    with pytest.raises(ValueError, match="alpha"):
        sufficient_step(10, 0.0, 1.0, 0.1)
    with pytest.raises(ValueError, match="dimension"):
        sufficient_fourier(10, 1.0, 0.0, 0.1)
    with pytest.raises(ValueError, match="coefficients"):
        sufficient_gegenbauer(np.array([-1.0]), 3, 10, 1.0, 1.0, 0.1)
