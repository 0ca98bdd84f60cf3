"""Rows of machines that learn features: streams, fresh rows, weights, warm starts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import mercer
from mercer import (
    FeatureRidge,
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    Laplace,
    RandomFourier,
    RFMRegressor,
)
from mercer._array import to_numpy
from mercer.datasets import HierarchicalTask, make_epistasis
from mercer.diagnostics import selection_frequencies
from mercer.engine.moments import ColumnMoments
from mercer.io import TableStream
from mercer.testing import array_libraries, peak_bytes


class Endless:
    """A stream of blocks that can be read again, made as it is read."""

    def __init__(self, n_blocks):
        self.n_blocks = n_blocks

    def __iter__(self):
        for k in range(self.n_blocks):
            X = np.random.default_rng(k).standard_normal((2000, 10)).astype("float32")
            yield X, X[:, 0] * X[:, 1]


@pytest.mark.parametrize("solver", ["features", "nystrom"])
def test_memory_does_not_grow_with_the_rows_of_a_stream(solver):
    model = IRKMRegressor(
        Gaussian(3.0), solver=solver, n_components=64, n_iterations=1, alpha=1e-2, random_state=0
    )
    model.fit(Endless(1))
    few, many = (peak_bytes(lambda n=n: model.fit(Endless(n)))[1] for n in (4, 16))
    assert many < 1.2 * few
    assert model.solver_ == solver


def test_a_fit_that_fails_leaves_the_old_one():
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = (X[:, 0] > 0).astype(int)
    model = IRKMClassifier(n_iterations=1, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X[:, :3], np.zeros(60, dtype=int))
    assert np.array_equal(model.predict(X), before)
    model.set_params(warm_start=True)
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X[:, :3], y)
    assert np.array_equal(model.predict(X), before)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_stream_brings_its_own_targets(fresh):
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = IRKMRegressor(n_iterations=1, fresh=fresh)
    with pytest.raises(ValueError, match="y must be None"):
        model.fit([(X, X[:, 0])] * 3, X[:, 1])


def test_blocks_with_and_without_weights_together():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] * X[:, 1]
    model = IRKMRegressor(n_iterations=1, alpha=0.1, solver="exact", random_state=0)
    mixed = model.fit([(X[:30], y[:30]), (X[30:], y[30:], np.ones(30))]).predict(X)
    assert mixed == pytest.approx(model.fit(X, y).predict(X), abs=1e-9)


def test_class_weights_of_blocks_are_those_of_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = (X[:, 0] + rng.standard_normal(300) > 1).astype(int)
    # Blocks in which the classes are unequally frequent.
    order = np.argsort(y + 1.5 * rng.random(300))
    X, y = X[order], y[order]
    blocks = [(X[:180], y[:180]), (X[180:], y[180:])]
    weights = {0: 0.5, 1: 2.0}
    options = {"solver": "features", "n_components": 40, "n_iterations": 1, "alpha": 0.1}
    model = IRKMClassifier(Gaussian(2.0), class_weight=weights, random_state=0, **options)
    streamed = model.fit(blocks).decision_function(X)
    plain = IRKMClassifier(Gaussian(2.0), random_state=0, **options)
    expected = plain.fit(X, y, np.where(y == 1, 2.0, 0.5)).decision_function(X)
    assert streamed == pytest.approx(expected, abs=1e-8)
    # A block may lack a class that has a weight.
    model.set_params(class_weight={1: 4.0}).fit([*blocks, (X[y == 0], y[y == 0])])
    with pytest.raises(ValueError, match="as a dict"):
        model.set_params(class_weight="balanced").fit(blocks)


def test_warm_start_goes_on():
    X = np.random.default_rng(0).choice([-1.0, 1.0], (200, 20))
    y = X[:, 0] * X[:, 1]
    model = IRKMRegressor(n_iterations=3, patience=None, warm_start=True, random_state=0).fit(X, y)
    learnt = model.feature_importances_
    assert learnt.max() > 2 / 20
    assert np.array_equal(model.fit(X, y).history_[0]["importances"], learnt)


def test_warm_start_takes_the_columns_and_not_the_targets():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(200)
    model = IRKMRegressor(n_iterations=1, warm_start=True).fit(X, np.zeros(200))
    assert model.fit(X, y).column_weights_.max() > 1.2
    expected = model.report_.score
    model.fit(X, 100 * y + 1000)
    assert abs(model.report_.score - expected) < 0.2
    assert model.fit(X, np.stack([y, -y], axis=1)).predict(X).shape == (200, 2)
    names = pd.DataFrame(X, columns=list("abc"))
    model = IRKMRegressor(n_iterations=1, warm_start=True).fit(names, y)
    with pytest.raises(ValueError, match="another order"):
        model.fit(names[["b", "a", "c"]], y)
    with pytest.raises(ValueError, match="standardize=True"):
        model.set_params(standardize=False).fit(names, y)


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
@pytest.mark.parametrize("weight", [1.01, 100.0])
def test_weights_above_one_do_not_deceive(solver, weight):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((300, 6)), rng.standard_normal(300)
    options = {"solver": solver, "n_components": 200, "n_iterations": 1, "random_state": 0}
    model = IRKMRegressor(**options).fit(X, y, np.full(300, weight))
    # Nothing can be known of noise, however often it is said.
    assert model.report_.score < 0.05


def test_balanced_classes_are_not_fitted_to_the_last_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2400, 5))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(2400) > 1.2).astype(int)
    model = IRKMClassifier(class_weight="balanced", random_state=0).fit(X[:400], y[:400])
    shares = [np.mean(model.predict(X[400:])[y[400:] == k] == k) for k in (0, 1)]
    assert np.mean(shares) > 0.85
    assert abs(model.report_.score - model.score(X[400:], y[400:])) < 0.06


def test_epistasis_is_found_with_landmarks():
    found = 0
    for seed in range(3):
        X, y, loci = make_epistasis(800, 60, random_state=seed, return_loci=True)
        options = {"solver": "nystrom", "n_components": 500, "n_iterations": 5}
        model = IRKMClassifier(mixing=0.9, random_state=0, **options).fit(X, y)
        assert max(step["alpha"] for step in model.history_) <= 1.0
        found += set(np.argsort(-model.column_weights_)[:2]) == set(loci)
    assert found == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_of_features_is_generalised_cross_validation(weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(120)
    w = rng.uniform(0.2, 1.0, 120) if weighted else np.ones(120)
    model = IRKMRegressor(
        Laplace(2.0),
        solver="nystrom",
        n_components=120,
        n_iterations=0,
        alpha=1e-2,
        standardize=False,
    ).fit(X, y, w if weighted else None)
    # With all rows as landmarks the hat matrix is that of the kernel, with a constant.
    root = np.sqrt(w)[:, None]
    K = root * Laplace(2.0)(X) * root.T
    smooth = np.linalg.inv(K + 1e-2 * np.eye(120))
    ones = smooth @ root
    hat = np.eye(120) - 1e-2 * (smooth - ones @ ones.T / (root.T @ ones))
    residual = root[:, 0] * y - hat @ (root[:, 0] * y)
    mean = np.average(y, weights=w)
    variance = np.average((y - mean) ** 2, weights=w)
    expected = np.sum(residual**2) / w.sum() / (1 - np.trace(hat) / 120) ** 2 / variance
    assert model.left_out_error_ == pytest.approx(expected, rel=1e-5)


def test_seeds_choose_landmarks():
    X = np.random.default_rng(0).standard_normal((300, 3))
    options = {"solver": "nystrom", "n_components": 20, "n_iterations": 1, "alpha": 0.1}
    first, second, again = (
        IRKMRegressor(random_state=seed, **options).fit(X, X[:, 0]).predict(X) for seed in (0, 1, 0)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)
    # An instance gives another seed each time, as everywhere.
    model = IRKMRegressor(random_state=np.random.RandomState(0), **options)
    assert not np.array_equal(model.fit(X, X[:, 0]).predict(X), model.fit(X, X[:, 0]).predict(X))


def test_seeds_that_change_nothing_are_said():
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="say nothing"):
        selection_frequencies(
            IRKMRegressor(n_iterations=1), X, X[:, 0], n_features=1, n_repeats=2, method="seeds"
        )
    with pytest.raises(ValueError, match="must be an array or a data frame"):
        selection_frequencies(IRKMRegressor(), [(X, X[:, 0])], X[:, 0], n_features=1)


def test_fresh_rows_that_make_no_sense_are_refused():
    X = np.random.default_rng(0).standard_normal((60, 4))
    model = IRKMRegressor(fresh=True, batch_size=20, n_iterations=1)
    with pytest.raises(ValueError, match="y must be None"):
        model.fit(HierarchicalTask(10), np.zeros(3))
    with pytest.raises(ValueError, match="rows and targets"):
        model.fit(lambda n, random_state: X[:n])
    blocks = [(X[:20], np.zeros(20)), (X[20:], X[20:, 0])]
    with pytest.raises(ValueError, match="batch_size must be None"):
        model.fit(blocks)
    with pytest.raises(ValueError, match="all equal"):
        model.set_params(batch_size=None).fit(blocks)
    with pytest.raises(ValueError, match="use fresh=True"):
        IRKMRegressor().fit(HierarchicalTask(10))


def test_blocks_must_have_the_same_targets():
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.raises(ValueError, match=r"earlier blocks had 1 column\(s\), got 2"):
        IRKMRegressor(n_iterations=1).fit([(X[:30], X[:30, 0]), (X[30:], X[30:, :2])])


def test_a_small_budget_takes_fewer_landmarks_and_says_so():
    X = np.random.default_rng(0).standard_normal((900, 3))
    with mercer.config(memory=2_000_000):
        model = IRKMRegressor(n_iterations=1, random_state=0).fit(X, X[:, 0])
    assert model.solver_ == "nystrom"
    assert model.report_.n_components == 204
    assert "which allows 204 features" in model.solver_reason_
    with mercer.config(memory=2_000_000):
        few = IRKMRegressor(n_iterations=1, random_state=0).fit(X[:260], X[:260, 0])
    assert few.solver_ == "nystrom"
    assert RFMRegressor(n_iterations=1).fit(X[:200], X[:200, 0]).solver_ == "exact"
    with mercer.config(memory=100_000):
        tiny = IRKMRegressor(Gaussian(2.0), n_components=47, n_iterations=0).fit(X, X[:, 0])
    assert tiny.solver_reason_.endswith("which allows 44 features; the kernel is Gaussian")
    assert tiny.report_.n_components == 44


@pytest.mark.parametrize("factor", [1e-170, 1e150])
def test_tiny_and_huge_values_are_scaled(factor):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = X[:, 0] * X[:, 1]
    expected = IRKMRegressor(n_iterations=2, alpha=1e-3).fit(X, y)
    found = IRKMRegressor(n_iterations=2, alpha=1e-3).fit(X * factor, y * factor)
    assert found.column_weights_ == pytest.approx(expected.column_weights_, rel=1e-6)
    shifted = IRKMRegressor(n_iterations=2, alpha=1e-3).fit(X, y + 1e9)
    assert shifted.column_weights_ == pytest.approx(expected.column_weights_, rel=1e-3)


def test_a_ridge_that_float32_hides_is_said():
    X = np.random.default_rng(0).standard_normal((300, 3)).astype("float32")
    model = IRKMRegressor(Gaussian(2.0), solver="features", n_components=40, alpha=1e-7)
    with pytest.warns(UserWarning, match="below the rounding error of float32"):
        model.set_params(n_iterations=0).fit(X, X[:, 0])


def test_names_of_weighted_columns_are_theirs():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 2)), columns=["a", "b"])
    model = IRKMRegressor(n_iterations=0).fit(X, X["a"])
    assert model.get_feature_names_out().tolist() == ["a", "b"]


@pytest.mark.parametrize("value", [0.1, 7.3, 1 / 3, 1e6 + 0.1, -1e-300, 0.0])
@pytest.mark.parametrize("n", [3, 1000, 200_000])
def test_constant_columns_are_known(value, n):
    spread = ColumnMoments()
    weights = np.random.default_rng(0).uniform(0.1, 3.0, n)
    for part in np.array_split(np.arange(n), 3):
        spread.add(np.full((len(part), 1), value), weights[part])
    assert spread.deviation() == 0
    assert spread.mean == pytest.approx(value, rel=1e-14, abs=0)


def test_spreads_of_entries_of_any_size():
    parts = [np.zeros((2, 1)), np.full((1, 1), 1e200), np.full((1, 1), -1e200)]
    spread = ColumnMoments()
    for part in parts:
        spread.add(part)
    assert spread.deviation()[0] == pytest.approx(1e200 / 2**0.5)
    assert abs(spread.mean[0]) < 1e186
    light = ColumnMoments()
    light.add(np.asarray([[1e200], [1.0], [2.0], [3.0]]), np.asarray([0.0, 1.0, 1.0, 1.0]))
    assert light.deviation()[0] == pytest.approx((2 / 3) ** 0.5)


def test_generators_as_seeds_are_stored_as_what_they_gave(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = IRKMRegressor(n_iterations=1, random_state=np.random.RandomState(3)).fit(X, X[:, 0])
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert isinstance(loaded.random_state, int)
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_names_of_a_table_on_disk_are_known(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((300, 3)), columns=list("abc"))
    frame["y"] = frame["a"] * frame["b"]
    frame.to_parquet(tmp_path / "rows.parquet")
    stream = TableStream(tmp_path / "rows.parquet", target="y", dtype="float64")
    rows = frame[["a", "b", "c"]]
    for model in (
        IRKMRegressor(n_iterations=2, warm_start=True, random_state=0),
        FeatureRidge(RandomFourier(Gaussian(2.0), n_components=50, random_state=0), alpha=1e-3),
    ):
        expected = clone(model).fit(rows, frame["y"]).predict(rows)
        assert model.fit(stream).feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.predict(rows) == pytest.approx(expected, abs=1e-7)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(rows[["b", "a", "c"]])
        model.fit(stream)
    learner = IRKMRegressor(n_iterations=2, random_state=0).fit(stream)
    assert set(list(learner.report_.importances)[:2]) == {"a", "b"}


@pytest.mark.parametrize("library", sorted(array_libraries()))
def test_arrays_of_other_libraries_are_learnt_from(library):
    make = array_libraries()[library]
    X = np.random.default_rng(0).standard_normal((120, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    options = {"n_iterations": 1, "random_state": 0}
    for model in (
        IRKMClassifier(class_weight="balanced", **options),
        IRKMClassifier(Gaussian(2.0), solver="features", n_components=40, **options),
        RFMRegressor(validation_fraction=0.3, **options),
        IRKMRegressor(fresh=True, **options),
        IRKMRegressor(solver="nystrom", n_components=30, **options),
    ):
        expected = clone(model).fit(X, y).predict(X)
        found = model.fit(make(X), make(y)).predict(make(X))
        assert to_numpy(found) == pytest.approx(expected, abs=1e-8)
    stream = [(make(X[:60]), make(y[:60])), (make(X[60:]), make(y[60:]))]
    assert IRKMClassifier(class_weight={0: 2.0}, **options).fit(stream).score(X, y) > 0.9


def test_fresh_rows_are_checked_as_they_are_drawn():
    X = np.random.default_rng(0).standard_normal((40, 3))
    spoiled = X.copy()
    spoiled[7, 1] = np.nan
    blocks = [(X, X[:, 0]), (spoiled, X[:, 0])]
    with pytest.raises(ValueError, match="NaN at row 7"):
        IRKMRegressor(fresh=True, n_iterations=1, random_state=0).fit(blocks)
    with pytest.raises(ValueError, match="NaN at row 7"):
        IRKMRegressor(n_iterations=1, random_state=0).fit(spoiled, X[:, 0])
