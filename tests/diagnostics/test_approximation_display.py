"""Tests of pictures of the approximation error."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

from mercer import FeatureRidge, Gaussian, RandomFourier, approximation_error
from mercer.diagnostics import ApproximationDisplay

X = np.random.default_rng(0).standard_normal((90, 3))


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def features():
    return RandomFourier(Gaussian(2.0), n_components=32, random_state=0).fit(X)


def test_entries_are_those_of_both_matrices(features):
    display = ApproximationDisplay.from_estimator(features, X)
    Z = features.transform(X)
    rows, columns = np.triu_indices(90)
    step = len(rows) // 2000
    expected = Gaussian(2.0)(X)[rows, columns][::step]
    np.testing.assert_allclose(display.exact, expected, atol=1e-12)
    found = (Z @ Z.T)[rows, columns][::step]
    np.testing.assert_allclose(display.approximate, found, atol=1e-12)
    points, line = display.ax_.get_lines()
    np.testing.assert_array_equal(points.get_xdata(), display.exact)
    np.testing.assert_array_equal(line.get_xdata(), line.get_ydata())
    error = approximation_error(features, X)
    assert display.errors == [error]
    assert display.ax_.get_title() == f"RandomFourier: relative error {error.relative:.3g}"


def test_the_error_by_size_is_that_of_maps_of_each_size(features):
    display = ApproximationDisplay.from_estimator(features, X, dims=[64, 16], n_rows=60)
    assert display.sizes.tolist() == [16, 64]
    for size, error in zip(display.sizes, display.errors, strict=True):
        own = RandomFourier(Gaussian(2.0), n_components=size, random_state=0).fit(X)
        assert error == approximation_error(own, X, n_rows=60)
    assert features.n_components == 32
    points = display.ax_.containers[0].lines[0]
    np.testing.assert_array_equal(points.get_ydata(), [e.relative for e in display.errors])
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    ends = display.ax_.containers[0].lines[2][0].get_segments()
    error = display.errors[0]
    np.testing.assert_allclose(ends[0][:, 1], [error.low, error.high], rtol=1e-9)


def test_machines_and_maps_of_others_are_drawn(features):
    model = FeatureRidge(features).fit(X, X[:, 0])
    inside = ApproximationDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(
        inside.exact, ApproximationDisplay.from_estimator(features, X).exact
    )
    theirs = RBFSampler(gamma=0.125, random_state=0).fit(X)
    np.testing.assert_allclose(
        ApproximationDisplay.from_estimator(theirs, X).exact, inside.exact, atol=1e-12
    )
    scaled = StandardScaler().fit(X)
    display = ApproximationDisplay.from_estimator(scaled, X, kernel=lambda A, B: A @ B.T)
    assert display.errors[0].relative > 0


def test_plot_draws_again_elsewhere(features):
    display = ApproximationDisplay.from_estimator(features, X)
    _, ax = plt.subplots()
    assert display.plot(ax=ax, color="red") is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_lines()[0].get_color() == "red"


def test_bad_input_is_refused(features):
    with pytest.raises(NotFittedError):
        ApproximationDisplay.from_estimator(RandomFourier(), X)
    with pytest.raises(ValueError, match="has no features"):
        ApproximationDisplay.from_estimator(FeatureRidge().fit(X, X[:, 0]), X)
    with pytest.raises(ValueError, match="no n_components to vary"):
        ApproximationDisplay.from_estimator(StandardScaler().fit(X), X, dims=[3])
    with pytest.raises(ValueError, match="dims must hold positive integers"):
        ApproximationDisplay.from_estimator(features, X, dims=[])
