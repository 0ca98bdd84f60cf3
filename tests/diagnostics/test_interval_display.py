"""Tests of pictures of the calibration of error bars."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.linear_model import Ridge

from mercer import FeatureRidge
from mercer.diagnostics import IntervalDisplay

generator = np.random.default_rng(0)
X = generator.standard_normal((4000, 4))
y = X @ [1.0, 2.0, 0.0, -1.0] + 0.5 * generator.standard_normal(4000)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def test_the_share_inside_is_counted():
    y, mean, std = np.array([0.0, 1.0, 2.0, 5.0]), np.zeros(4), np.ones(4)
    display = IntervalDisplay.from_predictions(y, mean, std)
    for level, share in zip(display.levels, display.observed, strict=True):
        half = norm.ppf((1 + level) / 2)
        assert share == np.mean(np.abs(y) <= half)
    line = display.ax_.get_lines()[1]
    np.testing.assert_array_equal(line.get_ydata(), display.observed)


def test_a_true_model_is_calibrated_and_others_are_not():
    model = FeatureRidge().fit(X[:500], y[:500])
    display = IntervalDisplay.from_estimator(model, X[500:], y[500:])
    # Of 3,500 rows the standard error is at most 0.0085.
    assert np.abs(display.observed - display.levels).max() < 5 * 0.0085
    mean, std = model.predict(X[500:], return_std=True)
    bold = IntervalDisplay.from_predictions(y[500:], mean, std / 2)
    assert bold.coverage(0.95) < 0.75
    assert IntervalDisplay.from_predictions(y[500:], mean, 2 * std).coverage(0.5) > 0.75


def test_the_band_is_that_of_counts():
    display = IntervalDisplay.from_predictions(y[:200], np.zeros(200), np.ones(200))
    low, high = display.expected_band()
    fewest, most = np.round(200 * low), np.round(200 * high)
    inside = binom.cdf(most, 200, display.levels) - binom.cdf(fewest - 1, 200, display.levels)
    assert (inside >= 0.95).all()
    assert (low <= display.levels).all()
    assert (display.levels <= high).all()


def test_certain_predictions_are_right_or_wrong():
    display = IntervalDisplay.from_predictions([1.0, 1.0], [1.0, 2.0], [0.0, 0.0])
    assert display.coverage(0.0) == display.coverage(0.99) == 0.5


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="Ridge has no error bars"):
        IntervalDisplay.from_estimator(Ridge().fit(X, y), X, y)
    with pytest.raises(ValueError, match="a number for each row, got 2, 1 and 1"):
        IntervalDisplay.from_predictions([1.0, 2.0], [1.0], [1.0])
    with pytest.raises(ValueError, match="not negative"):
        IntervalDisplay.from_predictions([1.0], [1.0], [-1.0])
    with pytest.raises(ValueError, match="level must be between"):
        IntervalDisplay.from_predictions([1.0], [1.0], [1.0]).coverage(95)


def test_plot_draws_again_elsewhere():
    display = IntervalDisplay.from_predictions(y, np.zeros(4000), np.ones(4000))
    _, ax = plt.subplots()
    assert display.plot(ax=ax, color="red").ax_ is ax
    assert ax.get_lines()[1].get_color() == "red"
