"""Adding rows and merging machines do not solve; the first question does, once."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, RandomFourier
from mercer.engine import blocks
from mercer.machines import ridge_state


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n)


def machine(**parameters):
    return FeatureRidge(RandomFourier(Gaussian(1.5), n_components=40, random_state=0), **parameters)


@pytest.fixture
def solves(monkeypatch):
    """Return a list that grows with every solve."""
    found = []
    solve = ridge_state.solve_ridge

    def counted(*arguments):
        found.append(1)
        return solve(*arguments)

    monkeypatch.setattr(ridge_state, "solve_ridge", counted)
    return found


def test_a_thousand_merges_solve_once(solves):
    X, y = data()
    whole = machine()
    for _ in range(1000):
        part = machine().partial_fit(X[:50], y[:50])
        whole = part if whole._state is None else whole.merge(part)
    assert not solves
    whole.predict(X[:3])
    whole.predict(X[:3], return_std=True)
    assert whole.alpha_ > 0
    assert len(solves) == 1
    assert whole.expectation().n_rows == 50_000


def test_more_rows_are_solved_for_anew(solves):
    X, y = data()
    model = machine().partial_fit(X[:200], y[:200])
    first = model.coef_
    model.partial_fit(X[200:], y[200:])
    assert not np.array_equal(first, model.coef_)
    assert len(solves) == 2


def test_a_refused_merge_changes_neither_machine():
    X, y = data(30)
    labels = np.where(y > 0, "a", "b")
    # Fewer rows than features: they are kept as they are until more are added.
    one = FeatureRidgeClassifier(machine().features).fit(X, labels)
    other = FeatureRidgeClassifier(machine().features).fit(X, np.where(y > 0, "a", "c"))
    before = [m._state.gathered for m in (one, other)]
    with pytest.raises(ValueError, match="different classes"):
        one.merge(other)
    assert [m._state.gathered for m in (one, other)] == before
    model = machine().fit(X, y)
    before = model.predict(X, return_std=True)
    for other, word in (
        (machine(selection=5).fit(X, y), "selection='gcv' and 5"),
        (machine(alpha=0.5).fit(X, y), "alpha=None and 0.5"),
        (machine().fit(X, np.stack([y, y], axis=1)), "different targets"),
        (machine(), "not fitted"),
    ):
        with pytest.raises(ValueError, match=word):
            model.merge(other)
        for one, two in zip(model.predict(X, return_std=True), before, strict=True):
            assert np.array_equal(one, two)


def test_an_unsolved_machine_is_stored_and_solves_later(tmp_path, solves):
    X, y = data()
    model = machine().partial_fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    assert not solves
    loaded = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Gaussian("median")])
def test_rows_are_checked_once_in_a_fit(monkeypatch, kernel):
    X, y = data(5000)
    seen = []
    finite = blocks.all_finite
    monkeypatch.setattr(blocks, "all_finite", lambda X: (seen.append(len(X)), finite(X))[1])
    FeatureRidge(RandomFourier(kernel, n_components=64, random_state=0)).fit(X, y)
    # One row more to see how wide the features are; a lengthscale from data reads the rows.
    assert sum(seen) - 1 == (5000 if kernel.lengthscale == 1.5 else 10_000)


def test_rows_of_weight_zero_do_not_move_the_sums():
    X, y = data()
    X = np.concatenate([np.full((1, 3), 1e10), X])
    y = np.concatenate([[0.0], y])
    weights = np.concatenate([[0.0], np.ones(400)])
    model = FeatureRidge(alpha=1e-3).fit(X, y, weights)
    expected = FeatureRidge(alpha=1e-3).fit(X[1:], y[1:])
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-12)
    # Next to no weight is next to nothing as well.
    weights[0] = 1e-40
    light = FeatureRidge(alpha=1e-3).fit(X, y, weights)
    assert light.coef_ == pytest.approx(expected.coef_, rel=1e-6)


def test_scores_of_light_rows_are_mean_squared_errors():
    X, y = data()
    plain = machine(alpha=np.logspace(-3, 1, 5)).fit(X, y)
    light = machine(alpha=1e-3 * np.logspace(-3, 1, 5)).fit(X, y, np.full(400, 1e-3))
    assert light.solution_.scores == pytest.approx(plain.solution_.scores, rel=1e-6)
    assert light.expectation().score == pytest.approx(plain.expectation().score, abs=1e-6)


def test_expected_accuracy_with_class_weights_is_that_of_new_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (1900, 1)), rng.normal(1.5, 1, (100, 1))])
    y = np.repeat([0, 1], [1900, 100])
    order = rng.permutation(2000)
    X, y = X[order], y[order]
    model = FeatureRidgeClassifier(class_weight="balanced").fit(X[:1000], y[:1000])
    assert model.expectation().score == pytest.approx(model.score(X[1000:], y[1000:]), abs=0.04)


def test_noise_is_estimated_near_interpolation():
    """As many features as rows: the residual degrees of freedom are fractions of one."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(300)
    features = RandomFourier(Gaussian(0.05), n_components=1000, random_state=0)
    Z = features.fit_transform(X)
    values, vectors = np.linalg.eigh((Z - Z.mean(axis=0)) @ (Z - Z.mean(axis=0)).T)
    # The constant takes the first direction; all others share what is left.
    values, rotated = values[1:], vectors[:, 1:].T @ y
    for alpha in (1e-8, 1e-4):
        solution = FeatureRidge(features, alpha=alpha).fit(X, y).solution_
        left = (alpha / (values + alpha)).sum()
        assert left < 0.5
        expected = ((alpha / (values + alpha) * rotated) ** 2).sum() / left
        assert solution.noise[0] == pytest.approx(expected, rel=1e-6)


def test_a_block_is_learnt_whole_or_not_at_all():
    X, y = data(6000)
    model = FeatureRidge(make_pipeline(StandardScaler(), machine().features))
    with pytest.warns(UserWarning, match="first block"):
        model.partial_fit(X[:50], y[:50])
    expected = model.predict(X[:5], return_std=True)
    spoiled = X.copy()
    spoiled[-1, 0] = np.nan
    # Several parts, and a transformer that says itself what it does not take.
    with mercer.config(memory=300_000), pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoiled, y)
    assert model.expectation().n_rows == 50
    for one, two in zip(model.predict(X[:5], return_std=True), expected, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("weights", [[1e20, 1.0], [1e-60, 1e-61]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extreme_weights_and_targets_keep_their_digits(weights, dtype):
    X, y = data(300)
    X = X.astype(dtype)
    w = np.where(np.arange(300) < 1, *weights)
    model = machine(selection=3).fit(X, y, w)
    assert np.isfinite(model.predict(X)).all()
    large = machine(alpha=1e-2).fit(X, 1e39 * y)
    plain = machine(alpha=1e-2).fit(X, y)
    # Float32 features are rounded in another order.
    assert large.predict(X) / 1e39 == pytest.approx(plain.predict(X), abs=1e-4)


def test_nothing_is_known_of_the_noise_of_one_row():
    X, y = data(1)
    for model in (FeatureRidge(), machine(), mercer.KernelRidge(Gaussian(1.0))):
        assert np.isinf(model.fit(X, y).predict(X, return_std=True)[1]).all()


def test_rows_of_weight_zero_do_not_balance_classes():
    X, y = data()
    labels = (y > 0.5).astype(int)
    weights = np.where((labels == 0) & (np.arange(400) % 2 == 0), 0.0, 1.0)
    known = weights > 0
    one = FeatureRidgeClassifier(machine().features, alpha=1.0, class_weight="balanced")
    other = FeatureRidgeClassifier(machine().features, alpha=1.0, class_weight="balanced")
    one.fit(X, labels, weights)
    other.fit(X[known], labels[known])
    assert one.coef_ == pytest.approx(other.coef_, rel=1e-9)


@pytest.mark.parametrize("alpha", [np.inf, [1.0, np.inf], [1.0, 0.0], [[1.0]], []])
def test_ridge_parameters_are_positive_and_finite(alpha):
    X, y = data(20)
    with pytest.raises(ValueError, match="alpha"):
        FeatureRidge(alpha=alpha).fit(X, y)


def test_parameters_that_were_set_hold_from_the_next_block_on():
    X, y = data()
    model = machine(alpha=1.0).partial_fit(X[:200], y[:200])
    assert model.alpha_ == 1.0
    model.set_params(alpha=10.0).partial_fit(X[200:], y[200:])
    expected = machine(alpha=10.0).fit(X, y)
    assert model.alpha_ == 10.0
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-9)
