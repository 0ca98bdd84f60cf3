"""Tests of features of rounded waves: their kernel, the forms they come in, and their bits."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import mercer
from mercer import (
    ArcCosine,
    FeatureRidge,
    Gaussian,
    Laplace,
    Matern,
    PackedFeatures,
    ProductLaplace,
    WaveFeatures,
)
from mercer._array import to_numpy
from mercer.sketches import DenseProjection, TernaryProjection
from mercer.testing import array_libraries, peak_bytes

LEVELS = (2, 3, 4)


def rows(n, d=64, seed=0):
    """Return rows of norm about one."""
    return np.random.default_rng(seed).standard_normal((n, d)) / d**0.5


def deviation(kernel, levels, X, n_seeds=75, **parameters):
    """Return how far the mean estimate is off ``kernel_``, and its standard errors."""
    estimates = []
    for seed in range(n_seeds):
        fitted = WaveFeatures(
            kernel, n_components=128, levels=levels, output="float", random_state=seed, **parameters
        ).fit(X)
        Z = fitted.transform(X)
        estimates.append(Z @ Z.T)
    off = abs(np.mean(estimates, axis=0) - fitted.kernel_(X))
    return fitted, off, np.std(estimates, axis=0, ddof=1) / n_seeds**0.5


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("kernel", [Gaussian(0.8), Laplace(1.5), Matern(nu=1.5)], ids=repr)
def test_kernel_estimate_is_that_of_the_exact_kernel(kernel, levels):
    X = rows(8, d=256)
    X[1] = X[0] + 0.1 * X[1]
    fitted, off, standard_error = deviation(kernel, levels, X, sparsity=0.0)
    assert isinstance(fitted.projection_, TernaryProjection)
    # Sums of 256 signs are normal but for terms of the order of 1 / 256.
    assert np.all(off <= 4.5 * standard_error + 0.004)


@pytest.mark.parametrize("levels", LEVELS)
def test_frequencies_of_few_columns_are_dense_and_the_kernel_exact(levels):
    X = 0.7 * np.random.default_rng(0).standard_normal((6, 3))
    fitted, off, standard_error = deviation(Gaussian(), levels, X)
    assert isinstance(fitted.projection_, DenseProjection)
    assert fitted.traits_.unbiased
    # Signs of equal rows have no variance.
    assert np.all(off <= 4.5 * standard_error + 1e-12)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("d", [5, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_integers_bits_and_floats_are_the_same_features(levels, d, dtype):
    X = rows(90, d).astype(dtype)
    fitted = WaveFeatures(levels=levels, n_components=151, random_state=0).fit(X)
    Z = fitted.transform(X)
    assert Z.dtype == np.int8
    assert len(np.unique(Z)) == levels
    packed = fitted.set_params(output="packed").transform(X)
    assert isinstance(packed, PackedFeatures)
    assert packed.code.n_planes == (1 if levels == 2 else 2)
    assert np.array_equal(packed.unpack(), Z)
    floats = fitted.set_params(output="float").transform(X)
    assert floats.dtype == dtype
    factor = np.asarray(fitted.cosine_.scale / 151**0.5, dtype=dtype)
    assert np.array_equal(floats, Z * factor)
    waves = fitted.waves_
    phases = 2 * np.pi * ((X @ fitted.projection_.matrix) * waves.scales + waves.shifts)
    both = np.concatenate([phases, phases - np.pi / 2], axis=1)[:, waves.order]
    assert np.mean(fitted.cosine_.of(both) != Z) < 1e-3


@pytest.mark.parametrize("output", ["int8", "packed", "float"])
def test_features_do_not_depend_on_blocks_or_on_the_form_of_rows(output):
    X = np.round(8 * rows(70))
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0
    fitted = WaveFeatures(Gaussian(4.0), n_components=200, random_state=0, output=output).fit(X)
    expected = np.asarray(fitted.transform(X))
    for block_rows in (1, 9, 1000):
        with mercer.config(block_rows=block_rows, n_jobs=2):
            assert np.array_equal(fitted.transform(X), expected)
    for dtype in ("float64", "float32"):
        sparse = scipy.sparse.csr_array(X.astype(dtype))
        found = np.asarray(fitted.transform(sparse))
        assert np.mean(abs(found - expected) > 1e-6) < 1e-3


def test_predictions_are_nearly_those_of_fourier_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 60)).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 3
    target = Gaussian(8.0)
    K = target(X[:1000].astype(float))
    exact = target(X[1000:].astype(float), X[:1000].astype(float))
    wanted = exact @ np.linalg.solve(K + 0.3 * np.eye(1000), y[:1000])

    def error(corrected):
        # The features' own kernel: what a correction is about, without the noise of a draw.
        features = WaveFeatures(target, levels=2, output="float").fit(X)
        own, across = features.kernel_(X[:1000]), features.kernel_(X[1000:], X[:1000])
        ridge = features.ridge_parameter(0.3) if corrected else 0.3
        found = across @ np.linalg.solve(own + ridge * np.eye(1000), y[:1000])
        return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)

    assert error(True) < 0.01
    assert error(False) > 0.05


def test_ridge_parameters_are_brought_to_the_scale_of_the_output():
    features = WaveFeatures(n_components=300, random_state=0).fit(rows(20))
    alpha = 0.5 - features.cosine_.excess
    factor = features.cosine_.scale / 300**0.5
    assert features.ridge_parameter(0.5) == pytest.approx(alpha / factor**2)
    assert features.set_params(output="float").ridge_parameter(0.5) == pytest.approx(alpha)
    assert features.ridge_parameter(0.01) == 0.01


def test_machines_learn_from_bits():
    X = rows(400).astype(np.float32)
    y = 3 * X[:, 0] + X[:, 1]
    features = WaveFeatures(Gaussian(2.0), n_components=512, output="packed", random_state=0)
    model = FeatureRidge(features, alpha=50.0).fit(X, y)
    Z = features.fit_transform(X).unpack(np.float64)
    Z = Z - Z.mean(axis=0)
    coef = np.linalg.solve(Z.T @ Z + 50.0 * np.eye(512), Z.T @ (y - y.mean()))
    assert model.predict(X) == pytest.approx(Z @ coef + y.mean(), abs=1e-5)


def test_what_does_not_suit_is_refused_or_warned_of():
    for kernel in (ArcCosine(), ProductLaplace()):
        with pytest.raises(ValueError, match="not a kernel of the Euclidean distance"):
            WaveFeatures(kernel).fit(rows(20))
    with pytest.warns(UserWarning, match="give a smaller sparsity"):
        WaveFeatures(n_components=10, sparsity=0.9).fit(rows(20))
    with pytest.warns(UserWarning, match="use sparsity='auto'"):
        WaveFeatures(n_components=10, sparsity=0.0).fit(rows(20, d=5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WaveFeatures(n_components=10).fit(rows(20, d=5))
        WaveFeatures(n_components=10).fit(rows(20))
    with pytest.raises(ValueError, match="overflows"):
        WaveFeatures(Gaussian(1e-30), n_components=10).fit(rows(20)).transform(
            1e20 * rows(20).astype(np.float32)
        )


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("d", [5, 64])
def test_models_are_saved(d, compact, tmp_path):
    X = rows(60, d)
    fitted = WaveFeatures(Gaussian("median"), n_components=5000, random_state=0).fit(X)
    mercer.save(fitted, tmp_path / "map.mercer", compact=compact)
    assert (tmp_path / "map.mercer").stat().st_size < (20_000 if compact else 2_000_000)
    loaded = mercer.load(tmp_path / "map.mercer")
    assert np.array_equal(loaded.transform(X), fitted.transform(X))
    assert loaded.ridge_parameter(1.0) == fitted.ridge_parameter(1.0)
    assert loaded.target_kernel_.lengthscale == fitted.target_kernel_.lengthscale


def test_arrays_of_any_library_stay_in_it():
    X = rows(30)
    for output in ("int8", "packed", "float"):
        fitted = WaveFeatures(n_components=70, output=output, random_state=0).fit(X)
        expected = np.asarray(fitted.transform(X))
        for make in array_libraries().values():
            found = fitted.transform(make(X))
            if output == "packed":
                assert isinstance(found, PackedFeatures)
                found = found.unpack()
            else:
                assert type(found) is type(make(X))
            assert np.mean(abs(to_numpy(found) - expected) > 1e-12) < 1e-3


@pytest.mark.parametrize("sparse", [False, True])
def test_no_floats_of_all_features_are_ever_in_memory(sparse):
    n, d, size = 20_000, 64, 2048
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    if sparse:
        X = scipy.sparse.random_array(
            (n, d), density=0.02, random_state=0, format="csr", dtype=np.float32
        )
    fitted = WaveFeatures(n_components=size, output="packed", random_state=0).fit(X[:100])
    fitted.transform(X[:10])
    packed, peak = peak_bytes(lambda: fitted.transform(X))
    assert packed.nbytes * 16 == n * size * 4
    assert peak < 1.3 * packed.nbytes


def test_levels_are_searched_in_a_pipeline():
    X = rows(200)
    y = 3 * X[:, 0] + X[:, 1]
    pipeline = Pipeline(
        [("features", WaveFeatures(n_components=400, random_state=0)),
         ("machine", FeatureRidge(alpha=100.0))]
    )  # fmt: skip
    search = GridSearchCV(pipeline, {"features__levels": [2, 4]}, cv=2).fit(X, y)
    assert search.best_estimator_["features"].cosine_.levels in (2, 4)
    assert search.best_score_ > 0.3


@pytest.mark.parametrize("levels", LEVELS)
def test_variance_of_far_rows_is_that_of_the_theory(levels):
    # Phases of rows so far apart are independent.
    X = rows(150, d=100)
    fitted = WaveFeatures(Gaussian(0.05), n_components=4096, levels=levels, output="float")
    Z = fitted.set_params(random_state=0).fit(X).transform(X)
    products = (Z @ Z.T)[np.triu_indices(150, 1)]
    expected = (1 + fitted.cosine_.excess) ** 2 / 4096
    # 11,175 products, pairwise uncorrelated: 1.3 % is a standard error.
    assert np.mean(products**2) == pytest.approx(expected, rel=0.05)
