"""Tests of how often columns are selected."""

import dataclasses
from contextlib import nullcontext

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import IRKMRegressor
from mercer.datasets import HierarchicalTask
from mercer.diagnostics import SelectionFrequencies, selection_frequencies

X = np.random.default_rng(0).standard_normal((60, 5))
y = X[:, 1] * X[:, 3]


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what it was given; importances are those it is told, or the sums of columns."""

    seen: list = []

    def __init__(self, importances=None, random_state=None):
        self.importances = importances
        self.random_state = random_state

    def fit(self, X, y=None):
        self.seen.append((X, y, self.random_state))
        told = self.importances
        self.feature_importances_ = np.abs(np.asarray(X)).sum(axis=0) if told is None else told
        return self


class Labels(ClassifierMixin, Recorder):
    pass


@pytest.fixture(autouse=True)
def _nothing_seen():
    Recorder.seen.clear()


def test_columns_that_matter_are_always_selected():
    machine = IRKMRegressor(n_iterations=4)
    found = selection_frequencies(machine, X, y, n_features=2, n_repeats=6, random_state=0)
    np.testing.assert_array_equal(found.selection_frequencies_, [0, 1, 0, 1, 0])
    assert found.importances_.shape == (6, 5)
    np.testing.assert_allclose(found.importances_.sum(axis=1), 1)
    # The rows differ from one repetition to the next.
    assert len(np.unique(found.importances_[:, 1])) == 6
    assert not hasattr(machine, "feature_importances_")


def test_frequencies_count_the_largest_importances():
    forest = RandomForestClassifier(5)
    found = selection_frequencies(forest, X, y > 0, n_features=2, n_repeats=7, random_state=0)
    count = np.zeros(5)
    for row in found.importances_:
        count[np.argsort(row)[-2:]] += 1
    np.testing.assert_allclose(found.selection_frequencies_, count / 7)
    assert 0 < found.selection_frequencies_.max() <= 1


def test_ties_share_the_last_places_and_zeros_are_never_selected():
    def frequencies(*importances, n_features):
        fixed = Recorder(np.asarray(importances))
        found = selection_frequencies(fixed, X, y, n_features=n_features, n_repeats=2)
        return list(found.selection_frequencies_)

    assert frequencies(1, 1, 1, 1, n_features=2) == [0.5] * 4
    assert frequencies(3, 1, 1, 2, n_features=3) == [1, 0.5, 0.5, 1]
    assert frequencies(3, 0, 0, 2, n_features=3) == [1, 0, 0, 1]
    assert frequencies(3, 1, 2, n_features=3) == [1, 1, 1]


def test_a_bootstrap_draws_rows_with_their_targets():
    rows = np.arange(200.0)[:, None] * [1.0, -1.0]
    selection_frequencies(
        Recorder(), rows, np.arange(200), n_features=1, n_repeats=40, random_state=0
    )
    sizes = []
    for drawn, targets, _ in Recorder.seen:
        np.testing.assert_array_equal(drawn[:, 0], targets)
        # No row comes twice: a copy would tell what leave-one-out has left out.
        assert len(np.unique(targets)) == len(targets)
        sizes.append(len(targets))
    # A row is drawn with probability 1 - (1 - 1/n)^n; the number of rows varies less than if
    # they were drawn independently.
    chance = 1 - (1 - 1 / 200) ** 200
    standard_error = np.sqrt(200 * chance * (1 - chance) / 40)
    assert abs(np.mean(sizes) - 200 * chance) < 5 * standard_error
    assert len({tuple(targets) for _, targets, _ in Recorder.seen}) == 40


def test_every_class_is_drawn_from_by_itself():
    labels = np.asarray(["rare"] * 2 + ["often"] * 58)
    selection_frequencies(Labels(), X, labels, n_features=1, n_repeats=12, random_state=0)
    rare = {int((targets == "rare").sum()) for _, targets, _ in Recorder.seen}
    assert rare == {1, 2}


def test_seeds_give_fresh_rows_of_a_sampler():
    task = HierarchicalTask(8, noise=0.1)
    machine = IRKMRegressor(fresh=True, batch_size=40, n_iterations=4, patience=None)
    found = selection_frequencies(
        machine, task, n_features=4, n_repeats=5, method="seeds", random_state=0
    )
    assert found.importances_.shape == (5, 8)
    assert len(np.unique(found.importances_[:, 0])) == 5
    assert found.selection_frequencies_[:2].min() == 1
    assert found.selection_frequencies_.sum() == pytest.approx(4)
    with pytest.raises(ValueError, match=r"got a HierarchicalTask; use method='seeds'"):
        selection_frequencies(machine, task, n_features=4)


def test_every_repetition_has_a_seed_of_its_own():
    pipe = make_pipeline(StandardScaler(), Recorder())
    with pytest.raises(ValueError, match="Pipeline has no feature_importances_"):
        selection_frequencies(pipe, X, y, n_features=1, method="seeds", random_state=0)
    # The seed of a part is set too.
    assert isinstance(Recorder.seen[0][2], int)
    for method in ("bootstrap", "seeds"):
        Recorder.seen.clear()
        said = pytest.warns(UserWarning, match="same importances")
        with said if method == "seeds" else nullcontext():
            selection_frequencies(
                Recorder(random_state=3), X, y, n_features=1, n_repeats=4, method=method
            )
        assert len({seed for _, _, seed in Recorder.seen}) == 4


def test_the_same_seed_gives_the_same_frequencies():
    def importances(seed, method="bootstrap"):
        return selection_frequencies(
            IRKMRegressor(n_iterations=1),
            X,
            y,
            n_features=2,
            n_repeats=2,
            method=method,
            random_state=seed,
        ).importances_

    np.testing.assert_array_equal(importances(0), importances(0))
    assert (importances(0) != importances(1)).any()


def test_sparse_rows_frames_and_lists_are_the_same_rows():
    frame = pandas.DataFrame(X, columns=list("abcde"), index=np.arange(60)[::-1])
    kinds = {
        "array": (X, y),
        "csr": (scipy.sparse.csr_array(X), y),
        "coo": (scipy.sparse.coo_matrix(X), y),
        "list": (X.tolist(), y.tolist()),
        "pandas": (frame, pandas.Series(y)),
        "polars": (polars.DataFrame(X, schema=list("abcde")), polars.Series(y)),
    }
    found = {
        name: selection_frequencies(
            IRKMRegressor(n_iterations=1), *rows, n_features=2, n_repeats=2, random_state=0
        )
        for name, rows in kinds.items()
    }
    for name, result in found.items():
        np.testing.assert_allclose(result.importances_, found["array"].importances_, err_msg=name)
    assert found["array"].feature_names == ("x0", "x1", "x2", "x3", "x4")
    assert found["pandas"].feature_names == found["polars"].feature_names == tuple("abcde")


def test_frames_reach_the_estimator_as_frames():
    frame = pandas.DataFrame(X, columns=list("abcde"), index=np.arange(60)[::-1])
    found = selection_frequencies(Recorder(), frame, frame["a"], n_features=1, n_repeats=1)
    drawn, targets, _ = Recorder.seen[0]
    assert list(drawn.columns) == list("abcde")
    np.testing.assert_array_equal(drawn["a"], targets)
    assert found.feature_names == tuple("abcde")


def test_foreign_arrays_are_drawn_from():
    strict = pytest.importorskip("array_api_strict")
    found = selection_frequencies(
        IRKMRegressor(n_iterations=1),
        strict.asarray(X),
        strict.asarray(y),
        n_features=2,
        n_repeats=2,
        random_state=0,
    )
    expected = selection_frequencies(
        IRKMRegressor(n_iterations=1), X, y, n_features=2, n_repeats=2, random_state=0
    )
    np.testing.assert_allclose(found.importances_, expected.importances_)


def test_several_targets_are_drawn_together():
    both = np.column_stack([X[:, 0], X[:, 2]])
    selection_frequencies(Recorder(), X, both, n_features=1, n_repeats=1)
    drawn, targets, _ = Recorder.seen[0]
    np.testing.assert_array_equal(drawn[:, [0, 2]], targets)
    selection_frequencies(Labels(), X, both > 0, n_features=1, n_repeats=1)
    drawn, targets, _ = Recorder.seen[1]
    np.testing.assert_array_equal(drawn[:, [0, 2]] > 0, targets)


def test_progress_is_told_once_a_repetition():
    told = []
    with mercer.config(progress=lambda *news: told.append(news)):
        selection_frequencies(IRKMRegressor(n_iterations=1), X, y, n_features=2, n_repeats=3)
    assert told == [(k, 3, "selecting features") for k in (1, 2, 3)]


def test_the_result_is_frozen_and_says_what_it_holds():
    found = SelectionFrequencies(
        np.asarray([0.25, 1.0, 0.0]), np.ones((4, 3)), 1, ("left", "right", "none")
    )
    assert str(found) == "among the 1 largest of 3 columns, 4 repetitions: right 100 %, left 25 %"
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n_selected = 2


def test_bad_arguments_are_refused_with_their_names():
    machine = IRKMRegressor(n_iterations=1)
    for wrong in (0, -1, 2.5, True, None):
        with pytest.raises(ValueError, match="n_features must be a whole number"):
            selection_frequencies(machine, X, y, n_features=wrong)
        with pytest.raises(ValueError, match="n_repeats must be a whole number"):
            selection_frequencies(machine, X, y, n_features=2, n_repeats=wrong)
    with pytest.raises(ValueError, match="n_features must be a whole number from 1 to 5"):
        selection_frequencies(machine, X, y, n_features=6)
    with pytest.raises(ValueError, match=r"method must be one of .* got 'jackknife'"):
        selection_frequencies(machine, X, y, n_features=2, method="jackknife")
    with pytest.raises(ValueError, match="random_state"):
        selection_frequencies(machine, X, y, n_features=2, random_state="zero")
    with pytest.raises(ValueError, match="needs y"):
        selection_frequencies(machine, X, n_features=2)
    with pytest.raises(ValueError, match="X has 60 rows, y has 59"):
        selection_frequencies(machine, X, y[1:], n_features=2)
    with pytest.raises(ValueError, match=r"Ridge has no feature_importances_"):
        selection_frequencies(Ridge(), X, y, n_features=2)


class Seedless(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.feature_importances_ = np.ones(X.shape[1])
        return self


def test_seeds_need_an_estimator_with_a_seed():
    with pytest.raises(ValueError, match=r"Seedless.* has none; use method='bootstrap'"):
        selection_frequencies(Seedless(), X, y, n_features=2, method="seeds")
    found = selection_frequencies(Seedless(), X, y, n_features=2, n_repeats=1)
    np.testing.assert_allclose(found.selection_frequencies_, 2 / 5)
