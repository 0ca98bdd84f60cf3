"""What machines that learn features say of themselves, and what remains of an interrupted fit."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import Gaussian, IRKMClassifier, IRKMRegressor, Laplace, RFMRegressor
from mercer.machines.feature_learning.steps import ExactStep


def table(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=["age", "height", "dose", "noise"])
    return X, X["age"] * X["dose"] + 0.1 * rng.standard_normal(n)


def test_the_report_says_what_was_chosen_and_learnt(tmp_path):
    X, y = table()
    model = IRKMRegressor(random_state=0).fit(X, y)
    report = model.report_
    assert (report.solver, report.n_components, report.approximation_error) == ("exact", None, None)
    assert set(list(report.importances)[:2]) == {"age", "dose"}
    assert report.score == pytest.approx(1 - model.left_out_error_)
    assert report.plain_error == model.history_[0]["error"]
    text = str(report)
    for said in (
        "300 rows, 4 columns",
        "Laplace(lengthscale=2.0): its lengthscale is the typical norm of a row",
        "300 rows have an affordable kernel matrix",
        f"iteration {model.best_iteration_} of {model.n_iter_} kept",
        "leave-one-out",
        f"R2 {report.score:.3f} expected on new rows",
    ):
        assert said in text
    mercer.save(model, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").report_ == report
    assert report.as_dict()["importances"] == report.importances


@pytest.mark.parametrize(
    ("solver", "kernel", "said"),
    [
        ("features", Gaussian(2.0), "40 random Fourier features"),
        ("nystrom", Laplace(2.0), "the kernel functions of 40 rows"),
    ],
)
def test_features_report_their_distance_from_the_kernel(solver, kernel, said):
    X, y = table(900)
    options = {"solver": solver, "n_iterations": 0, "random_state": 0}
    model = RFMRegressor(kernel, n_components=40, **options).fit(X, y)
    assert f"{said}: as you asked for" in str(model.report_)
    few = model.report_.approximation_error
    many = model.set_params(n_components=400).fit(X, y).report_.approximation_error
    assert 0 < many < 0.7 * few < 0.5
    # On rows that are no landmarks, or nothing would be missing.
    assert many > 0.01
    model.set_params(n_iterations=1).fit(X, y)
    assert "20% of the rows held out" in model.report_.score_reason


def test_nystrom_with_all_rows_is_the_kernel():
    X, y = table(100)
    model = IRKMRegressor(solver="nystrom", n_components=100, n_iterations=1).fit(X, y)
    assert model.report_.approximation_error < 1e-10


def test_the_expected_accuracy_is_that_of_new_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(3000) > 0, "yes", "no")
    model = IRKMClassifier(n_iterations=3, random_state=0).fit(X[:600], y[:600])
    assert model.report_.score_name == "accuracy"
    assert model.report_.score == pytest.approx(model.score(X[600:], y[600:]), abs=0.04)


def test_an_interrupted_fit_keeps_the_best_iteration(monkeypatch):
    X, y = table()
    steps = []

    def interrupted(fit, *arguments):
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return run(fit, *arguments)

    run = ExactStep.run
    monkeypatch.setattr(ExactStep, "run", interrupted)
    with pytest.warns(UserWarning, match="Interrupted after 2 fits"):
        model = IRKMRegressor(random_state=0).fit(X, y)
    assert model.n_iter_ == 1
    assert model.score(X, y) > 0.9
    # Nor is what was learnt lost in the last fit, with the rows that were kept aside.
    steps[:] = []
    with pytest.warns(UserWarning, match="has not learnt from the held-out rows"):
        model = RFMRegressor(n_iterations=1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    # Without anything learnt there is nothing to keep.
    steps[:] = [1, 1]
    with pytest.raises(KeyboardInterrupt):
        IRKMRegressor().fit(X, y)
