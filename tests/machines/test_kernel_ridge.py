"""Exact kernel machines: ridge regression, error bars, leave-one-out, weights."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge as PlainKernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    FeatureRidge,
    Gaussian,
    Kernel,
    KernelRidge,
    KernelRidgeClassifier,
    Laplace,
    RandomFourier,
)

REASON = "a row of weight two is left out whole, two equal rows are left out one by one"
LEFT_OUT = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


@parametrize_with_checks(
    [KernelRidge(Gaussian(1.0)), KernelRidgeClassifier(Gaussian(1.0))],
    expected_failed_checks=lambda _: LEFT_OUT,
)
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
    model = KernelRidge(Gaussian(1.3), alpha=0.3, fit_intercept=False).fit(X, y)
    expected = PlainKernelRidge(alpha=0.3, kernel=Gaussian(1.3)).fit(X, y)
    assert model.predict(new) == pytest.approx(expected.predict(new), rel=1e-9)


def test_standard_deviation_is_that_of_a_gaussian_process():
    X, y, new = data()
    model = KernelRidge(Gaussian(1.3), alpha=0.3, fit_intercept=False).fit(X, y)
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
    kernel = KernelRidge(FromFeatures(), alpha=alpha, fit_intercept=intercept)
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
    kernel = KernelRidge(FromFeatures(), alpha=alphas, selection="loo").fit(X, y)
    features = FeatureRidge(MAP, alpha=alphas, selection="loo").fit(X, y)
    assert kernel.solution_.scores == pytest.approx(features.solution_.scores, rel=1e-6)


def test_classes_and_probabilities():
    X, y, new = data(80)
    model = KernelRidgeClassifier(Gaussian(1.0)).fit(X, np.where(y > 0, "a", "b"))
    assert set(model.predict(new)) <= {"a", "b"}
    assert model.predict_proba(new).sum(axis=1) == pytest.approx(1.0)


def test_blocks_of_a_stream_are_put_together():
    X, y, new = data()
    whole = KernelRidge(Gaussian(1.0)).fit(X, y, np.where(np.arange(50) < 20, 1.0, 2.0))
    blocks = [(X[:20], y[:20]), (X[20:], y[20:], np.full(30, 2.0))]
    assert KernelRidge(Gaussian(1.0)).fit(iter(blocks)).predict(new) == pytest.approx(
        whole.predict(new), abs=1e-9
    )


def test_rows_of_weight_zero_are_no_rows():
    X, y, new = data()
    weights = (np.arange(50) < 40).astype(float)
    far = np.where(weights[:, None] > 0, X, 1e10)
    model = KernelRidge(Gaussian(1.0)).fit(far, y, weights)
    part = KernelRidge(Gaussian(1.0)).fit(X[:40], y[:40])
    assert model.predict(new) == pytest.approx(part.predict(new), abs=1e-12)
    assert model.rows_.shape == (40, 3)


@pytest.mark.parametrize("selection", ["loo", "gcv"])
def test_noise_is_not_explained_by_a_kernel_as_wide_as_a_plane(selection):
    """The centred kernel matrix is almost zero: one minus the leverage loses all digits."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((200, 5)), rng.standard_normal(200)
        model = KernelRidge(Laplace(1000.0), selection=selection).fit(X, y)
        assert np.isfinite(model.solution_.scores).all()
        assert model.expectation().score < 0.2


def test_leave_one_out_equals_refits_near_interpolation():
    X, y, _ = data(30)
    # By eigenvectors for nine candidates.
    alphas = np.logspace(-9, -1, 9)
    model = KernelRidge(Laplace(50.0), alpha=alphas).fit(X, y)
    for alpha, score in zip(alphas, model.solution_.scores[:, 0], strict=True):
        errors = []
        for i in range(30):
            rest = np.arange(30) != i
            part = KernelRidge(Laplace(50.0), alpha=alpha).fit(X[rest], y[rest])
            errors.append(float(part.predict(X[i : i + 1])[0] - y[i]))
        assert score == pytest.approx(np.mean(np.square(errors)), rel=1e-6)


def test_candidates_by_eigenvectors_and_by_cholesky_agree():
    X, y, new = data()
    alphas = np.logspace(-5, 1, 9)
    few = KernelRidge(Gaussian(1.0), alpha=alphas[2:]).fit(X, y)
    many = KernelRidge(Gaussian(1.0), alpha=alphas).fit(X, y)
    assert many.solution_.scores[2:] == pytest.approx(few.solution_.scores, rel=1e-8)
    assert many.predict(new) == pytest.approx(few.predict(new), rel=1e-8)
    for name in ("noise", "residual", "degrees_of_freedom", "expected"):
        one, other = (getattr(model.solution_, name) for model in (few, many))
        assert one == pytest.approx(other, rel=1e-7), name


def test_accuracy_of_noise_is_a_guess():
    scores, losses = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((800, 5)), rng.integers(0, 2, 800)
        model = KernelRidgeClassifier(Gaussian(1.0)).fit(X[:400], y[:400])
        scores.append(model.expectation().score)
        p = model.predict_proba(X[400:])[np.arange(400), y[400:]]
        losses.append(-np.log(p).mean())
    assert max(scores) < 0.6
    assert max(losses) < 0.72


def test_intervals_cover_new_observations_near_interpolation():
    covered = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3, 3, (1600, 3))
        y = np.sin(X[:, 0]) * X[:, 1] + 0.3 * rng.standard_normal(1600)
        # A kernel so narrow that almost every row has its own degree of freedom.
        model = KernelRidge(Gaussian(0.15)).fit(X[:600], y[:600])
        mean, std = model.predict(X[600:], return_std=True)
        covered.append(np.mean(abs(mean - y[600:]) < 1.96 * std))
    assert min(covered) > 0.9


def test_compact_files_keep_predictions_and_error_bars(tmp_path):
    X, y, new = data()
    model = KernelRidge(Gaussian(1.0)).fit(X, y)
    for compact in (False, True):
        mercer.save(model, tmp_path / "model.mercer", compact=compact)
        loaded = mercer.load(tmp_path / "model.mercer")
        for ours, theirs in zip(
            loaded.predict(new, return_std=True), model.predict(new, return_std=True), strict=True
        ):
            assert np.array_equal(ours, theirs)
    with pytest.raises(ValueError, match="compact=False"):
        loaded.expectation()


def test_candidates_may_be_given_twice_and_in_any_order():
    X, y, _ = data()
    expected = KernelRidge(Gaussian(1.0), alpha=[0.01, 1.0]).fit(X, y)
    model = KernelRidge(Gaussian(1.0), alpha=[1.0, 1.0, 0.01]).fit(X, y)
    assert model.alpha_ == expected.alpha_
    assert model.solution_.alphas.tolist() == [0.01, 1.0]
