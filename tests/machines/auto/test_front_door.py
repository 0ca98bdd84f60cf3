"""Tests of the front door: what it chooses, what it reports, what it refuses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    CNTK,
    Gaussian,
    KernelClassifier,
    KernelRegressor,
    NystromFeatures,
    Polynomial,
    TableEncoder,
)
from mercer.testing import peak_bytes

#: The encoder, the sample and its folds do not know weights.
UNWEIGHTED = "columns are encoded, and kernels compared, without regard to weights"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": UNWEIGHTED,
    "check_sample_weight_equivalence_on_sparse_data": UNWEIGHTED,
}


@parametrize_with_checks(
    [KernelRegressor(Gaussian("median")), KernelClassifier(Gaussian("median"))],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
@pytest.mark.filterwarnings("ignore:The kernel matrix of 1 features")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(n=600, seed=0):
    """Return a frame of numbers, categories, dates and gaps, and a target."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": generator.gamma(3.0, 40.0, n),
            "city": generator.choice(["Bern", "Basel", "Zug"], n),
            "built": pd.Timestamp("1950-01-01")
            + pd.to_timedelta(generator.integers(0, 25_000, n), "D"),
        }
    )
    price = 3 * frame["size"] ** 0.8 * (1 + 0.3 * (frame["city"] == "Zug"))
    price += generator.normal(0, 2, n)
    frame.loc[generator.random(n) < 0.05, "size"] = np.nan
    return frame, price


def waves(n, d=3, seed=0):
    X = np.random.default_rng(seed).uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) * X[:, 1]


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_frames_work_as_they_are(library):
    frame, price = table()
    converted = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pl.from_pandas(frame).to_arrow(),
    }[library]
    model = KernelRegressor("gaussian").fit(converted, price)
    plain = KernelRegressor("gaussian").fit(frame, price)
    assert model.predict(converted) == pytest.approx(plain.predict(frame), rel=1e-9)
    assert model.report_.score > 0.75 > model.report_.linear_score - 0.3
    assert list(model.feature_names_in_) == list(frame.columns)
    assert "1 categorical" in model.report_.encoding
    assert "1 with missing values" in model.report_.encoding


def test_exact_for_few_rows_and_features_for_many():
    few = KernelRegressor(Gaussian(1.0)).fit(*waves(300))
    assert (few.report_.method, few.report_.n_components) == ("exact", None)
    assert few.report_.approximation_error is None
    asked = KernelRegressor(Gaussian(1.0), n_components=100).fit(*waves(300))
    assert (asked.report_.method, asked.report_.n_components) == ("features", 100)
    assert 0 < asked.report_.approximation_error < 1
    with mercer.config(memory="20MB"):
        many = KernelRegressor(Gaussian(1.0)).fit(*waves(2500))
    assert many.report_.method == "features"
    assert many.report_.memory <= 20e6
    assert "0.02 GB of memory allow 256 features" in many.report_.method_reason


def test_kernels_without_random_features_are_exact_or_seen_through_landmarks():
    X, y = waves(200)
    kernel = Gaussian(1.0) + Polynomial(degree=2)
    assert KernelRegressor(kernel).fit(X, y).report_.method == "exact"
    seen = KernelRegressor(kernel, approximation="features").fit(X, y)
    assert seen.report_.method == "features"
    assert isinstance(seen.machine_.features_, NystromFeatures)
    assert 0 < seen.report_.approximation_error < 0.1
    assert seen.report_.score > 0.9
    with mercer.config(memory="4MB"):
        small = KernelRegressor(kernel).fit(*waves(2500))
    assert small.report_.method == "features"
    assert "more than the memory budget" in small.report_.method_reason


def test_the_best_kernel_is_found():
    X, y = waves(3000)
    model = KernelRegressor(n_components=256, random_state=0).fit(X, y)
    worse = KernelRegressor(Gaussian(10.0), n_components=256).fit(X, y)
    assert model.report_.score > 0.99
    assert model.report_.score > worse.report_.score
    assert "3,000 rows" in model.report_.kernel_reason
    assert model.report_.linear_score < 0.1


def test_expected_score_is_met_on_new_rows():
    X, y = waves(4000)
    y = y + 0.3 * np.random.default_rng(1).standard_normal(4000)
    model = KernelRegressor(Gaussian(1.0), n_components=200).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) == pytest.approx(model.report_.score, abs=0.03)
    labels = np.where(y > 0, "up", "down")
    classifier = KernelClassifier(Gaussian(1.0), n_components=200).fit(X[:2000], labels[:2000])
    expected = classifier.report_.score
    # Three standard errors of a share, estimated on 2,000 rows twice.
    bound = 3 * (expected * (1 - expected) / 1000) ** 0.5
    assert abs(classifier.score(X[2000:], labels[2000:]) - expected) < bound


def test_the_report_says_all_of_it_in_words():
    model = KernelClassifier(n_components=64).fit(*waves_with_labels(400))
    text = str(model.report_)
    for word in ("400 rows", "64 features", "alpha", "accuracy", "linear model", "relative error"):
        assert word in text
    assert model.report_.as_dict()["task"] == "classification"


def waves_with_labels(n):
    X, y = waves(n)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]


def test_a_linear_model_that_does_as_well_is_recommended():
    X, _ = waves(300)
    model = KernelRegressor(Gaussian(1.0)).fit(X, X @ np.ones(3) + 0.01)
    assert "prefer it" in str(model.report_)


def test_the_same_data_gives_the_same_model():
    # What is searched, with more rows, is the same too: see the tests of the search.
    first, second = (KernelRegressor("gaussian").fit(*table(600)) for _ in range(2))
    assert np.array_equal(first.machine_.coef_, second.machine_.coef_)
    frame, price = table(2100)
    whole = KernelRegressor("gaussian").fit(frame, price)
    blocks = [(frame[k : k + 500], price[k : k + 500]) for k in range(0, 2100, 500)]
    streamed = KernelRegressor("gaussian").fit(blocks)
    assert streamed.kernel_.lengthscale == pytest.approx(whole.kernel_.lengthscale)
    assert streamed.predict(frame) == pytest.approx(whole.predict(frame), rel=1e-5)


def test_a_stream_seen_once_says_what_its_first_block_decides():
    X, y = waves(1500)
    model = KernelRegressor("gaussian", n_components=64)
    with pytest.warns(UserWarning, match="first block"):
        model.fit((X[k : k + 500], y[k : k + 500]) for k in range(0, 1500, 500))
    assert model.report_.n_rows == 1500
    with pytest.warns(UserWarning, match="first block"):
        model = KernelRegressor(Gaussian(1.0)).fit(iter([(X[:300], y[:300])]))
    assert "not known" in model.report_.method_reason
    with pytest.warns(UserWarning, match="first block"):
        model = KernelRegressor(Gaussian(1.0) + Polynomial()).fit(iter([(X[:100], y[:100])]))
    reason = model.report_.method_reason
    assert reason.startswith("the number of rows is not known beforehand; NystromFeatures (")
    assert isinstance(model.machine_.features_, NystromFeatures)


def test_constant_columns_are_counted_beside_dates():
    frame, price = table(60)
    frame = frame.assign(one=1.0, same="same")
    text = KernelRegressor(Gaussian(1.0)).fit(frame, price).report_.encoding
    assert "2 constant columns dropped" in text


def test_labels_that_appear_late_in_a_stream_are_known():
    X, labels = waves_with_labels(900)
    order = np.argsort(labels, kind="stable")
    blocks = [(X[rows], labels[rows]) for rows in np.array_split(order, 6)]
    model = KernelClassifier("gaussian", n_components=64).fit(blocks)
    assert list(model.classes_) == ["high", "low", "middle"]


def test_balanced_classes_on_a_stream_equal_those_of_rows():
    X, y = waves(600)
    labels = y > 1.0
    rows = KernelClassifier(Gaussian(1.0), n_components=100, class_weight="balanced").fit(X, labels)
    blocks = [(X[k::3], labels[k::3]) for k in range(3)]
    stream = clone(rows).fit(blocks)
    assert stream.decision_function(X) == pytest.approx(rows.decision_function(X), rel=0.2, abs=0.1)
    plain = KernelClassifier(Gaussian(1.0), n_components=100).fit(X, labels)
    assert rows.predict(X).sum() > plain.predict(X).sum()


def test_error_bars_and_several_targets():
    X, y = waves(300)
    model = KernelRegressor("gaussian").fit(X, np.column_stack([y, -y]))
    mean, std = model.predict(X[:5], return_std=True)
    assert mean.shape == std.shape == (5, 2)
    assert (std > 0).all()


def test_sparse_rows():
    X = scipy.sparse.random_array((400, 30), density=0.2, random_state=np.random.default_rng(0))
    y = X.sum(axis=1)
    model = KernelRegressor("gaussian").fit(scipy.sparse.csr_array(X), y)
    assert model.score(scipy.sparse.csr_array(X), y) > 0.9


def test_kernels_of_the_angle_get_a_constant_column():
    X, y = waves(400)
    model = KernelRegressor("arccosine", n_components=200).fit(X, y)
    assert model.encoder_.constant > 0
    assert model.predict(X).shape == (400,)
    own = KernelRegressor("arccosine", n_components=200, encoder=TableEncoder()).fit(X, y)
    assert own.encoder_.constant is None


def test_memory_does_not_grow_with_the_rows():
    d, block = 20, 2000

    class Blocks:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for k in range(self.n // block):
                X = np.random.default_rng(k).standard_normal((block, d)).astype(np.float32)
                yield X, X[:, 0]

    def peak(n):
        machine = KernelRegressor(Gaussian(3.0), n_components=128)
        return peak_bytes(lambda: machine.fit(Blocks(n)))[1]

    peak(2 * block)
    assert peak(40 * block) < 1.1 * peak(10 * block)


def test_memory_mapped_rows_are_learnt_in_constant_memory(tmp_path):
    n, d = 200_000, 16
    rows = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(n, d))
    rows[:] = np.random.default_rng(0).standard_normal((n, d))
    y = rows[:, 0].astype(float)
    machine = KernelRegressor(Gaussian(4.0), n_components=64)
    machine.fit(rows[:3000], y[:3000])
    assert peak_bytes(lambda: machine.fit(rows, y))[1] < 0.5 * 8 * n * d * 2
    assert machine.report_.n_rows == n


def refused(model, X, y, text, **more):
    fitted = hasattr(model, "report_")
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=text):
        model.fit(X, y, **more)
    if fitted:
        assert model.__dict__.keys() == before.keys()
        assert all(model.__dict__[name] is before[name] for name in before)


@pytest.mark.parametrize("maker", [KernelRegressor, KernelClassifier])
def test_bad_input_is_refused_in_words_and_nothing_is_lost(maker):
    frame, price = table(100)
    y = price if maker is KernelRegressor else (price > price.median()).astype(str)
    for model in (maker("gaussian"), maker("gaussian").fit(frame, y)):
        refused(model, frame, y[:50], "inconsistent numbers of samples")
        refused(model, frame[:0], y[:0], "minimum of 1 is required")
        refused(model, frame, None, "requires y")
        refused(model, frame[["city"]].assign(city="Bern"), y, "constant")
        refused(model, frame, y, "not negative", sample_weight=-np.ones(100))
        refused(model, frame, y, "zero for every row", sample_weight=np.zeros(100))
    with pytest.raises(ValueError, match="did you mean 'gaussian'"):
        maker("gausian").fit(frame, y)
    with pytest.raises(NotFittedError):
        maker().predict(frame)
    fitted = maker("gaussian").fit(frame, y)
    with pytest.warns(UserWarning, match="category 'Chur'"):
        fitted.predict(frame.assign(city="Chur"))
    with pytest.raises(ValueError, match="size"):
        fitted.predict(frame.drop(columns="size"))


def test_targets_that_cannot_be_learnt():
    X, _ = waves(50)
    refused(KernelRegressor("gaussian"), X, np.full(50, np.nan), "NaN or infinity at row 0")
    refused(KernelClassifier("gaussian"), X, ["a"] * 50, "one class only")


def test_images_without_their_constant_pixels_are_refused():
    images = np.random.default_rng(0).uniform(size=(40, 16))
    images[:, 3] = 0.0
    kernel = CNTK(depth=1, image_shape=(4, 4, 1))
    refused(KernelClassifier(kernel), images, images[:, 0] > 0.5, "16 columns are 15, as constant")


def test_parameters_are_not_changed():
    X, y = waves(100)
    kernel, encoder = Gaussian("median"), TableEncoder(limit=5.0)
    model = KernelRegressor(kernel, encoder=encoder).fit(X, y)
    assert kernel.lengthscale == "median"
    assert not hasattr(encoder, "mean_")
    assert model.encoder_.limit == 5.0


def test_another_encoder():
    X, y = waves(200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelRegressor(Gaussian(1.0), encoder=StandardScaler()).fit(frame, y)
    assert "StandardScaler" in model.report_.encoding
    assert model.score(frame, y) > 0.95


def test_nothing_is_warned_about():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KernelClassifier().fit(*waves_with_labels(300))
    assert not caught


def test_a_column_of_texts_that_is_empty_in_one_block():
    x = np.random.default_rng(0).standard_normal(60)
    full = pd.DataFrame({"a": x, "b": ["u", "v"] * 30})
    model = KernelRegressor("gaussian").fit([(full, x), (full.assign(b=np.nan), x)])
    assert model.predict(full.assign(b=np.nan)).shape == (60,)


@pytest.mark.parametrize(
    ("make", "classes"),
    [
        (lambda y: pd.Series(y), [False, True]),
        (lambda y: pd.Series(y, dtype="boolean"), [False, True]),
        (lambda y: pl.Series(y), [False, True]),
        (lambda y: pd.Series(y).astype(int).astype("category"), [0, 1]),
    ],
)
def test_labels_keep_their_kind(make, classes):
    X, y = waves(60)
    model = KernelClassifier("gaussian").fit(X, make(y > 0))
    assert model.classes_.tolist() == classes
    assert model.classes_.dtype.kind == ("b" if classes[0] is False else "i")


def test_dates_are_no_targets_and_two_rows_are_enough():
    X, _ = waves(10)
    with pytest.raises(ValueError, match="dates"):
        KernelRegressor("gaussian").fit(X, pd.date_range("2020", periods=10))
    model = KernelRegressor("gaussian").fit(X[:2], [0.0, 1.0])
    assert model.report_.linear_score is None


def test_a_map_that_was_chosen_does_not_warn_of_the_rows_it_was_chosen_for():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    # Warnings are errors: 32 polynomials would not reach the rows furthest out, 512 do.
    few, many = (KernelRegressor(Gaussian(2.0), n_components=m).fit(X, X[:, 0]) for m in (32, 512))
    assert "RandomFourier" in str(few.report_)
    assert "GegenbauerFeatures" in str(many.report_)
