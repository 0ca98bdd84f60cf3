"""The contract, and scikit-learn's own checks, for every kernel and feature map."""

import re

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    CNTK,
    NNGP,
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    CNTKSketch,
    DotProduct,
    DotProductSketch,
    Exponential,
    FeatureMap,
    Gaussian,
    GegenbauerFeatures,
    GeneralizedZonal,
    GradientFeatures,
    Kernel,
    Laplace,
    Matern,
    NNGPFeatures,
    NTKFeatures,
    OnColumns,
    Polynomial,
    PolynomialSketch,
    PoweredExponential,
    PowerSeries,
    ProductFeatures,
    ProductLaplace,
    QuantizedFourier,
    RandomFourier,
    TensorNTKFeatures,
    Ternary,
    TernaryFeatures,
    WaveFeatures,
    WaveKernel,
    Zonal,
)
from mercer._array import is_numpy, namespace
from mercer.testing import FEATURE_MAP_CHECKS, KERNEL_CHECKS, check_feature_map, check_kernel
from mercer.testing.feature_maps import EXPECTED_TO_FAIL


def poisson(t):
    """Return the Poisson kernel of the sphere, a function of the cosine."""
    return 0.75 * (1.25 - t) ** -1.5


def cubed(t):
    """Return a function whose Taylor series ends."""
    return 0.5 + t + t * t * t


def powers(l, norms):
    """Return radial functions of two values that any array library can compute."""
    scaled = 0.5 ** (l / 2) * norms ** (l % 3 + 1)
    return namespace(norms).stack([scaled, 0.5 * scaled * norms], axis=1)


KERNELS = [
    Gaussian(),
    Gaussian(lengthscale="median"),
    Gaussian(lengthscale="scale"),
    Laplace(lengthscale=0.7),
    ProductLaplace(lengthscale=2.0),
    PoweredExponential(lengthscale="median", power=0.5),
    PoweredExponential(lengthscale=1.5, power=1.7),
    PoweredExponential(lengthscale="median", power=0.6, norm="manhattan"),
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
    CNTK(depth=1, pooling=None, image_shape=(5, 1)),
    PowerSeries((0.5, 1.0, 0.25)),
    PowerSeries((0.3, 1.0, 0.5), normalized=True),
    Zonal(poisson),
    Zonal(poisson, homogeneous=True),
    Ternary(lower=0.5, upper=1.4, scale=2.0),
    Ternary(lower=0.0, upper=0.0),
    Ternary(lower=-0.8, upper=1.1, even=True),
    WaveKernel(Gaussian()),
    WaveKernel(Laplace("median"), levels=2),
    DotProduct((0.5, 0.0, 0.25)),
    DotProduct(cubed),
    GeneralizedZonal(powers, degree=3, order=2),
    OnColumns(Gaussian("median"), [0]) * Laplace(),
    Gaussian() + 0.5 * NTK(depth=2),
    Laplace() * Polynomial(degree=2),
]

PRODUCT = ProductFeatures(
    [GegenbauerFeatures(Gaussian(), n_components=20), RandomFourier(n_components=6)],
    [[0, 1, 2], [3]],
)

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
    (QuantizedFourier(n_components=24, bits=1), 3),
    (QuantizedFourier(Laplace("median"), n_components=25, bits=2, stratified=False), 3),
    (QuantizedFourier(Matern(nu=1.5), n_components=24, bits=4, projection="fastfood"), 6),
    (QuantizedFourier(ProductLaplace(1.2), n_components=24, bits=8), 4),
    (TernaryFeatures(n_components=24, output="float"), 40),
    (TernaryFeatures("relu", n_components=24, bits=1, output="float", sparsity=0.0), 32),
    (
        TernaryFeatures("relu", n_components=25, spread=2.0, center=False, output="float"),
        60,
    ),
    (WaveFeatures(Gaussian("median"), n_components=24, output="float"), 40),
    (WaveFeatures(n_components=25, levels=3, sparsity=0.0, output="float"), 32),
    (WaveFeatures(Matern(nu=1.5), n_components=24, levels=2, output="float"), 4),
    (ArcCosineFeatures(order=1, n_components=24), 3),
    (ArcCosineFeatures(order=0, n_components=24), 3),
    (ArcCosineFeatures(order=1, n_components=24, sampling="gaussian"), 5),
    (ArcCosineFeatures(order=0, n_components=24, sampling="gaussian"), 5),
    (ArcCosineFeatures(order=1, n_components=9, method="antithetic"), 4),
    (ArcCosineFeatures(order=0, n_components=9, method="antithetic"), 4),
    (ArcCosineFeatures(order=1, n_components=24, method="plain", sampling="leverage"), 3),
    (ArcCosineFeatures(order=0, n_components=24, method="plain", sampling="gaussian"), 3),
    (ArcCosineFeatures(order=1, n_components=150, sampling="hd3"), 64),
    (PolynomialSketch(degree=3, n_components=25), 4),
    (PolynomialSketch(degree=2, gamma=0.5, coef0=0.0, n_components=24), 5),
    (PolynomialSketch(degree=5, gamma=0.3, n_components=24), 3),
    (PolynomialSketch(degree=2, n_components=24, method="product"), 3),
    (DotProductSketch(PowerSeries((0.5, 1.0, 0.0, 0.5)), n_components=24), 4),
    (DotProductSketch(Polynomial(degree=2), n_components=8), 6),
    (DotProductSketch(PowerSeries.near(NNGP(depth=2)), n_components=30), 4),
    (NTKFeatures(depth=1, n_components=40), 5),
    (NTKFeatures(depth=3, n_components=64), 4),
    (NTKFeatures(depth=1, n_components=40, method="random", n_step=20), 4),
    (NTKFeatures(depth=1, n_components=40, method="random", variant="paper", n_step=20), 4),
    (NTKFeatures(depth=2, n_components=40, method="random", n_step=20, share=True), 4),
    (NTKFeatures(depth=2, n_components=40, method="sketch", n_step=20), 4),
    (NNGPFeatures(depth=2, n_components=40), 4),
    (NNGPFeatures(depth=2, n_components=40, method="random"), 4),
    (NTKFeatures(depth=2, n_components=40), 3),
    (NTKFeatures(depth=2, n_components=40, method="one-shot"), 5),
    (GegenbauerFeatures(n_components=40), 5),
    (GegenbauerFeatures(n_components=40), 3),
    (GegenbauerFeatures(Gaussian("median"), n_components=60, fold=False, degree=4), 4),
    (GegenbauerFeatures(NTK(2), n_components=24, signs="plus", exact=0, directions="iid"), 4),
    (GegenbauerFeatures(ArcCosine(0), n_components=30), 4),
    (GegenbauerFeatures(Exponential(3.0), n_components=200, exact=1), 3),
    (GegenbauerFeatures(Polynomial(degree=2), n_components=30), 4),
    (GegenbauerFeatures(Zonal(poisson), n_components=60, degree=8), 4),
    (GegenbauerFeatures(GeneralizedZonal(powers, degree=3, order=2), n_components=40), 4),
    (PRODUCT, 4),
    (clone(PRODUCT).set_params(n_components=30), 4),
    (TensorNTKFeatures(depth=1, n_relu=10, n_step=6), 4),
    (TensorNTKFeatures(depth=2, n_relu=8, n_step=4), 4),
    (GradientFeatures(depth=1, width=6), 4),
    (GradientFeatures(depth=2, width=4), 4),
    (CNTKSketch(1, n_components=24, image_shape=(2, 2, 1)), 4),
    (CNTKSketch(2, n_components=33, image_shape=(4, 2), pooling=None), 8),
    (CNTKSketch(2, n_components=40, method="sketch", degree=4, image_shape=(2, 3, 1)), 6),
    (CNTKSketch(3, n_components=24, train_readout=False, image_shape=(2, 2, 1)), 4),
]


def named(value):
    """Return a name of a test that is the same in every process."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


@pytest.mark.arrays
@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_kernel_keeps_the_contract(kernel, check):
    check(kernel, 5)


@pytest.mark.arrays
@pytest.mark.filterwarnings(
    "ignore:Degrees up to",
    # Ternary features of the few, or odd, rows that some checks try.
    "ignore:A projection of",
    "ignore:The squared norms of the rows",
)
@pytest.mark.parametrize("check", FEATURE_MAP_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("feature_map", "n_features"), FEATURE_MAPS, ids=named)
def test_feature_map_keeps_the_contract(feature_map, n_features, check):
    check(feature_map, n_features)


@pytest.mark.arrays
@pytest.mark.filterwarnings("ignore:Degrees up to")
@parametrize_with_checks(
    [
        RandomFourier(n_components=16),
        RandomFourier(Matern(lengthscale="scale"), n_components=16),
        QuantizedFourier(n_components=16, bits=2),
        QuantizedFourier(n_components=16, bits=8),
        ArcCosineFeatures(n_components=16),
        ArcCosineFeatures(order=0, method="antithetic", n_components=16),
        PolynomialSketch(n_components=16),
        DotProductSketch(n_components=16),
        NTKFeatures(n_components=16),
        NTKFeatures(depth=2, n_components=16, method="random"),
        NNGPFeatures(n_components=16),
        GegenbauerFeatures(Gaussian("scale"), n_components=16),
        GegenbauerFeatures(NTK(), n_components=16),
        TensorNTKFeatures(n_relu=4, n_step=3),
        GradientFeatures(width=4),
    ],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Linear(Kernel):
    """The linear kernel, as a stranger would write it."""

    def _tile(self, X, Y, xp, out=None):
        return X @ Y.T

    def _diag(self, X, xp):
        return (X * X).sum(axis=1) if is_numpy(X) else xp.sum(X * X, axis=1)


class Identity(FeatureMap):
    """The rows as they are: a map that draws nothing."""

    def _kernel(self):
        return Linear()

    def _draw(self, stream, n_features_in):
        return {}

    def _map(self, X, xp, out=None):
        return X


def test_a_stranger_s_kernel_and_map_keep_the_contract():
    check_kernel(Linear())
    check_feature_map(Identity())


def test_the_contract_catches_a_biased_map():
    class Wrong(RandomFourier):
        def _map(self, X, xp, out=None):
            return super()._map(1.1 * X, xp, None)

    with pytest.raises(AssertionError, match="standard errors"):
        check_feature_map(Wrong(n_components=24))
