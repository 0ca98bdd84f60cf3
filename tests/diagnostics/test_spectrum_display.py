"""Tests of pictures of spectra."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer import FeatureRidge, Gaussian, KernelRidge, RandomFourier
from mercer.diagnostics import SpectrumDisplay, statistical_dimension
from mercer.diagnostics.spectrum_display import dimensions, ridge_grid

X = np.random.default_rng(0).standard_normal((70, 3))


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def test_eigenvalues_are_those_of_the_matrix():
    display = SpectrumDisplay.from_estimator(Gaussian(1.5), X)
    expected = np.linalg.eigvalsh(Gaussian(1.5)(X))[::-1] / 70
    np.testing.assert_allclose(display.eigenvalues, expected, atol=1e-12)
    line = display.ax_.get_lines()[0]
    np.testing.assert_array_equal(line.get_ydata(), display.eigenvalues)
    assert line.get_label() == "Gaussian"


def test_the_dimension_is_the_statistical_one():
    display = SpectrumDisplay.from_estimator(Gaussian(1.5), X, kind="dimension", alpha=0.7)
    curve, mark = display.ax_.get_lines()
    for alpha, size in list(zip(curve.get_xdata(), curve.get_ydata(), strict=True))[::9]:
        expected = statistical_dimension(Gaussian(1.5), X, alpha=70 * alpha).value
        assert size == pytest.approx(expected, rel=1e-6)
    assert mark.get_xdata()[0] == pytest.approx(0.01)


def test_the_kernel_of_any_kind_is_drawn():
    exact = SpectrumDisplay.from_estimator(Gaussian(1.0), X).eigenvalues
    function = SpectrumDisplay.from_estimator(lambda A, B: rbf_kernel(A, B, gamma=0.5), X)
    np.testing.assert_allclose(function.eigenvalues, exact, atol=1e-12)
    model = KernelRidge(Gaussian(1.0), alpha=7.0).fit(X, X[:, 0])
    display = SpectrumDisplay.from_estimator(model, X)
    np.testing.assert_allclose(display.eigenvalues, exact, atol=1e-12)
    assert display.alpha == pytest.approx(0.1)
    features = RandomFourier(Gaussian(1.0), n_components=8, random_state=0).fit(X)
    Z = features.transform(X)
    expected = np.linalg.eigvalsh(Z.T @ Z)[::-1] / 70
    for given in (features, FeatureRidge(features).fit(X, X[:, 0])):
        found = SpectrumDisplay.from_estimator(given, X).eigenvalues
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_of_many_rows_some_are_drawn():
    display = SpectrumDisplay.from_estimator(Gaussian(1.0), X, n_rows=20, alpha=7.0)
    assert len(display.eigenvalues) == 20
    assert display.eigenvalues.sum() == pytest.approx(1.0)
    # The ridge parameter is that of all rows.
    assert display.alpha == pytest.approx(0.1)


def test_dimensions_are_sums_over_eigenvalues():
    values = np.array([3.0, 1.0, 0.0])
    found = dimensions(values, np.array([1.0, 3.0]))
    np.testing.assert_allclose(found, [3 / 4 + 1 / 2, 1 / 2 + 1 / 4])
    assert ridge_grid(values)[-1] == pytest.approx(3.0)


def test_plot_draws_again_as_another_kind():
    display = SpectrumDisplay.from_estimator(Gaussian(1.0), X)
    _, ax = plt.subplots()
    assert display.plot(kind="dimension", ax=ax, color="red").ax_ is ax
    assert (display.kind, ax.get_lines()[0].get_color()) == ("dimension", "red")
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(kind="bars")
