"""Tests of exact kernels as features: they make the machines that they should."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, Kernel, RandomFourier
from mercer.features import KernelColumns


@parametrize_with_checks([KernelColumns()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(n=50):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, 3))
    return (
        X,
        np.sin(X[:, 0]) + 0.1 * generator.standard_normal(n),
        generator.standard_normal((7, 3)),
    )


def test_predictions_are_those_of_kernel_ridge():
    X, y, new = data()
    model = FeatureRidge(KernelColumns(Gaussian(1.3)), alpha=0.3, fit_intercept=False).fit(X, y)
    expected = KernelRidge(alpha=0.3, kernel=Gaussian(1.3)).fit(X, y)
    assert model.predict(new) == pytest.approx(expected.predict(new), rel=1e-9)


def test_spread_is_that_of_a_gaussian_process():
    X, y, new = data()
    model = FeatureRidge(KernelColumns(Gaussian(1.3)), alpha=0.3, fit_intercept=False).fit(X, y)
    noise = model.noise_variance_[0]
    kernel = ConstantKernel(noise / 0.3) * RBF(1.3) + WhiteKernel(noise)
    expected = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    found = model.predict(new, return_std=True)[1]
    assert found == pytest.approx(expected.predict(new, return_std=True)[1], rel=1e-6)


class FromFeatures(Kernel):
    """The kernel of a feature map, so that an exact machine can be compared with features."""

    def _tile(self, X, Y, xp, out=None):
        return MAP.transform(X) @ MAP.transform(Y).T

    def _diag(self, X, xp):
        return (MAP.transform(X) ** 2).sum(axis=1)


MAP = RandomFourier(Gaussian(1.3), n_components=40, random_state=0).fit(np.zeros((1, 3)))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0])
def test_weights_and_intercept_are_those_of_features(alpha, intercept):
    X, y, new = data()
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    kernel = FeatureRidge(KernelColumns(FromFeatures()), alpha=alpha, fit_intercept=intercept)
    features = FeatureRidge(MAP, alpha=alpha, fit_intercept=intercept)
    for model in (kernel, features):
        model.fit(X, y, weights)
    for ours, theirs in zip(
        kernel.predict(new, return_std=True), features.predict(new, return_std=True), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-7)


def test_leave_one_out_chooses_as_with_features():
    X, y, _ = data()
    alphas = np.logspace(-4, 1, 11)
    kernel = FeatureRidge(KernelColumns(FromFeatures()), alpha=alphas, selection="loo").fit(X, y)
    features = FeatureRidge(MAP, alpha=alphas, selection="loo").fit(X, y)
    assert kernel.solution_.scores == pytest.approx(features.solution_.scores, rel=1e-6)


def test_classes_and_probabilities():
    X, y, new = data(80)
    model = FeatureRidgeClassifier(KernelColumns(Gaussian(1.0))).fit(X, np.where(y > 0, "a", "b"))
    assert set(model.predict(new)) <= {"a", "b"}
    assert model.predict_proba(new).sum(axis=1) == pytest.approx(1.0)


def test_blocks_are_refused():
    X, y, _ = data()
    model = FeatureRidge(KernelColumns(Gaussian(1.0)))
    with pytest.raises(ValueError, match="all rows at once"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="all rows at once"):
        model.fit(iter([(X, y)]))
