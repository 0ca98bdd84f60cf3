"""The contract, and scikit-learn's own checks, for every kernel and feature map."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    NNGP,
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    Exponential,
    Gaussian,
    Laplace,
    Matern,
    Polynomial,
    ProductLaplace,
    RandomFourier,
)
from mercer.testing import FEATURE_MAP_CHECKS, KERNEL_CHECKS

KERNELS = [
    Gaussian(),
    Gaussian(lengthscale="median"),
    Gaussian(lengthscale="scale"),
    Laplace(lengthscale=0.7),
    ProductLaplace(lengthscale=2.0),
    Matern(nu=0.5),
    Matern(nu=1.5, lengthscale=0.8),
    Matern(nu=2.5, lengthscale="median"),
    Exponential(lengthscale=1.5),
    Polynomial(degree=3, gamma=0.5),
    Polynomial(degree=1, coef0=0.0),
    ArcCosine(order=0),
    ArcCosine(order=1),
    NNGP(depth=3),
    NTK(depth=1),
    NTK(depth=3),
    Gaussian() + 0.5 * NTK(depth=2),
    Laplace() * Polynomial(degree=2),
]

#: Maps with the number of columns they are tried on.
FEATURE_MAPS = [
    (RandomFourier(n_components=24), 5),
    (RandomFourier(n_components=25), 3),
    (RandomFourier(Gaussian("median"), n_components=24, stratified=False), 3),
    (RandomFourier(Laplace(1.2), n_components=24), 3),
    (RandomFourier(Matern(nu=2.5), n_components=24, projection="gaussian"), 4),
    (RandomFourier(Matern(nu=1.5), n_components=24, projection="fastfood"), 6),
    (RandomFourier(ProductLaplace(1.2), n_components=24), 3),
    (RandomFourier(n_components=34, projection="ssf"), 8),
    (RandomFourier(n_components=34, projection="ssf"), 5),
    (RandomFourier(n_components=150, projection="hd3"), 64),
    (ArcCosineFeatures(order=1, n_components=24), 3),
    (ArcCosineFeatures(order=0, n_components=24), 3),
    (ArcCosineFeatures(order=1, n_components=24, sampling="gaussian"), 5),
    (ArcCosineFeatures(order=0, n_components=24, sampling="gaussian"), 5),
    (ArcCosineFeatures(order=1, n_components=9, method="antithetic"), 4),
    (ArcCosineFeatures(order=0, n_components=9, method="antithetic"), 4),
    (ArcCosineFeatures(order=1, n_components=24, method="plain", sampling="leverage"), 3),
    (ArcCosineFeatures(order=0, n_components=24, method="plain", sampling="gaussian"), 3),
    (ArcCosineFeatures(order=1, n_components=150, sampling="hd3"), 64),
]


@pytest.mark.arrays
@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_keeps_the_contract(kernel, check):
    check(kernel, 5)


@pytest.mark.arrays
@pytest.mark.parametrize("check", FEATURE_MAP_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("feature_map", "n_features"), FEATURE_MAPS, ids=repr)
def test_feature_map_keeps_the_contract(feature_map, n_features, check):
    check(feature_map, n_features)


@pytest.mark.arrays
@parametrize_with_checks(
    [
        RandomFourier(n_components=16),
        RandomFourier(Matern(lengthscale="scale"), n_components=16),
        ArcCosineFeatures(n_components=16),
        ArcCosineFeatures(order=0, method="antithetic", n_components=16),
    ],
    expected_failed_checks=lambda _: {
        "check_array_api_same_namespace": "a map follows the library of the rows it is given"
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
