"""Tests of pictures of weights."""

import sys

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from mercer import IRKMClassifier, IRKMRegressor, RFMRegressor
from mercer.diagnostics import WeightsDisplay

X = np.random.default_rng(0).standard_normal((80, 6))
y = X[:, 4] * X[:, 1]


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def irkm():
    return IRKMRegressor(n_iterations=4, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def rfm():
    return RFMRegressor(n_iterations=4, random_state=0).fit(X, y)


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def test_bars_are_the_largest_weights_from_the_top(irkm):
    display = WeightsDisplay.from_estimator(irkm, n_features=3)
    order = np.argsort(-irkm.feature_importances_)[:3]
    assert set(order[:2]) == {1, 4}
    assert labels(display.ax_.get_yticklabels()) == [f"x{k}" for k in order]
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_array_equal(widths, irkm.feature_importances_[order])
    low, high = display.ax_.get_ylim()
    assert low > high
    assert display.kind == "bars"
    assert display.figure_ is display.ax_.figure


def test_names_come_from_the_model_or_from_the_caller():
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = IRKMRegressor(n_iterations=2, random_state=0).fit(frame, y)
    display = WeightsDisplay.from_estimator(model, n_features=2)
    assert set(labels(display.ax_.get_yticklabels())) == {"b", "e"}
    own = ["one", "two", "three", "four", "five", "six"]
    display = WeightsDisplay.from_estimator(model, n_features=2, feature_names=own)
    assert set(labels(display.ax_.get_yticklabels())) == {"two", "five"}
    with pytest.raises(ValueError, match=r"each of the 6 columns, got 2"):
        WeightsDisplay.from_estimator(model, feature_names=["one", "two"])


def test_a_path_colours_the_largest_and_marks_what_was_kept(irkm):
    display = WeightsDisplay.from_estimator(irkm, kind="path", n_features=2)
    names = labels(display.ax_.get_legend().get_texts())
    assert set(names) == {"4 others", "x1", "x4", "kept"}
    lines = {line.get_label(): line for line in display.ax_.lines}
    np.testing.assert_array_equal(
        lines["x4"].get_ydata(), [step["importances"][4] for step in irkm.history_]
    )
    assert set(lines["kept"].get_xdata()) == {irkm.best_iteration_}
    assert lines["x4"].get_color() != lines["x1"].get_color() != "0.75"
    # 4 grey lines, 2 coloured ones and the mark.
    assert sum(line.get_color() == "0.75" for line in display.ax_.lines) == 4
    assert len(display.ax_.lines) == 7


def test_a_path_of_all_columns_has_no_others_and_nine_colours_at_most(irkm):
    display = WeightsDisplay.from_estimator(irkm, kind="path", n_features=None)
    assert len(display.ax_.lines) == 7
    assert not any("other" in line.get_label() for line in display.ax_.lines)
    shares = np.full(12, 1 / 12)
    display = WeightsDisplay(shares, kind="path", path=np.stack([shares, shares])).plot()
    colours = [line.get_color() for line in display.ax_.lines]
    assert colours.count("0.75") == 3
    assert len(set(colours)) == 10
    assert "kept" not in labels(display.ax_.get_legend().get_texts())


def test_eigenvalues_are_those_of_the_metric_on_a_logarithmic_scale(rfm):
    display = WeightsDisplay.from_estimator(rfm, kind="eigenvalues", n_features=4)
    drawn = display.ax_.lines[0].get_ydata()
    np.testing.assert_allclose(drawn, np.sort(np.linalg.eigvals(rfm.metric_).real)[::-1][:4])
    assert display.ax_.get_yscale() == "log"
    singular = WeightsDisplay(np.ones(2) / 2, kind="eigenvalues", metric=np.diag([2.0, 0.0])).plot()
    assert (singular.ax_.lines[0].get_ydata() > 0).all()


def test_the_matrix_shows_the_columns_of_largest_diagonal(rfm):
    display = WeightsDisplay.from_estimator(rfm, kind="matrix", n_features=2)
    order = np.argsort(-np.diag(rfm.metric_))[:2]
    assert labels(display.ax_.get_xticklabels()) == [f"x{k}" for k in order]
    image = display.ax_.images[0]
    np.testing.assert_array_equal(image.get_array(), rfm.metric_[np.ix_(order, order)])
    # Zero is in the middle of the colours.
    low, high = image.get_clim()
    assert low == -high
    # A colour bar beside it.
    assert len(display.figure_.axes) == 2


def test_kinds_that_do_not_fit_say_which_model_does(irkm):
    for kind in ("eigenvalues", "matrix"):
        with pytest.raises(ValueError, match=r"RFMRegressor and RFMClassifier learn one"):
            WeightsDisplay.from_estimator(irkm, kind=kind)
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    assert len(WeightsDisplay.from_estimator(forest).ax_.patches) == 6
    with pytest.raises(ValueError, match=r"IRKMRegressor, RFMRegressor"):
        WeightsDisplay.from_estimator(forest, kind="path")
    with pytest.raises(ValueError, match="Ridge has no feature_importances_"):
        WeightsDisplay.from_estimator(Ridge().fit(X, y))
    with pytest.raises(ValueError, match=r"kind must be one of .* got 'pie'"):
        WeightsDisplay.from_estimator(irkm, kind="pie")
    with pytest.raises(NotFittedError):
        WeightsDisplay.from_estimator(IRKMRegressor())
    for wrong in (0, 2.5, True):
        with pytest.raises(ValueError, match="n_features must be a whole number"):
            WeightsDisplay.from_estimator(irkm, n_features=wrong)
    # No figure is left behind by what was refused but that of the forest.
    assert len(plt.get_fignums()) == 1


def test_axes_and_options_of_the_caller_are_used(irkm):
    figure, (left, right) = plt.subplots(1, 2)
    display = WeightsDisplay.from_estimator(irkm, ax=left, color="black")
    assert display.ax_ is left
    assert display.figure_ is figure
    assert left.patches[0].get_facecolor() == (0.0, 0.0, 0.0, 1.0)
    assert display.plot(kind="path", ax=right, lw=5) is display
    assert display.kind == "path"
    assert display.ax_ is right
    # Six columns and the mark of the iteration that was kept.
    assert sorted(line.get_linewidth() for line in right.lines) == [1.0] + [5.0] * 6
    assert len(plt.get_fignums()) == 1


def test_classifiers_are_drawn_too():
    model = IRKMClassifier(n_iterations=2, random_state=0).fit(X, y > 0)
    for kind in ("bars", "path"):
        assert WeightsDisplay.from_estimator(model, kind=kind).kind == kind


def test_a_missing_matplotlib_is_answered_with_the_pip_line(irkm, monkeypatch):
    # What stands for a module that is not there.
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"WeightsDisplay needs matplotlib.* 'mercer\[plot\]'"):
        WeightsDisplay.from_estimator(irkm)
