"""Ridge machines on arrays of every library: what NumPy's rows give, where the rows are."""

import copy
import pickle

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    NystromFeatures,
    PackedFeatures,
    RandomFourier,
)
from mercer._array import device_of, is_numpy, to_numpy
from mercer.solvers import DeviceStatistics, RidgeStatistics, bracket
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
FEATURES = RandomFourier(Gaussian(1.5), n_components=30, random_state=0)
ALPHAS = [1e-3, 0.1, 10.0]
pytestmark = pytest.mark.arrays


def on_device(values):
    """Return an array on a device that stands for one whose memory NumPy cannot read."""
    return strict.asarray(values, device=strict.Device("device1"))


LIBRARIES["another device"] = on_device


@pytest.fixture(params=[name for name in LIBRARIES if name != "numpy"])
def make(request):
    return LIBRARIES[request.param]


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1) + 0.1 * rng.standard_normal((n, 2))
    weights = rng.uniform(0.2, 2, n) * (rng.uniform(size=n) > 0.1)
    return X, Y, weights


def assert_same(found, expected, make, X, Y, weights=None):
    """Compare everything that a fitted machine says, and see where it says it."""
    for name in ("coef_", "intercept_", "alpha_", "noise_variance_"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9)
    theirs = expected.predict(X, return_std=True)
    for one, other in zip(found.predict(make(X), return_std=True), theirs, strict=True):
        assert device_of(one) == device_of(make(X))
        assert to_numpy(one) == pytest.approx(other, rel=1e-9, abs=1e-9)
    own = None if weights is None else make(weights)
    score = found.score(make(X), make(Y), own)
    assert score == pytest.approx(expected.score(X, Y, weights), abs=1e-9)
    assert found.expected_error() == pytest.approx(expected.expected_error(), rel=1e-9)


@pytest.mark.parametrize("per_target", [False, True])
@pytest.mark.parametrize("selection", ["gcv", 3, "loo"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_coefficients_wherever_the_rows_are(make, weighted, selection, per_target):
    X, Y, weights = data()
    model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=selection, per_target=per_target)
    own = weights if weighted else None
    expected = copy.deepcopy(model.fit(X, Y, own))
    found = model.fit(make(X), make(Y), None if own is None else make(own))
    assert isinstance(found._state.gathered, DeviceStatistics)
    assert_same(found, expected, make, X, Y, own)


@pytest.mark.parametrize("alpha", [None, 0.1, 1e-13])
def test_the_grid_and_alphas_too_small_for_sums(make, alpha):
    X, Y, _ = data()
    expected = FeatureRidge(FEATURES, alpha=alpha).fit(X, Y[:, 0])
    found = FeatureRidge(FEATURES, alpha=alpha).fit(make(X), make(Y[:, 0]))
    assert found.solution_.method == expected.solution_.method
    prediction = found.predict(make(X))
    assert prediction.ndim == 1
    assert to_numpy(prediction) == pytest.approx(expected.predict(X), abs=1e-8)


@pytest.mark.parametrize("selection", ["gcv", "loo"])
def test_fewer_rows_than_features(make, selection):
    X, Y, weights = data(25)
    model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=selection)
    expected = copy.deepcopy(model.fit(X, Y, weights))
    found = model.fit(make(X), make(Y), make(weights))
    assert found.solution_.method == "dual"
    assert_same(found, expected, make, X, Y, weights)


@pytest.mark.parametrize("selection", ["gcv", 3])
def test_many_features_are_bracketed_with_the_same_choice(make, selection, monkeypatch):
    monkeypatch.setattr(bracket, "LARGE", 10)
    monkeypatch.setattr(bracket, "HELD_OUT", 60)
    X, Y, _ = data()
    model = FeatureRidge(FEATURES, alpha=np.logspace(-3, 3, 31), selection=selection)
    expected = copy.deepcopy(model.fit(X, Y))
    assert len(expected.solution_.alphas) < 31
    assert_same(model.fit(make(X), make(Y)), expected, make, X, Y)


@pytest.mark.parametrize("labels", ["strings", "integers", "booleans"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_classifiers(make, labels, class_weight):
    X, Y, _ = data()
    codes = np.digitize(Y[:, 0], [-0.4, 0.4])
    y = {"strings": np.asarray(["a", "b", "c"])[codes], "integers": codes, "booleans": codes > 0}[
        labels
    ]
    given = y if labels == "strings" else make(y)
    model = FeatureRidgeClassifier(FEATURES, alpha=ALPHAS, class_weight=class_weight)
    expected = copy.deepcopy(model.fit(X, y))
    found = model.fit(make(X), given)
    assert np.array_equal(found.classes_, expected.classes_)
    for name in ("decision_function", "predict_proba"):
        answer = getattr(found, name)(make(X))
        assert device_of(answer) == device_of(make(X))
        assert to_numpy(answer) == pytest.approx(getattr(expected, name)(X), abs=1e-9)
    answer = found.predict(make(X))
    assert is_numpy(answer) == (labels == "strings")
    assert np.array_equal(to_numpy(answer), expected.predict(X))
    assert found.score(make(X), given) == pytest.approx(expected.score(X, y))
    assert found.expectation().score == pytest.approx(expected.expectation().score)


def test_float32_rows_are_answered_in_float32(make):
    X, Y, _ = data()
    X, Y = X.astype("float32"), Y.astype("float32")
    expected = FeatureRidge(FEATURES, alpha=1.0).fit(X, Y)
    found = FeatureRidge(FEATURES, alpha=1.0).fit(make(X), make(Y))
    answer = found.predict(make(X))
    assert answer.dtype == make(X).dtype
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-4, abs=1e-4)
    assert to_numpy(answer) == pytest.approx(expected.predict(X), abs=1e-4)


def test_only_what_has_the_size_of_coefficients_comes_to_the_host(monkeypatch):
    X, Y, weights = data(400)
    moved = []
    original = mercer._array.array_api_compat.to_device

    def noted(array, device, **rest):
        moved.append(array.size)
        return original(array, device, **rest)

    monkeypatch.setattr(mercer._array.array_api_compat, "to_device", noted)
    for selection in ("gcv", 4, "loo"):
        for own in (None, on_device(weights)):
            model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=selection)
            model.fit(on_device(X), on_device(Y), own)
            model.predict(on_device(X), return_std=True)
            model.score(on_device(X), on_device(Y), own)
    assert max(moved) == model.coef_.size
    # Those of a classifier do not either, once its sample of rows for probabilities is drawn.
    labels = on_device((Y[:, 0] > 0).astype(int))
    model = FeatureRidgeClassifier(FEATURES, alpha=ALPHAS).fit(on_device(X), labels)
    assert model.predict_proba(on_device(X)).shape == (400, 2)
    moved.clear()
    model.predict_proba(on_device(X))
    model.score(on_device(X), labels)
    assert max(moved, default=0) <= 2


def test_a_stream_of_device_blocks(make):
    X, Y, weights = data()
    parts = [slice(0, 40), slice(40, 100), slice(100, 150)]
    model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=3)
    expected = model.fit(X, Y, weights).coef_
    for again in (True, False):
        blocks = [(make(X[p]), make(Y[p]), make(weights[p])) for p in parts]
        found = FeatureRidge(FEATURES, alpha=ALPHAS, selection=3)
        found.fit(blocks if again else iter(blocks))
        assert found.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
        answer = found.predict(make(X[p]) for p in parts)
        assert device_of(answer) == device_of(make(X))
        assert found.score(iter(blocks)) == pytest.approx(model.score(X, Y, weights))


def test_sums_follow_the_rows(make):
    X, Y, _ = data()
    expected = FeatureRidge(FEATURES, alpha=ALPHAS).fit(X, Y).coef_
    model = FeatureRidge(FEATURES, alpha=ALPHAS)
    for k, kind in enumerate((RidgeStatistics, DeviceStatistics, RidgeStatistics)):
        part = slice(50 * k, 50 * (k + 1))
        move = make if k == 1 else np.asarray
        model.partial_fit(move(X[part]), move(Y[part]))
        assert type(model._state.gathered) is kind
    assert model.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_machines_of_different_places_merge(make):
    X, Y, _ = data()
    expected = FeatureRidge(FEATURES, alpha=ALPHAS).fit(X, Y).coef_
    here = FeatureRidge(FEATURES, alpha=ALPHAS).fit(X[:70], Y[:70])
    there = FeatureRidge(FEATURES, alpha=ALPHAS).fit(make(X[70:]), make(Y[70:]))
    for one, other in ((here, there), (there, here)):
        found = copy.deepcopy(one).merge(other)
        assert type(found._state.gathered) is type(one._state.gathered)
        assert found.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [150, 25])
def test_what_was_learnt_on_a_device_is_stored_for_every_machine(make, tmp_path, n):
    X, Y, _ = data(n)
    model = FeatureRidge(FEATURES, alpha=ALPHAS).fit(make(X), make(Y))
    mean, std = (to_numpy(part) for part in model.predict(make(X), return_std=True))
    mercer.save(model, tmp_path / "model.mercer")
    mercer.save(model, tmp_path / "compact.mercer", compact=True)
    loaded = mercer.load(tmp_path / "model.mercer")
    assert is_numpy(loaded._state.gathered.place)
    for one in (loaded, pickle.loads(pickle.dumps(model))):
        assert is_numpy(one._state.gathered.place)
        found = one.predict(X, return_std=True)
        assert found[0] == pytest.approx(mean, abs=1e-9)
        assert found[1] == pytest.approx(std, abs=1e-9)
        # Back on the device, error bars come from sums that are moved there.
        there = one.predict(make(X), return_std=True)
        assert to_numpy(there[1]) == pytest.approx(std, abs=1e-9)
    compact = mercer.load(tmp_path / "compact.mercer")
    assert to_numpy(compact.predict(make(X))) == pytest.approx(mean, abs=1e-9)


def test_a_wrong_row_on_a_device_is_named(make):
    X, Y, _ = data()
    X[140, 1] = np.nan
    with mercer.config(memory=100_000), pytest.raises(ValueError, match="NaN at row 140, column 1"):
        FeatureRidge(FEATURES).fit(make(X), make(Y))


def test_coefficients_beyond_float32_keep_their_precision(make):
    X, Y, _ = data()
    Y = 1e35 * Y
    single = X.astype("float32")
    expected = FeatureRidge(FEATURES, alpha=1.0).fit(single, Y)
    found = FeatureRidge(FEATURES, alpha=1.0).fit(make(single), make(Y))
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-3, abs=1e-3 * 1e35)
    decisions = found._state.values(make(X), False)[0]
    assert to_numpy(decisions) == pytest.approx(expected.predict(X), rel=1e-3, abs=1e32)


def test_a_transformer_that_answers_with_numpy_arrays(make):
    X, Y, _ = data()
    torch = pytest.importorskip("torch")
    pipe = make_pipeline(StandardScaler(), FEATURES)
    expected = FeatureRidge(pipe, alpha=1.0).fit(X, Y).predict(X)
    found = FeatureRidge(pipe, alpha=1.0).fit(torch.asarray(X), torch.asarray(Y))
    answer = found.predict(torch.asarray(X))
    assert isinstance(answer, torch.Tensor)
    assert to_numpy(answer) == pytest.approx(expected, abs=1e-9)


class TestRowsOfTheHost:
    """Rows on the host that are learnt on the device of the settings: torch's CPU stands for it."""

    @pytest.fixture(autouse=True)
    def _torch(self):
        pytest.importorskip("torch")

    def fitted(self, model, *rows, **device):
        with mercer.config(**(device or {"device": "cpu"})):
            found = model.fit(*rows)
            assert device_of(found._state.gathered.place)[0].endswith("torch")
        return found

    @pytest.mark.parametrize("selection", ["gcv", 3, "loo"])
    def test_arrays(self, selection):
        X, Y, weights = data()
        model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=selection)
        expected = copy.deepcopy(model.fit(X, Y, weights))
        found = self.fitted(model, X, Y, weights)
        assert_same(found, expected, np.asarray, X, Y, weights)
        with mercer.config(device="cpu", memory=200_000):
            assert_same(found, expected, np.asarray, X, Y, weights)

    def test_read_only_rows_of_any_layout_and_dtype(self):
        X, Y, _ = data()
        for rows in (X[::-1], np.asfortranarray(X), X.astype(">f8"), (8 * X).astype("uint16")):
            rows = rows.copy() if rows.dtype.kind == "u" else rows
            rows.flags.writeable = False
            before = rows.copy()
            expected = FeatureRidge(FEATURES, alpha=1.0).fit(rows, Y).coef_
            found = self.fitted(FeatureRidge(FEATURES, alpha=1.0), rows, Y)
            assert found.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert np.array_equal(rows, before)

    def test_few_rows(self):
        X, Y, _ = data(25)
        expected = FeatureRidge(FEATURES, alpha=0.1).fit(X, Y).coef_
        found = self.fitted(FeatureRidge(FEATURES, alpha=0.1), X, Y)
        assert found.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)

    def test_streams(self):
        X, Y, _ = data()
        labels = np.where(Y[:, 0] > 0, "up", "down")
        parts = [slice(0, 40), slice(40, 100), slice(100, 150)]
        expected = FeatureRidge(FEATURES, alpha=ALPHAS, selection=3).fit(X, Y).coef_
        model = FeatureRidge(FEATURES, alpha=ALPHAS, selection=3)
        found = self.fitted(model, ((X[p], Y[p]) for p in parts))
        assert found.coef_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
        with mercer.config(device="cpu"):
            assert is_numpy(found.predict(X[p] for p in parts))
        plain = FeatureRidgeClassifier(FEATURES).fit(X, labels)
        stream = [(X[p], labels[p]) for p in parts]
        found = self.fitted(FeatureRidgeClassifier(FEATURES), stream)
        assert found.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-6)

    def test_steps_that_skip_blocks(self):
        X, Y, _ = data()
        parts = [slice(0, 40), slice(40, 100), slice(100, 150)]
        model = FeatureRidge(FEATURES, alpha=ALPHAS)
        with mercer.config(device="cpu"):
            assert list(model.fit_in_steps([(X[p], Y[p]) for p in parts], skip=1)) == [2, 3]
        assert model._state.n_rows == 110

    @pytest.mark.parametrize("kind", ["csr", "pipeline", "landmarks"])
    def test_features_that_are_made_on_the_host(self, kind):
        X, Y, _ = data()
        features = FEATURES
        if kind == "csr":
            X = scipy.sparse.csr_array(np.where(abs(X) > 1, X, 0.0))
        elif kind == "pipeline":
            features = make_pipeline(StandardScaler(), FEATURES)
        else:
            features = NystromFeatures(Gaussian(1.5), n_components=20, random_state=0)
        expected = FeatureRidge(features, alpha=1.0).fit(X, Y)
        found = self.fitted(FeatureRidge(features, alpha=1.0), X, Y)
        assert found.coef_ == pytest.approx(expected.coef_, rel=1e-7, abs=1e-7)
        with mercer.config(device="cpu"):
            assert is_numpy(found.predict(X))

    def test_packed_features_are_counted_on_the_host(self):
        signs = np.sign(np.random.default_rng(0).standard_normal((60, 8))).astype(int)
        Z, y = PackedFeatures.pack(signs), signs[:, 0] + 0.5 * signs[:, 1]
        expected = FeatureRidge(alpha=1.0).fit(Z, y).coef_
        with mercer.config(device="cpu"):
            found = FeatureRidge(alpha=1.0).fit(Z, y)
            assert found.coef_ == pytest.approx(expected)
            assert found.score(Z, y) > 0.9
