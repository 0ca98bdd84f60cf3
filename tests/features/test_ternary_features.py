"""Tests of ternary features: their kernel, their moments, and the forms they come in."""

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
    PackedFeatures,
    TernaryFeatures,
)
from mercer._array import to_numpy
from mercer.kernels import kernel_moments
from mercer.ops.gaussian_moments import gaussian_moments
from mercer.ops.ternary_thresholds import TernaryActivation
from mercer.testing import array_libraries


def rows(n, d=64, seed=0, shift=0.3):
    """Return rows of norm about one around a mean that is not zero."""
    return (np.random.default_rng(seed).standard_normal((n, d)) + shift) / d**0.5


def relu(t):
    return np.maximum(t, 0)


def modulus(t):
    return abs(t)


FORMS = {
    "odd": ("relu", {}),
    "sign": ("relu", {"bits": 1}),
    "even": (modulus, {}),
    "sparse": ("gaussian", {"spread": 1.8}),
    "not centred": ("gaussian", {"center": False}),
}


@pytest.mark.parametrize("form", FORMS)
def test_kernel_estimate_is_that_of_the_exact_kernel(form):
    target, parameters = FORMS[form]
    X, n_seeds = rows(8, d=256), 100
    estimates = []
    for seed in range(n_seeds):
        fitted = TernaryFeatures(
            target, n_components=192, sparsity=0.0, output="float", random_state=seed, **parameters
        ).fit(X)
        Z = fitted.transform(X)
        estimates.append(Z @ Z.T)
    assert fitted.activation_.even == (form == "even")
    deviation = abs(np.mean(estimates, axis=0) - fitted.kernel_(X))
    standard_error = np.std(estimates, axis=0, ddof=1) / n_seeds**0.5
    # Sums of 256 signs are normal but for terms of the order of 1 / 256.
    assert np.all(deviation <= 4.5 * standard_error + 0.004 * fitted.kernel_(X).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_integers_bits_and_floats_are_the_same_features(form, dtype):
    target, parameters = FORMS[form]
    X = rows(90).astype(dtype)
    fitted = TernaryFeatures(target, n_components=150, random_state=0, **parameters).fit(X)
    Z = fitted.transform(X)
    assert Z.dtype == np.int8
    packed = fitted.set_params(output="packed").transform(X)
    assert isinstance(packed, PackedFeatures)
    assert packed.code.n_planes == (1 if form in ("sign", "even") else 2)
    assert np.array_equal(packed.unpack(), Z)
    floats = fitted.set_params(output="float").transform(X)
    assert floats.dtype == dtype
    factor = np.asarray(fitted.activation_.scale / 150**0.5, dtype=dtype)
    assert np.array_equal(floats, Z * factor)
    by_hand = fitted.activation_.trits(
        (X - (0 if fitted.center_ is None else fitted.center_))
        @ fitted.projection_.matrix
        / (1 - fitted.projection_.sparsity) ** 0.5
    )
    assert np.mean(by_hand != Z) < 1e-3


@pytest.mark.parametrize("output", ["int8", "packed", "float"])
def test_features_do_not_depend_on_blocks_or_on_the_form_of_rows(output):
    X = rows(70)
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0
    fitted = TernaryFeatures("relu", n_components=100, random_state=0, output=output).fit(X)
    expected = np.asarray(fitted.transform(X))
    assert abs(fitted.center_).max() > 0.01
    for block_rows in (1, 9, 1000):
        with mercer.config(block_rows=block_rows, n_jobs=2):
            assert np.array_equal(fitted.transform(X), expected)
    sparse = scipy.sparse.csr_array(X)
    assert np.array_equal(fitted.transform(sparse), expected)
    again = TernaryFeatures("relu", n_components=100, random_state=0, output=output).fit(sparse)
    assert again.tau_ == pytest.approx(fitted.tau_, rel=1e-12)
    assert np.mean(np.asarray(again.transform(X)) != expected) < (1e-3 if output != "float" else 2)
    single = np.asarray(fitted.transform(X.astype("float32")))
    assert np.mean(abs(single - expected) > 1e-5) < 1e-3


def test_a_stream_gives_the_map_of_all_rows():
    X = rows(120)
    fitted = TernaryFeatures(n_components=80, random_state=0).fit(X)
    streamed = TernaryFeatures(n_components=80, random_state=0)
    for block in (X[:50], X[50:51], X[51:]):
        streamed.partial_fit(block)
    assert streamed.tau_ == pytest.approx(fitted.tau_, rel=1e-12)
    assert streamed.center_ == pytest.approx(X.mean(axis=0), abs=1e-14)
    assert fitted.tau_ == pytest.approx(np.mean(np.sum((X - X.mean(0)) ** 2, axis=1)))
    assert streamed.activation_.upper == pytest.approx(fitted.activation_.upper, abs=1e-9)
    assert np.array_equal(streamed.transform(X), fitted.transform(X))


@pytest.mark.parametrize("bits", [1, 2])
@pytest.mark.parametrize("target", ["relu", "gaussian", Gaussian(2.0), relu, modulus])
def test_moments_are_those_of_the_target(target, bits):
    X = rows(60)
    fitted = TernaryFeatures(target, n_components=30, bits=bits, random_state=0).fit(X)
    if callable(target) and not isinstance(target, Gaussian):
        wanted = gaussian_moments(target, fitted.tau_)
        assert fitted.target_kernel_ is None
    else:
        known = {"relu": ArcCosine(order=1), "gaussian": fitted.target_kernel_}
        kernel = known[target] if isinstance(target, str) else target
        wanted = kernel_moments(kernel, fitted.tau_)
    own = fitted.activation_.moments(fitted.tau_)
    assert own.d1 == pytest.approx(wanted.d1, rel=1e-9, abs=1e-12)
    assert own.d2 == pytest.approx(wanted.d2, rel=1e-9, abs=1e-12)
    assert fitted.ridge_correction_ == pytest.approx(wanted.d0 - own.d0)


def test_thresholds_may_be_given():
    X = rows(60)
    given = TernaryActivation(-0.5, 1.0, 2.0)
    fitted = TernaryFeatures(given, n_components=30, random_state=0).fit(X)
    assert fitted.activation_ == given
    assert fitted.ridge_correction_ == 0
    assert fitted.ridge_parameter(0.3) == pytest.approx(0.3 * 30 / 4)


def test_the_ridge_correction_brings_predictions_nearer_to_the_target_machine():
    rng = np.random.default_rng(0)
    p, n = 256, 512
    mean = np.zeros(p)
    mean[0] = 2.0
    X = rng.standard_normal((2 * n, p))
    labels = np.arange(2 * n) % 2
    X = (X + np.outer(2.0 * labels - 1, mean)) / p**0.5
    y, X = 2.0 * labels - 1, X - X[:n].mean(axis=0)
    features = TernaryFeatures("relu", n_components=8192, output="float", random_state=0).fit(X[:n])
    # Centred, as the equivalence is one of centred kernel matrices.
    target = features.target_kernel_
    K, across = target(X[:n]), target(X[n:], X[:n])
    K_centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    across = across - across.mean(1)[:, None] - K.mean(0) + K.mean()
    alpha = 0.4
    wanted = across @ np.linalg.solve(K_centred + alpha * np.eye(n), y[:n])
    # The kernel of the features themselves: fewer than a million would leave mostly noise.
    own, beyond = features.kernel_(X[:n]), features.kernel_(X[n:], X[:n])
    own_centred = own - own.mean(0) - own.mean(1)[:, None] + own.mean()
    beyond = beyond - beyond.mean(1)[:, None] - own.mean(0) + own.mean()

    def error(ridge):
        found = beyond @ np.linalg.solve(own_centred + ridge * np.eye(n), y[:n])
        return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)

    assert error(features.ridge_parameter(alpha)) < 0.6 * error(alpha)
    factor = features.activation_.scale / 8192**0.5
    floats = features.ridge_parameter(alpha)
    assert features.set_params(output="int8").ridge_parameter(alpha) == pytest.approx(
        floats / factor**2
    )


def test_rows_and_projections_that_do_not_suit_are_warned_of():
    X = rows(60)
    with pytest.warns(UserWarning, match="squared norms of the rows vary"):
        TernaryFeatures(n_components=10).fit(X * np.linspace(0.1, 3, 60)[:, None])
    with pytest.warns(UserWarning, match="give a smaller sparsity"):
        TernaryFeatures(n_components=10, sparsity=0.9).fit(X)
    with pytest.warns(UserWarning, match="use RandomFourier"):
        TernaryFeatures(n_components=10).fit(rows(60, d=12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TernaryFeatures(n_components=10).fit(X)


def test_rows_without_a_scale_are_refused():
    same = np.repeat(rows(1), 5, axis=0)
    with pytest.raises(ValueError, match="needs rows that differ"):
        TernaryFeatures("relu").fit(same)
    with pytest.raises(ValueError, match="overflows or vanishes"):
        TernaryFeatures("relu").fit(1e-100 * rows(60))
    assert TernaryFeatures("relu", n_components=8, center=False).fit(same).center_ is None


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("target", ["relu", TernaryActivation(-0.5, 1.0)], ids=str)
def test_models_are_saved(target, compact, tmp_path):
    X = rows(60)
    fitted = TernaryFeatures(target, n_components=5000, random_state=0).fit(X)
    mercer.save(fitted, tmp_path / "map.mercer", compact=compact)
    assert (tmp_path / "map.mercer").stat().st_size < (20_000 if compact else 2_000_000)
    loaded = mercer.load(tmp_path / "map.mercer")
    assert np.array_equal(loaded.transform(X), fitted.transform(X))
    assert loaded.ridge_parameter(1.0) == fitted.ridge_parameter(1.0)
    assert np.array_equal(loaded.center_, fitted.center_)


def test_arrays_of_any_library_stay_in_it():
    X = rows(30)
    for output in ("int8", "packed", "float"):
        fitted = TernaryFeatures("relu", n_components=70, output=output, random_state=0).fit(X)
        expected = np.asarray(fitted.transform(X))
        for make in array_libraries().values():
            found = fitted.transform(make(X))
            if output == "packed":
                assert isinstance(found, PackedFeatures)
                found = found.unpack()
            else:
                assert type(found) is type(make(X))
            assert to_numpy(found) == pytest.approx(expected, abs=1e-14)


def test_integers_in_data_frames():
    pytest.importorskip("pandas")
    X = rows(30)
    features = TernaryFeatures("relu", n_components=20, random_state=0)
    expected = features.fit_transform(X)
    frame = features.set_output(transform="pandas").transform(X)
    assert set(frame.dtypes) == {np.dtype("int8")}
    assert np.array_equal(frame.to_numpy(), expected)


def test_sparsity_is_searched_in_a_pipeline():
    X = rows(200, shift=0.0)
    y = 3 * X[:, 0] + X[:, 1]
    pipeline = Pipeline(
        [("features", TernaryFeatures("relu", n_components=400, random_state=0)),
         ("machine", FeatureRidge(alpha=100.0))]
    )  # fmt: skip
    search = GridSearchCV(pipeline, {"features__sparsity": [0.0, 0.5]}, cv=2).fit(X, y)
    assert search.best_estimator_["features"].projection_.sparsity in (0.0, 0.5)
    assert search.best_score_ > 0.3
