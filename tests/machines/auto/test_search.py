"""The search for kernel, metric and encoding, and what the front door makes of it."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelClassifier, KernelRegressor, Laplace, Matern
from mercer.machines.auto import learnt, plan, search, trial
from mercer.machines.auto.search import Search, mixed_targets
from mercer.machines.auto.trial import HeldOutData, Trial, learnt_metric


def rough(n, d=6, seed=0, noise=0.05):
    """Return rows of which two columns matter, and a function that is not smooth."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.abs(X[:, 1] - 0.2) + np.sign(X[:, 3]) * X[:, 1] + noise * rng.standard_normal(n)


@pytest.fixture(autouse=True)
def small_stages(monkeypatch):
    """Searches of a second or two."""
    monkeypatch.setattr(search, "STAGES", dict.fromkeys(search.STAGES, (200, 400)))
    monkeypatch.setattr(learnt, "SAMPLE_ROWS", {"quick": 600, "default": 600, "thorough": 600})
    monkeypatch.setattr(learnt, "families", lambda: [Matern(nu=1.5), Laplace()])


def test_columns_that_do_not_matter_lose_their_weight():
    X, y = rough(2200)
    model = KernelRegressor().fit(X[:2000], y[:2000])
    learnt_weights = model.encoder_.weights
    shares = learnt_weights.importances()
    assert set(np.argsort(-shares)[:2]) == {1, 3}
    assert model.score(X[2000:], y[2000:]) > 0.9
    assert "trials" in model.report_.kernel_reason
    assert model.report_.outlook


def test_direct_and_iterative_trials_agree(monkeypatch):
    X, y = rough(700)
    Y = (y - y.mean())[:, None]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 700)
    data = HeldOutData(X, Y, 200, weights)
    direct = data.fitted(Trial(Laplace(), "plain", alpha=0.1), 0)
    monkeypatch.setattr(trial, "DIRECT_ROWS", 0)
    iterative = data.fitted(Trial(Laplace(), "plain", alpha=0.1), 0)
    assert iterative.alpha == direct.alpha
    # Iterations may stop early, which is a regularisation of its own.
    assert 0.95 * direct.error < iterative.error < 1.002 * direct.error


def test_a_linear_truth_is_learnt_by_a_linear_model():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 8))
    y = X @ rng.standard_normal(8) + rng.standard_normal(2500)
    model = KernelRegressor().fit(X[:2000], y[:2000])
    assert model.report_.method == "linear"
    assert "a linear model" in str(model.report_)
    residual = y[2000:] - model.predict(X[2000:])
    assert np.var(residual) < 1.15
    mean, deviation = model.predict(X[2000:], return_std=True)
    assert 0.9 < np.mean(np.abs(mean - y[2000:]) < 1.96 * deviation) < 0.99


def test_a_linear_model_of_labels_survives_a_model_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 8))
    labels = np.where(X[:, 0] + X[:, 1] + rng.logistic(size=2500) > 0, "yes", "no")
    model = KernelClassifier().fit(X, labels)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))


def test_few_rows_take_the_linear_model_too():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 5))
    y = X @ np.arange(5.0) + rng.standard_normal(300)
    model = KernelRegressor().fit(X, y)
    assert model.report_.score >= model.report_.linear_score


def test_what_is_asked_for_is_not_replaced_by_a_linear_model():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 5))
    model = KernelRegressor("laplace").fit(X, X @ np.arange(5.0) + rng.standard_normal(300))
    assert model.report_.method == "exact"


def test_landmarks_take_over_where_there_are_too_many_rows(monkeypatch):
    monkeypatch.setattr(plan, "ALL_CENTRES", 1500)
    monkeypatch.setattr(plan, "MOST_CENTRES", 300)
    X, y = rough(2600)
    model = KernelRegressor().fit(X[:2100], y[:2100])
    assert model.report_.method == "landmarks"
    assert model.report_.n_components == 300
    assert len(model.machine_.rows_) == 300
    assert "300 landmarks as centres" in str(model.report_)
    assert model.score(X[2100:], y[2100:]) > 0.85


@pytest.mark.parametrize(
    ("rows", "share", "name"), [(50_000, 1.0, "exact"), (200_000, 1.0, "landmarks")]
)
def test_centres_by_rows(rows, share, name):
    assert plan.choose_centres(rows, share).name == name


def test_centres_obey_time_and_memory():
    hurried = plan.choose_centres(50_000, 0.01)
    assert (hurried.name, hurried.n_components) == ("landmarks", 250)
    with mercer.config(memory="100MB"):
        small = plan.choose_centres(200_000)
    assert small.n_components < 2000
    assert "memory" in small.reason
    assert small.memory <= 2 * 100e6


@pytest.mark.filterwarnings("ignore:The iterative solver has not reached")
def test_a_time_limit_is_kept_and_told():
    X, y = rough(2600)
    start = time.perf_counter()
    model = KernelRegressor(time_limit=0.2).fit(X[:2100], y[:2100])
    assert time.perf_counter() - start < 60
    assert model.score(X[2100:], y[2100:]) > 0.3
    assert "time limit" in model.report_.outlook


def test_an_interrupted_search_solves_with_its_best_trial(monkeypatch):
    X, y = rough(2600)
    calls, fitted = [], HeldOutData.fitted

    def interrupting(self, one, seed):
        calls.append(one)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return fitted(self, one, seed)

    monkeypatch.setattr(HeldOutData, "fitted", interrupting)
    with pytest.warns(UserWarning, match="Interrupted; the search ends"):
        model = KernelRegressor().fit(X[:2100], y[:2100])
    assert len(calls) == 6
    assert model.score(X[2100:], y[2100:]) > 0.5


def test_an_interruption_before_any_trial_keeps_the_old_model(monkeypatch):
    X, y = rough(2100)
    model = KernelRegressor("gaussian").fit(X[:300], y[:300])
    before = model.predict(X[:5])

    def interrupted(self, one, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(HeldOutData, "fitted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(kernel=None).fit(X, y)
    assert np.array_equal(model.predict(X[:5]), before)


def test_the_same_data_gives_the_same_model_whatever_the_threads():
    X, y = rough(2100)
    with mercer.config(n_jobs=1):
        one = KernelRegressor().fit(X, y)
    two = KernelRegressor().fit(X, y)
    assert one.kernel_ == two.kernel_ or repr(one.kernel_) == repr(two.kernel_)
    assert np.allclose(one.predict(X[:50]), two.predict(X[:50]), rtol=1e-6, atol=1e-6)


def test_rare_labels_copies_and_rows_of_weight_zero():
    X, y = rough(2100)
    labels = np.where(y > np.median(y), "a", "b").astype(object)
    labels[:3] = "rare"
    X[100:200] = X[0]
    weights = np.ones(2100)
    weights[1000:1100] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelClassifier().fit(X, labels, sample_weight=weights)
    assert set(model.classes_) == {"a", "b", "rare"}
    P = model.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1.0)
    assert np.mean(model.predict(X[300:900]) == labels[300:900]) > 0.85


def test_a_constant_target_is_predicted():
    X, _ = rough(2100)
    model = KernelRegressor().fit(X, np.full(2100, 7.0))
    assert np.allclose(model.predict(X[:10]), 7.0)


def test_strings_dates_and_gaps_are_searched_and_saved(tmp_path):
    X, y = rough(2400)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["city"] = np.random.default_rng(0).choice(["Bern", "Basel", "Zug"], len(X))
    frame.loc[::50, "a"] = np.nan
    target = y + (frame["city"] == "Zug")
    model = KernelRegressor().fit(frame[:2000], target[:2000])
    assert model.score(frame[2000:], target[2000:]) > 0.85
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(model.predict(frame[2000:]), again.predict(frame[2000:]))


def test_many_targets_become_few_sums_of_the_same_squares():
    Y = np.eye(26)[np.random.default_rng(0).integers(0, 26, 4000)]
    squares = [
        (mixed_targets(Y - Y.mean(0), np.random.default_rng(seed)) ** 2).sum() for seed in range(40)
    ]
    expected = ((Y - Y.mean(0)) ** 2).sum()
    assert abs(np.mean(squares) - expected) <= 5 * np.std(squares) / 40**0.5
    assert mixed_targets(Y[:, :3], np.random.default_rng(0)).shape == (4000, 3)


@pytest.mark.parametrize("matrix", [False, True])
def test_a_metric_keeps_the_trace_and_a_floor(matrix):
    E = np.asarray([9.0, 1.0, 0.0])
    found = learnt_metric(np.diag(E) if matrix else E, None, matrix, 0.5)
    assert np.isclose(np.trace(found.value) if matrix else found.value.sum(), 3.0)
    values = np.diag(found.value) if matrix else found.value
    assert values[0] / values[1] == pytest.approx(3.0, rel=0.01)
    assert values[2] > 0


def test_a_search_without_columns_that_help_still_answers():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((600, 3)), rng.standard_normal((600, 1))
    found = Search(lambda name: X, ["plain"], Y, None, [Laplace()]).run()
    assert found.best.error > 0.9
    assert found.stages[-1].n_trials > 0


@pytest.mark.parametrize(("seed", "n_rare"), [(0, 1), (1, 3), (2, 1)])
def test_a_rare_class_or_value_is_learnt_whatever_the_split(seed, n_rare):
    X = np.random.default_rng(seed).standard_normal((2100, 4))
    labels = np.asarray(["b"] * n_rare + ["a"] * (2100 - n_rare))
    model = KernelClassifier(random_state=seed).fit(X, labels)
    assert np.mean(model.predict(X) == labels) > 0.99
    number = KernelRegressor(random_state=seed).fit(
        X, np.r_[[5.0] * n_rare, np.ones(2100 - n_rare)]
    )
    assert np.isfinite(number.predict(X[:5])).all()
    assert "-" not in number.report_.outlook.split("fell by")[-1][:3]


def test_a_solve_without_time_is_no_worse_than_the_linear_model():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2600, 6))
    y = 3 * X[:, 0] + 0.5 * np.sin(2 * X[:, 1]) + 0.1 * rng.standard_normal(2600)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelRegressor(time_limit=0.01).fit(X[:2100], y[:2100])
    assert model.score(X[2100:], y[2100:]) > model.report_.linear_score - 0.02 > 0.9


def test_an_interruption_before_the_first_iteration_leaves_the_linear_model(monkeypatch):
    X, y = rough(2100)

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mercer.KernelRidge, "fit", interrupted)
    with pytest.warns(UserWarning, match="linear model is kept"):
        model = KernelRegressor().fit(X, y)
    assert model.report_.method == "linear"
    assert model.score(X, y) > 0.05


def test_a_direct_solve_is_planned_with_its_memory():
    X, y = rough(2100)
    model = KernelRegressor().fit(X, y)
    assert model.report_.memory >= 8 * 5 * 2100**2
    with mercer.config(memory="30MB"):
        small = KernelRegressor().fit(X, y)
    assert small.report_.memory <= 30e6
    assert "conjugate gradients" in small.report_.solver
