"""Tests of the statistical dimension."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from mercer import Gaussian, Laplace, RandomFourier
from mercer.diagnostics import statistical_dimension
from mercer.diagnostics.dimension import estimated_dimension


def dense(K, alpha):
    """Return the trace from a solve."""
    return np.trace(np.linalg.solve(K + alpha * np.eye(len(K)), K))


@pytest.mark.parametrize("alpha", [10.0, 0.1, 1e-3])
def test_eigenvalues_give_the_trace(alpha):
    X = np.random.default_rng(0).standard_normal((200, 3))
    kernel = Laplace(1.5)
    found = statistical_dimension(kernel, X, alpha)
    assert found.value == pytest.approx(dense(kernel(X), alpha), rel=1e-9)
    assert (found.standard_error, found.n_rows, found.method) == (0.0, 200, "eigenvalues")
    assert statistical_dimension(kernel, X.astype(np.float32), alpha).value == pytest.approx(
        found.value, rel=1e-4
    )


@pytest.mark.parametrize("n_components", [50, 400])
def test_features_from_blocks_of_rows(n_components, monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 3))
    features = RandomFourier(Gaussian(1.0), n_components=n_components, random_state=0).fit(X)
    Z = features.transform(X)
    found = statistical_dimension(features, scipy.sparse.csr_array(X), 0.5)
    assert found.value == pytest.approx(dense(Z @ Z.T, 0.5), rel=1e-9)


def test_probes_agree_with_eigenvalues_in_standard_errors():
    X = np.random.default_rng(1).standard_normal((1500, 6))
    kernel = Laplace(2.0)
    exact = dense(kernel(X), 0.05)
    scores = []
    for seed in range(8):
        value, error = estimated_dimension(kernel, X, 0.05, 30, seed)
        assert 0 < error < 0.01 * exact
        scores.append((value - exact) / error)
    assert max(np.abs(scores)) < 4
    # Not all on one side, and no larger than chance allows.
    assert abs(np.mean(scores)) * 8**0.5 < 4
    asked = statistical_dimension(kernel, X, 0.05, method="probes", random_state=3)
    assert asked.method == "probes"
    assert abs(asked.value - exact) < 4 * asked.standard_error
    assert "±" in str(asked)


def test_functions_and_lengthscales_to_be_learnt():
    X = np.random.default_rng(0).standard_normal((100, 3))
    found = statistical_dimension(rbf_kernel, X, 1.0)
    assert found.value == pytest.approx(dense(rbf_kernel(X), 1.0))
    median = Gaussian("median")
    known = median.fitted_to(X)
    assert statistical_dimension(median, X, 1.0) == statistical_dimension(known, X, 1.0)


def test_bad_arguments():
    X = np.eye(5)
    for alpha in (0, -1.0, np.nan, np.inf, True, "1"):
        with pytest.raises(ValueError, match="alpha must be a positive number"):
            statistical_dimension(Gaussian(), X, alpha)
    with pytest.raises(ValueError, match="n_probes"):
        statistical_dimension(Gaussian(), X, 1.0, n_probes=1)
    with pytest.raises(ValueError, match="method"):
        statistical_dimension(Gaussian(), X, 1.0, method="exact")
    with pytest.raises(ValueError, match="need no probes"):
        statistical_dimension(RandomFourier().fit(X), X, 1.0, method="probes")
