"""Tests of the ridge machines: one pass, any order, merging, uncertainty, probabilities."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, RandomFourier
from mercer._array import to_numpy
from mercer.testing import array_libraries, peak_bytes


def data(n=300, d=3, t=1, seed=0, noise=0.1):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2, 2, (n, d))
    Y = np.stack([np.sin(X[:, 0]) * X[:, k % d] + k for k in range(t)], axis=1)
    Y = Y + noise * generator.standard_normal(Y.shape)
    return X, (Y[:, 0] if t == 1 else Y)


def features(m=60):
    return RandomFourier(Gaussian(1.5), n_components=m, random_state=0)


REASON = "a row of weight two is left out whole, two equal rows are left out one by one"
CALIBRATED = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


@parametrize_with_checks(
    [FeatureRidge(), FeatureRidge(features(200)), FeatureRidgeClassifier()],
    expected_failed_checks=lambda machine: CALIBRATED if is_classifier(machine) else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("t", [1, 3])
def test_blocks_in_any_order_and_merged_parts_equal_fit(t):
    X, Y = data(t=t)

    def machine():
        # Candidates that leave the condition number small: it multiplies rounding errors.
        return FeatureRidge(features(), alpha=np.logspace(-2, 1, 7))

    whole = machine().fit(X, Y)
    blocks = np.array_split(np.random.default_rng(1).permutation(300), 5)
    streamed = machine()
    for rows in blocks:
        streamed.partial_fit(X[rows], Y[rows])
    stream = machine().fit((X[rows], Y[rows]) for rows in blocks)
    parts = [machine().fit(X[rows], Y[rows]) for rows in np.array_split(blocks[0], 2)]
    parts += [machine().fit(X[rows], Y[rows]) for rows in blocks[1:]]
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    for model in (streamed, stream, merged):
        assert model.alpha_ == pytest.approx(whole.alpha_, rel=1e-10)
        assert model.predict(X) == pytest.approx(whole.predict(X), rel=1e-9, abs=1e-9)
        error = np.linalg.norm(model.solution_.coef - whole.solution_.coef)
        assert error <= 1e-10 * np.linalg.norm(whole.solution_.coef)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [40, 300])
def test_given_alpha_equals_scikit_learn(n, intercept):
    X, y = data(n)
    model = FeatureRidge(features(), alpha=0.1, fit_intercept=intercept).fit(X, y)
    Z = model.features_.transform(X)
    expected = Ridge(alpha=0.1, fit_intercept=intercept).fit(Z, y)
    assert model.solution_.method == ("dual" if n < 60 else "primal")
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-7, abs=1e-9)
    assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-7, abs=1e-9)
    assert model.predict(X) == pytest.approx(expected.predict(Z))


@pytest.mark.parametrize("n", [70, 12])
@pytest.mark.parametrize("kind", ["none", "certainty", "frequency"])
@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_equals_refits(n, kind, intercept):
    X, y = data(n)
    Z = features(20).fit(X).transform(X)
    alphas = np.array([1e-2, 1e-1, 10.0])
    generator = np.random.default_rng(0)
    w = {
        "none": np.ones(n),
        "certainty": generator.uniform(0.05, 1.0, n),
        "frequency": generator.integers(1, 4, n).astype(float),
    }[kind]
    model = FeatureRidge(features(20), alpha=alphas, selection="loo", fit_intercept=intercept)
    model.fit(X, y, sample_weight=None if kind == "none" else w)
    assert model.solution_.method == ("dual" if n < 20 else "primal")
    assert model.solution_.criterion == "loo"
    for alpha, score in zip(alphas, model.solution_.scores[:, 0], strict=True):
        errors = []
        for i in range(n):
            # A row is left out whole, whatever its weight.
            left = np.where(np.arange(n) == i, 0.0, w)
            refit = Ridge(alpha=alpha, fit_intercept=intercept).fit(Z, y, sample_weight=left)
            errors.append(w[i] * (y[i] - refit.predict(Z[i : i + 1])[0]) ** 2)
        assert score == pytest.approx(sum(errors) / w.sum(), rel=1e-9)


def test_scaling_the_weights_below_one_changes_nothing():
    X, y = data()
    expected = FeatureRidge(features()).fit(X, y)
    scaled = FeatureRidge(features()).fit(X, y, sample_weight=np.full(300, 1 / 300))
    assert scaled.predict(X) == pytest.approx(expected.predict(X))
    labels = y > 0
    plain = FeatureRidgeClassifier(features(), alpha=1.0).fit(X, labels)
    light = FeatureRidgeClassifier(features(), alpha=0.01).fit(X, labels, np.full(300, 0.01))
    assert light.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-4)


@pytest.mark.parametrize("wrapper", [FunctionTransformer(), make_pipeline("passthrough")])
def test_rows_are_left_alone_through_other_transformers(wrapper):
    X, y = data()
    X = X + 10
    kept = X.copy()
    X.flags.writeable = False
    model = FeatureRidge(wrapper, selection="loo").fit(X, y)
    assert np.array_equal(X, kept)
    assert model.alpha_ == pytest.approx(FeatureRidge(selection="loo").fit(X, y).alpha_)


def test_uncertainty_and_probabilities_survive_float32():
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, (500, 1)).astype(np.float32)
    map_ = RandomFourier(Gaussian(3.0), n_components=80, random_state=0)
    model = FeatureRidge(map_, alpha=1e-6).fit(X, X[:, 0])
    assert model.solution_.method == "qr"
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()
    streamed = FeatureRidgeClassifier(map_, alpha=1e-6).partial_fit(X, X[:, 0] > 0)
    assert not streamed.solution_.trusted
    assert np.isfinite(streamed.predict_proba(X)).all()


def test_a_refused_fit_or_block_leaves_the_machine_as_it_was():
    X, y = data()
    model = FeatureRidge(features()).fit(X, y)
    expected = model.predict(X)
    spoiled = X.copy()
    spoiled[250, 1] = np.nan
    with mercer.config(memory=200_000):
        for attempt in (
            lambda: model.fit(X, y[:-1]),
            lambda: model.fit(spoiled, y),
            lambda: model.partial_fit(spoiled, y),
            lambda: model.partial_fit(X, np.full(300, np.inf)),
        ):
            with pytest.raises(ValueError, match=r"row 250|299|row 0"):
                attempt()
            assert model.predict(X) == pytest.approx(expected, rel=1e-12)
    assert model.expectation().n_rows == 300
    fresh = FeatureRidge(features())
    with pytest.raises(ValueError, match="row 250"):
        fresh.partial_fit(spoiled, y)
    assert fresh.partial_fit(X[:, :2], y).n_features_in_ == 2


def test_class_weights_on_a_stream_and_weights_beside_one():
    X, y, _ = labelled()
    weights = {"in": 1.0, "out": 3.0}
    whole = FeatureRidgeClassifier(features(), alpha=0.1, class_weight=weights).fit(X, y)
    stream = FeatureRidgeClassifier(features(), alpha=0.1, class_weight=weights)
    stream.fit((X[rows], y[rows]) for rows in np.array_split(np.arange(1500), 3))
    assert stream.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-8)
    with pytest.raises(ValueError, match="sample_weight must be None"):
        FeatureRidge().fit(iter([(X, X[:, 0])]), None, np.ones(1500))


def test_many_classes_do_not_make_a_wide_array_of_all_rows():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60_000, 3))
    y = generator.integers(0, 200, 60_000)
    with mercer.config(memory=20_000_000):
        _, peak = peak_bytes(lambda: FeatureRidgeClassifier(features(100)).fit(X, y))
    assert peak < 0.6 * 60_000 * 200 * 8


def test_cross_validation_from_folds_chooses_well():
    X, y = data(400)
    model = FeatureRidge(features(100), selection=5).fit(X, y)
    assert model.solution_.criterion == "cv"
    assert model.solution_.scores.min() == pytest.approx(0.01, rel=0.5)
    assert model.score(X, y) > 0.98


def test_ill_conditioned_features_are_solved_by_qr():
    X, _ = data(300, d=1)
    y = np.exp(X[:, 0])
    model = FeatureRidge(RandomFourier(Gaussian(3.0), n_components=80, random_state=0), alpha=1e-13)
    model.fit(X, y)
    assert model.solution_.method == "qr"
    Z = model.features_.transform(X)
    rows = np.concatenate([Z - Z.mean(axis=0), np.sqrt(1e-13) * np.eye(80)])
    target = np.concatenate([y - y.mean(), np.zeros(80)])
    expected = np.linalg.lstsq(rows, target)[0]
    assert model.coef_ == pytest.approx(expected, rel=1e-4)
    normal = FeatureRidge(model.features, alpha=1e-13).partial_fit(X, y)
    assert (normal.solution_.method, normal.solution_.trusted) == ("primal", False)
    assert np.linalg.norm(normal.coef_ - expected) > 0.01 * np.linalg.norm(expected)


def test_uncertainty_equals_an_exact_gaussian_process():
    generator = np.random.default_rng(0)
    X = generator.uniform(-3, 3, (60, 1))
    y = np.sin(X[:, 0]) + 0.1 * generator.standard_normal(60)
    new = np.linspace(-6, 6, 40)[:, None]
    map_ = RandomFourier(Gaussian(1.0), n_components=4000, random_state=0)
    for n in (60, 40):
        alpha = 0.01
        model = FeatureRidge(map_, alpha=alpha, fit_intercept=False).fit(X[:n], y[:n])
        mean, std = model.predict(new, return_std=True)
        noise = model.noise_variance_[0]
        # Prior variance σ²/α of every coefficient is a kernel of that amplitude.
        kernel = noise / alpha * RBF(1.0) + WhiteKernel(noise)
        process = GaussianProcessRegressor(kernel, optimizer=None).fit(X[:n], y[:n])
        exact_mean, exact_std = process.predict(new, return_std=True)
        assert abs(mean - exact_mean).max() < 0.05
        assert abs(std / exact_std - 1).max() < 0.05


def test_dual_and_primal_agree_on_the_uncertainty():
    X, y = data(50)
    dual = FeatureRidge(features(60), alpha=0.1).fit(X, y)
    primal = FeatureRidge(features(60), alpha=0.1).partial_fit(X, y)
    assert (dual.solution_.method, primal.solution_.method) == ("dual", "primal")
    for a, b in zip(
        dual.predict(X, return_std=True), primal.predict(X, return_std=True), strict=True
    ):
        assert a == pytest.approx(b, rel=1e-6)


def test_every_target_has_its_own_alpha_and_memory_does_not_grow_with_targets_times_alphas():
    X, Y = data(2000, t=3)
    model = FeatureRidge(features(), per_target=True).fit(X, Y)
    assert model.alpha_.shape == (3,)
    assert model.predict(X).shape == (2000, 3)
    many = np.repeat(Y, 100, axis=1)
    _, peak = peak_bytes(lambda: FeatureRidge(features()).fit(X, many))
    assert peak < 10 * many.nbytes


def test_memory_does_not_grow_with_the_rows():
    def stream(n):
        generator = np.random.default_rng(0)
        for _ in range(n):
            X = generator.standard_normal((1000, 4)).astype(np.float32)
            yield X, X[:, 0]

    peaks = [peak_bytes(lambda n=n: FeatureRidge(features(100)).fit(stream(n)))[1] for n in (5, 40)]
    assert peaks[1] < 1.2 * peaks[0]


def test_features_may_be_a_pipeline_for_data_frames():
    import pandas

    X, y = data(200)
    frame = pandas.DataFrame(X, columns=list("abc"))
    frame["kind"] = np.where(X[:, 0] > 0, "up", "down")
    prepare = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(), ["kind"])
    )
    model = FeatureRidge(make_pipeline(prepare, features(100))).fit(frame, y)
    assert model.score(frame, y) > 0.95


def test_sparse_rows_and_other_libraries():
    X, y = data(200)
    X[abs(X) < 1] = 0
    expected = FeatureRidge(features()).fit(X, y).predict(X)
    assert FeatureRidge(features()).fit(scipy.sparse.csr_array(X), y).predict(X) == pytest.approx(
        expected
    )
    assert FeatureRidge().fit(scipy.sparse.csr_array(X), y).predict(X) == pytest.approx(
        FeatureRidge().fit(X, y).predict(X)
    )
    for make in array_libraries().values():
        model = FeatureRidge(features()).fit(make(X), make(y))
        assert to_numpy(model.predict(make(X))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (lambda X, y: (X, y[:-1]), "299"),
        (lambda X, y: (X, np.where(np.arange(300) == 7, np.nan, y)), "row 7"),
        (lambda X, y: (X, y, -np.ones(300)), "not negative"),
        (lambda X, y: (X, y, np.ones(3)), "sample_weight"),
        (lambda X, y: (iter([]), None), "empty"),
        (lambda X, y: (iter([X]), None), r"\(X, y\)"),
        (lambda X, y: (iter([(X, y)]), y), "y must be None"),
        (lambda X, y: (np.where(X > 1.9, np.inf, X), y), "infinity"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(arguments, word):
    with pytest.raises(ValueError, match=word):
        FeatureRidge().fit(*arguments(*data()))


def test_features_that_one_block_decides_are_told():
    X, y = data()
    learning = RandomFourier(Gaussian("median"), n_components=20, random_state=0)
    for features_ in (learning, make_pipeline(StandardScaler(), features(20))):
        with pytest.warns(UserWarning, match="first block only"):
            FeatureRidge(features_).fit(iter([(X[:100], y[:100]), (X[100:], y[100:])]))
    assert "coef" not in repr(FeatureRidge().fit(X, y).solution_)


def test_machines_that_differ_do_not_merge():
    X, y = data()
    model = FeatureRidge(features()).fit(X, y)
    other = FeatureRidge(features().set_params(random_state=1)).fit(X, y)
    wider = FeatureRidge(features().set_params(kernel=Gaussian(2.0))).fit(X, y)
    scaled = FeatureRidge(make_pipeline(StandardScaler(), features())).fit(X, y)
    moved = FeatureRidge(make_pipeline(StandardScaler(), features())).fit(X + X**2, y)
    for one, two in ((model, other), (model, wider), (scaled, moved)):
        with pytest.raises(ValueError, match="same integer random_state"):
            one.merge(two)
    with pytest.raises(ValueError, match="not fitted"):
        model.merge(FeatureRidge(features()))
    with pytest.raises(ValueError, match="one class"):
        model.merge(FeatureRidgeClassifier(features()).fit(X, y > 0))
    with pytest.raises(ValueError, match="alpha"):
        FeatureRidge(alpha=[0.1, -1.0]).fit(X, y)


def labelled(n=1500, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 2))
    probability = 1 / (1 + np.exp(-3 * (X[:, 0] ** 2 + X[:, 1] - 1)))
    return X, np.where(generator.random(n) < probability, "in", "out"), probability


def test_probabilities_are_calibrated():
    X, y, _ = labelled()
    new, _, truth = labelled(seed=1)
    model = FeatureRidgeClassifier(features(200)).fit(X, y)
    estimate = model.predict_proba(new)[:, list(model.classes_).index("in")]
    assert np.sqrt(((estimate - truth) ** 2).mean()) < 0.1
    for low in (0.1, 0.3, 0.5, 0.7):
        chosen = (estimate >= low) & (estimate < low + 0.2)
        error = np.sqrt(0.25 / chosen.sum())
        assert abs(truth[chosen].mean() - estimate[chosen].mean()) < 0.05 + 2 * error
    assert np.exp(model.predict_log_proba(new)) == pytest.approx(model.predict_proba(new))


def test_string_labels_streams_and_merging():
    X, y, _ = labelled()
    whole = FeatureRidgeClassifier(features()).fit(X, y)
    assert set(whole.predict(X)) == {"in", "out"}
    first = FeatureRidgeClassifier(features()).partial_fit(X[:700], y[:700])
    second = FeatureRidgeClassifier(features()).fit(iter([(X[700:], y[700:])]))
    merged = first.merge(second)
    assert np.array_equal(merged.predict(X), whole.predict(X))
    assert merged.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-8)


def test_class_weights_move_the_border():
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.normal(0, 1, (950, 1)), generator.normal(2, 1, (50, 1))])
    y = np.repeat([0, 1], [950, 50])
    plain = FeatureRidgeClassifier().fit(X, y)
    balanced = FeatureRidgeClassifier(class_weight="balanced").fit(X, y)
    given = FeatureRidgeClassifier(class_weight={0: 1.0, 1: 19.0}).fit(X, y)
    assert plain.predict(X).sum() < 20 < 50 < balanced.predict(X).sum()
    assert np.array_equal(given.predict(X), balanced.predict(X))
    with pytest.raises(ValueError, match="dict"):
        FeatureRidgeClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        FeatureRidgeClassifier(class_weight="fair").fit(X, y)


def test_bad_labels_are_refused():
    X, y, _ = labelled(100)
    with pytest.raises(ValueError, match="one class only"):
        FeatureRidgeClassifier().fit(X, np.full(100, "in"))
    model = FeatureRidgeClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="'elsewhere'"):
        model.partial_fit(X, np.full(100, "elsewhere"))
    with pytest.raises(ValueError, match="differ"):
        model.partial_fit(X, y, classes=["a", "b"])
    late = FeatureRidgeClassifier().partial_fit(X[:1], y[:1], classes=["in", "out"])
    assert late.partial_fit(X, y).score(X, y) > 0.5
    assert mercer.FeatureRidgeClassifier is FeatureRidgeClassifier
