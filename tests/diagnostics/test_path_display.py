"""Tests of pictures of how alpha was chosen."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer import FeatureRidge, KernelRegressor, KernelRidgeClassifier
from mercer.diagnostics import PathDisplay

X = np.random.default_rng(0).standard_normal((80, 4))
y = X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(80)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def test_candidates_are_drawn_with_the_one_that_was_chosen():
    model = FeatureRidge(alpha=[10.0, 0.1, 1000.0]).fit(X, y)
    display = PathDisplay.from_estimator(model)
    curve, mark = display.ax_.get_lines()
    assert curve.get_xdata().tolist() == [0.1, 10.0, 1000.0]
    order = np.argsort(model.solution_.alphas)
    np.testing.assert_array_equal(curve.get_ydata(), model.solution_.scores[order, 0])
    assert set(mark.get_xdata()) == {model.alpha_}
    best = display.alphas[display.scores[:, 0].argmin()]
    assert best == model.alpha_
    assert display.ax_.get_title() == "generalised cross-validation"


def test_every_target_has_a_line():
    model = FeatureRidge(per_target=True).fit(X, np.column_stack([y, X[:, 1]]))
    display = PathDisplay.from_estimator(model)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:2] == ["target 0", "target 1"]
    assert len(set(display.chosen)) == len(display.ax_.get_lines()) - 2


def test_classifiers_and_the_front_door_are_drawn():
    classifier = KernelRidgeClassifier().fit(X, y > 0)
    assert PathDisplay.from_estimator(classifier).ax_.get_title() == "leave-one-out"
    front = KernelRegressor("gaussian").fit(X, y)
    display = PathDisplay.from_estimator(front)
    np.testing.assert_array_equal(display.chosen, front.machine_.solution_.alpha)


def test_plot_draws_again_elsewhere():
    display = PathDisplay.from_estimator(FeatureRidge().fit(X, y))
    _, ax = plt.subplots()
    assert display.plot(ax=ax, color="red").ax_ is ax
    assert ax.get_lines()[0].get_color() == "red"


def test_machines_without_candidates_are_refused():
    with pytest.raises(ValueError, match="alpha was given"):
        PathDisplay.from_estimator(FeatureRidge(alpha=1.0).fit(X, y))
    with pytest.raises(ValueError, match="Ridge has no candidates"):
        PathDisplay.from_estimator(Ridge().fit(X, y))
