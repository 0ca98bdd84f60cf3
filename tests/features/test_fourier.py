"""Tests of random Fourier features."""

import numpy as np
import pytest
import scipy.stats

from mercer import (
    NTK,
    Gaussian,
    Laplace,
    Matern,
    ProductLaplace,
    RandomFourier,
    approximation_error,
)


def test_variance_is_that_of_the_theory():
    # Independent frequencies: m Var = (1 - k²)² for the paired map of the Gaussian kernel.
    generator = np.random.default_rng(0)
    X = generator.standard_normal((6, 3))
    m, n_seeds = 16, 3000
    estimates = []
    for seed in range(n_seeds):
        features = RandomFourier(
            n_components=m, projection="gaussian", stratified=False, random_state=seed
        )
        Z = features.fit_transform(X)
        estimates.append(Z @ Z.T)
    k = Gaussian()(X)
    off = np.triu_indices(6, 1)
    expected = ((1 - k**2) ** 2)[off]
    measured = m * np.var(estimates, axis=0)[off]
    assert measured == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("d", [3, 8])
def test_orthogonal_directions_and_strata_lower_the_error(d):
    X = np.random.default_rng(0).standard_normal((12, d)) / np.sqrt(d)

    def squared_error(**parameters):
        errors = []
        for seed in range(150):
            features = RandomFourier(n_components=8 * d, random_state=seed, **parameters)
            Z = features.fit_transform(X)
            errors.append(((Z @ Z.T - features.kernel_(X)) ** 2).mean())
        return np.mean(errors)

    plain = squared_error(projection="gaussian", stratified=False)
    orthogonal = squared_error(stratified=False)
    assert orthogonal < 0.75 * plain
    assert squared_error() < 1.02 * orthogonal
    assert (d == 8) or squared_error() < 0.9 * orthogonal


@pytest.mark.parametrize("projection", ["orthogonal", "gaussian", "fastfood", "hd3"])
def test_more_components_begin_with_the_same_frequencies(projection):
    X = np.zeros((1, 64))
    few = RandomFourier(n_components=100, projection=projection, random_state=3).fit(X)
    many = RandomFourier(n_components=400, projection=projection, random_state=3).fit(X)
    assert few.frequencies_ == pytest.approx(many.frequencies_[:, :50], abs=1e-14)


@pytest.mark.parametrize(
    ("kernel", "law"),
    [
        (Gaussian(2.0), scipy.stats.chi(5, scale=0.5)),
        (Laplace(2.0), None),
        (Matern(2.0, nu=1.5), None),
    ],
)
def test_radii_follow_the_spectral_measure(kernel, law):
    generator = np.random.default_rng(0)
    u = generator.random(4000)
    radii = kernel.spectral_radii(u, 5)
    if law is None:
        nu = getattr(kernel, "nu", 0.5)
        normal = generator.standard_normal((4000, 5))
        mixing = np.sqrt(generator.chisquare(2 * nu, 4000) / (2 * nu))
        sample = np.linalg.norm(normal, axis=1) / mixing / kernel.lengthscale
        assert scipy.stats.ks_2samp(radii, sample).pvalue > 1e-3
    else:
        assert scipy.stats.kstest(radii, law.cdf).pvalue > 1e-3


def test_lengthscale_only_scales_the_frequencies():
    X = np.random.default_rng(0).standard_normal((50, 4))
    one = RandomFourier(Gaussian(1.0), random_state=0).fit(X)
    fitted = RandomFourier(Gaussian("median"), random_state=0).fit(X)
    assert fitted.frequencies_ == pytest.approx(one.frequencies_ / fitted.kernel_.lengthscale)
    assert RandomFourier(random_state=0).fit(X).kernel_.lengthscale == 1.0
    assert fitted.kernel.lengthscale == "median"


def test_the_choice_of_projection_is_told_and_held_to():
    X = np.zeros((2, 3))
    assert RandomFourier().fit(X).projection_name_ == "orthogonal"
    assert RandomFourier(ProductLaplace()).fit(X).projection_name_ == "gaussian"
    with pytest.raises(ValueError, match="not uniform in direction"):
        RandomFourier(ProductLaplace(), projection="orthogonal").fit(X)
    with pytest.raises(ValueError, match="hd3"):
        RandomFourier(projection="hd3").fit(X)
    with pytest.raises(ValueError, match=r"no spectral measure.*choose_map.*NTKFeatures"):
        RandomFourier(NTK()).fit(X)


def test_diagonal_is_exact_for_an_even_number_of_features():
    X = np.random.default_rng(0).standard_normal((20, 3))
    Z = RandomFourier(n_components=10, random_state=0).fit_transform(X)
    assert (Z**2).sum(axis=1) == pytest.approx(np.ones(20))


def test_a_refit_with_another_width_starts_over():
    features = RandomFourier(n_components=8, random_state=0)
    first = features.fit(np.zeros((2, 3))).frequencies_
    assert features.fit(np.zeros((2, 5))).frequencies_.shape == (5, 4)
    assert np.array_equal(features.fit(np.zeros((2, 3))).frequencies_, first)


def test_error_falls_like_the_root_of_the_dimension():
    X = np.random.default_rng(0).standard_normal((200, 6))
    errors = []
    for m in (256, 4096):
        values = [
            approximation_error(
                RandomFourier(Gaussian("median"), n_components=m, random_state=s).fit(X), X
            ).relative
            for s in range(10)
        ]
        errors.append(np.mean(values))
    assert 3.0 < errors[0] / errors[1] < 5.3


def test_phases_that_overflow_are_an_error():
    X = np.full((4, 3), 3e38, dtype=np.float32)
    with pytest.raises(ValueError, match="overflows"):
        RandomFourier(n_components=4, random_state=0).fit(X).transform(X)
