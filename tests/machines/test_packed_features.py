"""Machines on packed features: the same as on floats, in a fraction of the memory."""

import numpy as np
import pytest

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    KernelKMeans,
    KernelPCA,
    PackedFeatures,
    RandomFourier,
    TernaryFeatures,
)
from mercer.engine.sample import RowSample
from mercer.features.packed import SIGN
from mercer.solvers import PackedStatistics


def data(n=400, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / d**0.5
    return X, np.tanh(8 * X[:, 0]) + 20 * X[:, 1] * X[:, 2]


def features(output, m=150):
    return TernaryFeatures("relu", n_components=m, output=output, random_state=0)


def machine(kind, output, **options):
    return kind(features(output), **options)


@pytest.mark.parametrize("options", [{}, {"selection": 3}, {"selection": "loo"}, {"alpha": 2.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_packed_and_int8_features_give_the_same_model(options, weighted):
    X, y = data()
    weights = np.random.default_rng(1).random(400) if weighted else None
    models = [
        machine(FeatureRidge, output, **options).fit(X, y, sample_weight=weights)
        for output in ("packed", "int8")
    ]
    values, bars = zip(*(model.predict(X, return_std=True) for model in models), strict=True)
    np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(*bars, rtol=1e-3)


def test_the_sums_are_of_bits():
    X, y = data()
    model = machine(FeatureRidge, "packed", selection="gcv").fit(X, y)
    assert isinstance(model._state.gathered, PackedStatistics)


def test_classifiers_have_calibrated_probabilities():
    X, y = data()
    labels = np.where(y > 0, "yes", "no")
    packed, floats = (
        machine(FeatureRidgeClassifier, output).fit(X, labels) for output in ("packed", "int8")
    )
    np.testing.assert_allclose(packed.predict_proba(X), floats.predict_proba(X), atol=1e-4)
    assert (packed.predict(X) == floats.predict(X)).all()


def test_blocks_and_merged_machines_are_one_fit():
    X, y = data()
    whole = machine(FeatureRidge, "packed", alpha=1.0).fit(X, y)
    # Thresholds are those of the first block: it is given to both.
    fitted = whole.features_
    Z = fitted.transform(X)
    parts = [FeatureRidge(alpha=1.0), FeatureRidge(alpha=1.0)]
    for part, rows in (
        (parts[0], slice(100)),
        (parts[1], slice(100, 250)),
        (parts[0], slice(250, 400)),
    ):
        part.partial_fit(Z[rows], y[rows])
    parts[0].merge(parts[1])
    np.testing.assert_allclose(parts[0].predict(Z), whole.predict(X), rtol=1e-5, atol=1e-6)


def test_packed_features_are_rows_of_machines_without_a_map():
    X, y = data()
    Z = features("packed").fit_transform(X)
    assert isinstance(Z, PackedFeatures)
    ridge = FeatureRidge().fit(Z, y)
    np.testing.assert_allclose(
        ridge.predict(Z), FeatureRidge().fit(Z.unpack(float), y).predict(Z.unpack(float)), atol=1e-4
    )
    assert ridge.n_features_in_ == 150
    with pytest.raises(ValueError, match="150"):
        ridge.predict(PackedFeatures.pack(np.ones((2, 3), dtype=np.int8)))
    stream = [(Z[:200], y[:200]), (Z[200:], y[200:])]
    np.testing.assert_allclose(
        FeatureRidge(alpha=3.0).fit(stream).predict(Z),
        FeatureRidge(alpha=3.0).fit(Z, y).predict(Z),
        atol=1e-6,
    )


def test_packed_features_beside_a_map_are_refused():
    Z = features("packed").fit_transform(data()[0])
    for model in (FeatureRidge(RandomFourier()), KernelKMeans(RandomFourier())):
        with pytest.raises(ValueError, match="packed features already"):
            model.fit(Z, data()[1])


@pytest.mark.parametrize("memory", ["20MB", None])
def test_clusters_and_components_of_packed_features(memory):
    X = np.concatenate([data(200)[0] + 1, data(200, seed=1)[0] - 1])
    Z = features("packed").fit_transform(X)
    with mercer.config(memory=memory):
        found = KernelKMeans(n_clusters=2).fit(Z)
    assert len(set(found.labels_[:200])) == len(set(found.labels_[200:])) == 1
    assert found.labels_[0] != found.labels_[-1]
    assert (found.predict(Z) == found.labels_).all()
    assert found.objective_ is None
    scores = KernelPCA(n_components=1).fit(Z).transform(Z)[:, 0]
    assert len(set(np.sign(scores[:200]))) == 1
    assert np.sign(scores[0]) != np.sign(scores[-1])


def test_samples_of_packed_rows_are_dense():
    Z = PackedFeatures.pack(np.where(np.eye(10) > 0, 1, -1).astype(np.int8), SIGN)
    packed, dense = RowSample(4), RowSample(4)
    for start in (0, 5):
        packed.add(Z[start : start + 5])
        dense.add(Z[start : start + 5].unpack("float32"))
    assert np.array_equal(packed.columns[0], dense.columns[0])


def test_a_model_file_is_small_and_predicts_the_same(tmp_path):
    X, y = data()
    model = machine(FeatureRidge, "packed").fit(X, y)
    sizes = {}
    for name, options in (
        ("full", {}),
        ("compact", {"compact": True}),
        ("half", {"compact": True, "coefficients": "float16"}),
    ):
        path = tmp_path / f"{name}.mercer"
        mercer.save(model, path, **options)
        sizes[name] = path.stat().st_size
        again = mercer.load(path).predict(X)
        tolerance = 1e-2 if name == "half" else 0
        np.testing.assert_allclose(again, model.predict(X), rtol=0, atol=tolerance)
    assert sizes["half"] < sizes["compact"] < sizes["full"] / 10
    assert mercer.load(path).coef_.dtype == np.float16
