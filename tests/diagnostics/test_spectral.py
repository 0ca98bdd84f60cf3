"""Tests of the spectral approximation."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.kernel_approximation import RBFSampler

from mercer import Gaussian, Laplace, NystromFeatures, RandomFourier
from mercer.diagnostics import SpectralApproximation, spectral_approximation
from mercer.diagnostics.spectral import extreme_eigenvalues


def oracle(Z, K, alpha):
    """Return the extreme generalised eigenvalues, as LAPACK finds them."""
    ridge = alpha * np.eye(len(K))
    values = scipy.linalg.eigh(Z @ Z.T + ridge, K + ridge, eigvals_only=True)
    return values[0], values[-1]


@pytest.mark.parametrize("method", ["dense", "lanczos"])
@pytest.mark.parametrize("alpha", [1.0, 0.05])
@pytest.mark.parametrize("n_components", [30, 600])
def test_both_ways_find_the_extreme_eigenvalues(method, alpha, n_components):
    X = np.random.default_rng(0).standard_normal((250, 4))
    kernel = Laplace(2.0)
    features = RandomFourier(kernel, n_components=n_components, random_state=0).fit(X)
    Z, K = features.transform(X), kernel(X)
    found = extreme_eigenvalues(Z, K, alpha, method)
    assert found == pytest.approx(oracle(Z, K, alpha), abs=1e-6)


def test_the_bounds_hold_and_both_forms_follow():
    X = np.random.default_rng(1).standard_normal((200, 3))
    features = RandomFourier(Gaussian(2.0), n_components=500, random_state=0).fit(X)
    found = spectral_approximation(features, X, 1.0)
    Z, K = features.transform(X), features.kernel_(X)
    ridge = np.eye(200)
    approximate, exact = Z @ Z.T + ridge, K + ridge
    for epsilon, low, high in (
        (found.epsilon, 1 - found.epsilon, 1 + found.epsilon),
        (found.inverse_epsilon, 1 / (1 + found.inverse_epsilon), 1 / (1 - found.inverse_epsilon)),
    ):
        assert 0 < epsilon < 1
        least = min(np.linalg.eigvalsh(approximate - low * exact)[0], 0)
        most = min(np.linalg.eigvalsh(high * exact - approximate)[0], 0)
        assert max(-least, -most) < 1e-9
        # One of the two is met with equality.
        tight = np.linalg.eigvalsh(approximate - low * exact)[0]
        other = np.linalg.eigvalsh(high * exact - approximate)[0]
        assert min(tight, other) < 1e-9
    assert found.condition == found.largest / found.smallest


def test_rows_are_drawn_and_alpha_is_taken_in_proportion():
    X = np.random.default_rng(0).standard_normal((400, 3))
    features = NystromFeatures(Gaussian(1.0), n_components=100, random_state=0).fit(X)
    found = spectral_approximation(features, X, 4.0, n_rows=100, random_state=1)
    assert (found.alpha, found.n_rows, found.n_total) == (1.0, 100, 400)
    assert "100 of 400 rows" in str(found)
    # Landmarks only leave out: nothing is larger than in the kernel.
    assert found.largest == pytest.approx(1.0, abs=1e-6)


def test_maps_of_scikit_learn_and_given_kernels():
    X = np.random.default_rng(0).standard_normal((120, 3))
    gamma = 1 / (3 * X.var())
    sampler = RBFSampler(gamma=gamma, n_components=300, random_state=0).fit(X)
    known = spectral_approximation(sampler, X, 1.0)
    given = spectral_approximation(sampler, X, 1.0, kernel=Gaussian((2 * gamma) ** -0.5))
    assert known.smallest == pytest.approx(given.smallest)
    assert known.largest == pytest.approx(given.largest)
    assert known.epsilon < 0.9


def test_bad_arguments():
    X = np.eye(5)
    features = RandomFourier().fit(X)
    with pytest.raises(ValueError, match="method"):
        spectral_approximation(features, X, 1.0, method="power")
    with pytest.raises(ValueError, match="alpha must be"):
        spectral_approximation(features, X, 0.0)
    with pytest.raises(ValueError, match="give a larger alpha"):
        spectral_approximation(features, np.zeros((6, 5)), 1e-30)
    assert SpectralApproximation(0.5, 1.25, 1.0, 5, 5).epsilon == 0.5
