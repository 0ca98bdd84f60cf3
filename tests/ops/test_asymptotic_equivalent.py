"""The asymptotic equivalent: its formula entry by entry, and that kernels approach it."""

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from mercer import ArcCosine, Gaussian
from mercer.kernels import kernel_moments
from mercer.ops.asymptotic_equivalent import asymptotic_equivalent
from mercer.ops.gaussian_moments import GaussianMoments, gaussian_moments


def mixture(p, n, seed=0):
    """Return rows, labels, means and covariances of two classes that differ in both."""
    generator = np.random.default_rng(seed)
    means = np.zeros((2, p))
    means[0, 0], means[1, 1] = 2.0, 2.0
    places = np.arange(p)
    toeplitz = 0.3 ** abs(places[:, None] - places)
    covariances = np.stack([np.eye(p), (1 + 3 / np.sqrt(p)) * toeplitz])
    labels = (np.arange(n) >= n // 3).astype(int)
    X = np.empty((n, p))
    for a in range(2):
        rows = labels == a
        root = np.linalg.cholesky(covariances[a])
        draws = generator.standard_normal((rows.sum(), p)) @ root.T
        X[rows] = (means[a] + draws) / np.sqrt(p)
    return X, labels, means, covariances


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def norm(symmetric):
    start = np.random.default_rng(0).standard_normal(len(symmetric))
    return abs(eigsh(symmetric, k=1, v0=start, return_eigenvectors=False, tol=1e-4)[0])


def test_every_entry_is_its_formula():
    p, n = 5, 9
    X, labels, means, C = mixture(p, n)
    moments = GaussianMoments(0.3, 0.7, 0.4)
    mean_C = sum(C[a] for a in labels) / n
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            a, b = labels[i], labels[j]
            psi = []
            for k, c in ((i, a), (j, b)):
                z = X[k] - means[c] / np.sqrt(p)
                psi.append(z @ z - np.trace(C[c]) / p)
            t_a, t_b = (np.trace(C[c] - mean_C) / np.sqrt(p) for c in (a, b))
            quadratic = (t_a * t_b + 2 * np.trace(C[a] @ C[b]) / p) / p
            quadratic += (t_a * psi[1] + t_b * psi[0]) / np.sqrt(p) + psi[0] * psi[1]
            K[i, j] = moments.d1 * X[i] @ X[j] + moments.d2 * quadratic + moments.d0 * (i == j)
    P = np.eye(n) - 1 / n
    found = asymptotic_equivalent(moments, X, labels, means, C)
    assert found == pytest.approx(P @ K @ P, abs=1e-13)


def test_the_kernel_of_relu_features_approaches_its_equivalent():
    p = 512
    X, labels, means, C = mixture(p, 2 * p)
    tau = np.mean([np.trace(C[a]) for a in labels]) / p
    moments = gaussian_moments("relu", tau)
    K = centred(ArcCosine(1)(X)) / 2
    error = norm(K - asymptotic_equivalent(moments, X, labels, means, C))
    blind = GaussianMoments(moments.d0, moments.d1, 0.0)
    without = norm(K - asymptotic_equivalent(blind, X, labels, means, C))
    assert error < 0.12
    assert error < without / 2


def test_the_error_falls_with_the_dimension():
    errors = []
    for p in (64, 256):
        X, labels, means, C = mixture(p, 2 * p)
        tau = np.mean([np.trace(C[a]) for a in labels]) / p
        moments = kernel_moments(Gaussian(), tau)
        K = centred(Gaussian()(X))
        errors.append(norm(K - asymptotic_equivalent(moments, X, labels, means, C)))
    # Four times the dimension halves the error.
    assert errors[1] < 0.7 * errors[0]


def test_shapes_that_do_not_fit_are_refused():
    X, labels, means, C = mixture(4, 6)
    moments = GaussianMoments(1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="means and covariances"):
        asymptotic_equivalent(moments, X, labels, means[:, :3], C)
    with pytest.raises(ValueError, match="labels"):
        asymptotic_equivalent(moments, X, labels + 1, means, C)
