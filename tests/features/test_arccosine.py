"""Tests of arc-cosine features."""

import numpy as np
import pytest

from mercer import ArcCosine, ArcCosineFeatures
from mercer.testing import bias_in_standard_errors


def unit_rows(d):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((12, d))
    X[1] = 0.99 * X[0] / np.linalg.norm(X[0]) + 0.14 * X[2] / np.linalg.norm(X[2])
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def squared_error(X, n_seeds=60, **parameters):
    """Return the mean squared error of the entries off the diagonal."""
    off = np.triu_indices(len(X), 1)
    errors = []
    for seed in range(n_seeds):
        features = ArcCosineFeatures(random_state=seed, **parameters).fit(X)
        Z = features.transform(X)
        errors.append(((Z @ Z.T - features.kernel_(X))[off] ** 2).mean())
    return np.mean(errors)


@pytest.mark.parametrize("order", [0, 1])
def test_deflation_lowers_the_error_fifteenfold(order):
    X = unit_rows(64)
    plain = squared_error(X, order=order, n_components=512, method="plain", sampling="gaussian")
    assert squared_error(X, order=order, n_components=512) * 15 <= plain


def test_variance_of_spherical_directions_is_that_of_the_theory():
    # Var_sphere = (d/(d+2) (m Var_gauss + K²) - K²) / m; on the diagonal of unit rows 5 -> 2.6.
    X = unit_rows(3)[:1]
    values = [
        (
            ArcCosineFeatures(
                n_components=8, method="plain", sampling="leverage", random_state=s
            ).fit_transform(X)
            ** 2
        ).sum()
        for s in range(4000)
    ]
    assert 8 * np.var(values) == pytest.approx(2.6, rel=0.12)


@pytest.mark.parametrize("order", [0, 1])
def test_antithetic_orthogonal_blocks_have_an_exact_diagonal(order):
    X = 3 * unit_rows(5)
    Z = ArcCosineFeatures(
        order=order, n_components=20, method="antithetic", random_state=0
    ).fit_transform(X)
    assert (Z**2).sum(axis=1) == pytest.approx(ArcCosine(order).diag(X))


def test_one_gibbs_sweep_is_visibly_biased_and_exact_sampling_is_not():
    X = unit_rows(3)[:6]
    biased = ArcCosineFeatures(n_components=60, method="plain", sampling="gibbs")
    exact = ArcCosineFeatures(n_components=60, method="plain", sampling="leverage")
    assert bias_in_standard_errors(exact, X, n_seeds=400) < 4.5
    assert bias_in_standard_errors(biased, X, n_seeds=400) > 6


def test_auto_deflates_where_the_exact_columns_fit():
    X = np.zeros((2, 19))
    assert ArcCosineFeatures(n_components=25).fit(X).method_ == "deflated"
    assert ArcCosineFeatures(n_components=24).fit(X).method_ == "antithetic"
    with pytest.raises(ValueError, match="n_components above 20"):
        ArcCosineFeatures(n_components=20, method="deflated").fit(X)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("method", ["plain", "antithetic", "deflated"])
def test_zero_rows_give_zero_features(order, method):
    X = np.zeros((3, 4))
    X[1] = 1.0
    Z = ArcCosineFeatures(order=order, method=method, n_components=16).fit_transform(X)
    assert not Z[0].any()
    assert Z[1].any()


def test_one_column_is_exact():
    X = np.array([[2.0], [-1.0], [0.5]])
    for order in (0, 1):
        Z = ArcCosineFeatures(order=order, n_components=6).fit_transform(X)
        assert pytest.approx(ArcCosine(order)(X), abs=1e-14) == Z @ Z.T


@pytest.mark.parametrize("method", ["plain", "antithetic", "deflated"])
def test_order_one_is_homogeneous_and_order_zero_blind_to_length(method):
    X = unit_rows(4)
    for scale in (1e-150, 1e-3, 1e150):
        one = ArcCosineFeatures(order=1, n_components=16, method=method, random_state=0).fit(X)
        assert one.transform(scale * X) == pytest.approx(scale * one.transform(X), rel=1e-12)
        zero = ArcCosineFeatures(order=0, n_components=16, method=method, random_state=0).fit(X)
        assert zero.transform(scale * X) == pytest.approx(zero.transform(X), abs=1e-12)


@pytest.mark.parametrize("method", ["plain", "deflated"])
def test_more_components_begin_with_the_same_directions(method):
    X = np.zeros((1, 5))
    few = ArcCosineFeatures(n_components=20, method=method, random_state=1).fit(X)
    many = ArcCosineFeatures(n_components=90, method=method, random_state=1).fit(X)
    size = few.projection_.size
    assert few.projection_.matrix == pytest.approx(many.projection_.matrix[:, :size], abs=1e-13)


def test_rows_at_the_end_of_float32():
    X = np.full((2, 3), 3e38, dtype=np.float32)
    with pytest.raises(ValueError, match="norms of the rows overflow"):
        ArcCosineFeatures(order=1, n_components=8, random_state=0).fit(X).transform(X)
    blind = ArcCosineFeatures(order=0, n_components=8, random_state=0).fit(X)
    assert blind.transform(X) == pytest.approx(blind.transform(X / 1e30), abs=1e-6)
