"""Tests of Fourier features of few bits."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    ArcCosine,
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelRidge,
    PackedFeatures,
    QuantizedFourier,
    RandomFourier,
)
from mercer._array import to_numpy
from mercer.testing import array_libraries, bias_in_standard_errors, peak_bytes


def rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("d", [3, 8])
def test_kernel_estimate_is_unbiased_and_the_diagonal_is_as_said(bits, d):
    features = QuantizedFourier(Gaussian(1.5), n_components=32, bits=bits)
    assert bias_in_standard_errors(features, rows(10, d), n_seeds=400) <= 4.5


def test_the_diagonal_is_that_of_the_literature():
    excess = [QuantizedFourier(bits=bits).fit(rows(2)).diagonal_excess_ for bits in (1, 2, 4, 8)]
    assert excess == pytest.approx([1.0, 0.126, 0.006, 0.0], abs=6e-4)


def test_equal_rows_have_equal_features_and_others_independent_noise():
    X = rows(200)
    fitted = QuantizedFourier(bits=1, n_components=4096, random_state=0).fit(X)
    Z = fitted.transform(X)
    assert np.array_equal(fitted.transform(np.repeat(X, 2, axis=0)), np.repeat(Z, 2, axis=0))
    assert np.array_equal(fitted.transform(X[::-1]), Z[::-1])
    # Rows at almost no distance have a kernel of 1, but not the diagonal, which is 2.
    near = fitted.transform(X * (1 + 1e-5))
    products = np.sum(Z * near, axis=1)
    assert products.mean() == pytest.approx(1.0, abs=0.01)
    assert np.sum(Z * Z, axis=1) == pytest.approx(np.full(200, 2.0))


def test_more_bits_come_nearer_to_the_cosines():
    X, distances = rows(50), []
    for bits in range(1, 9):
        fitted = QuantizedFourier(bits=bits, n_components=128, random_state=0).fit(X)
        phases = X @ fitted.projection_.matrix + fitted.columns_.shifts
        cosines = np.sqrt(2 / 128) * np.cos(phases)
        Z = fitted.transform(X)
        assert abs(Z - cosines).max() <= fitted.traits_.step
        assert len(np.unique(Z)) <= 2**bits
        distances.append(np.mean((Z - cosines) ** 2) * 128)
    excess = [QuantizedFourier(bits=bits).fit(X).diagonal_excess_ for bits in range(1, 9)]
    assert distances == pytest.approx(excess, rel=0.06)


def test_frequencies_are_those_of_random_fourier_features():
    X = rows(5, 8)
    few = QuantizedFourier(n_components=20, random_state=3).fit(X)
    floats = RandomFourier(n_components=40, random_state=3).fit(X)
    assert np.array_equal(few.projection_.matrix, floats.frequencies_)
    assert few.projection_name_ == "orthogonal"
    with pytest.raises(ValueError, match="no spectral measure"):
        QuantizedFourier(ArcCosine()).fit(X)


@pytest.mark.parametrize("bits", [1, 3, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_packed_features_have_the_values_of_floats(bits, dtype):
    X = rows(90).astype(dtype)
    X[X < 0] = 0
    fitted = QuantizedFourier(n_components=70, bits=bits, random_state=0).fit(X)
    Z = fitted.transform(X)
    assert Z.dtype == dtype
    fitted.set_params(output="packed")
    packed = fitted.transform(X)
    assert isinstance(packed, PackedFeatures)
    assert np.array_equal(packed.unpack(dtype), Z)
    for block_rows in (1, 7, 1000):
        with mercer.config(block_rows=block_rows, n_jobs=2):
            assert fitted.transform(X) == packed
    assert fitted.transform(scipy.sparse.csr_array(X)) == packed
    for make in array_libraries().values():
        found = fitted.transform(make(X))
        assert np.mean(found.unpack() != packed.unpack()) < 1e-3


def test_rows_in_single_precision_have_the_same_codes_but_for_rare_ones():
    X = rows(300, 10).astype("float32").astype("float64")
    fitted = QuantizedFourier(n_components=500, bits=8, random_state=0).fit(X)
    single, double = fitted.transform(X.astype("float32")), fitted.transform(X)
    moved = abs(single - double) > 1e-6
    assert moved.mean() < 1e-3
    assert abs(single - double).max() < 1.001 * fitted.traits_.step


def test_packed_features_take_their_bits_and_no_floats_beside():
    X = rows(20_000, 4).astype("float32")
    for bits, wanted in ((8, 512), (1, 64)):
        features = QuantizedFourier(n_components=512, bits=bits, output="packed", random_state=0)
        features.fit(X).transform(X[:10])
        with mercer.config(memory="8MB"):
            packed, peak = peak_bytes(lambda fitted=features: fitted.transform(X))
        assert packed.nbytes == wanted * 20_000
        assert peak <= packed.nbytes + 8_000_000


@pytest.mark.parametrize("machine", [FeatureRidge, FeatureRidgeClassifier])
def test_packed_and_float_features_make_one_model(machine):
    X = rows(400)
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    if machine is FeatureRidgeClassifier:
        y = (y > 0).astype(int)
    features = QuantizedFourier(n_components=200, bits=2, random_state=0)
    first = machine(features, alpha=0.1).fit(X, y)
    second = machine(clone(features).set_params(output="packed"), alpha=0.1).fit(X, y)
    answer = "predict_proba" if machine is FeatureRidgeClassifier else "predict"
    found, wanted = getattr(second, answer)(X), getattr(first, answer)(X)
    assert found == pytest.approx(wanted, abs=2e-4)
    assert first.score(X, y) > 0.7


def test_the_ridge_correction_brings_predictions_nearer_to_the_kernel_machine():
    X, new = rows(150, 4), rows(300, 4, seed=1)
    y = np.sin(X[:, 0]) + X[:, 1]
    exact = KernelRidge(Gaussian(2.0), alpha=2.0).fit(X, y).predict(new)
    features = QuantizedFourier(Gaussian(2.0), n_components=20_000, bits=1, random_state=0).fit(X)

    def error(alpha):
        found = FeatureRidge(features, alpha=alpha).fit(X, y).predict(new)
        return np.sqrt(np.mean((found - exact) ** 2))

    assert error(features.ridge_parameter(2.0)) < 0.8 * error(2.0)
    assert features.ridge_parameter(0.1) == 0.1


@pytest.mark.parametrize("compact", [True, False])
def test_models_are_saved(compact, tmp_path):
    X = rows(40)
    fitted = QuantizedFourier(Gaussian("median"), n_components=100, bits=3, random_state=0).fit(X)
    mercer.save(fitted, tmp_path / "map.mercer", compact=compact)
    loaded = mercer.load(tmp_path / "map.mercer")
    assert np.array_equal(loaded.transform(X), fitted.transform(X))
    assert loaded.diagonal_excess_ == fitted.diagonal_excess_


def test_in_a_pipeline_with_data_frames():
    X = rows(60)
    features = QuantizedFourier(n_components=50, random_state=0)
    pipeline = make_pipeline(StandardScaler(), features, FeatureRidge(alpha=1.0))
    assert np.isfinite(pipeline.fit(X, X[:, 0]).predict(X)).all()
    pytest.importorskip("pandas")
    frame = features.set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns[:2]) == ["quantizedfourier0", "quantizedfourier1"]


def test_phases_that_overflow_are_refused():
    X = rows(5).astype("float32")
    fitted = QuantizedFourier(Gaussian(1e-10), n_components=8, output="packed").fit(X)
    for make in array_libraries().values():
        with pytest.raises(ValueError, match="overflows"):
            fitted.transform(make(X * np.float32(1e37)))
    assert to_numpy(fitted.transform(X).unpack()).shape == (5, 8)
