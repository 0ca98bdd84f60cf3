"""Tests of power series: Taylor coefficients, and fits without negative ones."""

import numpy as np
import pytest

from mercer import NTK, ArcCosine, Exponential, Polynomial, PowerSeries
from mercer.kernels.series import nonnegative_fit, profile
from mercer.kernels.taylor import relu_taylor
from mercer.ops.angles import TANGENT

#: Published to ten digits.
REFERENCE = {
    1: [0.3183098862, 1, 0.4774648293, 0, 0.0663145596, 0, 0.0278521150],
    2: [0.6857086363, 0.9581130643, 0.6155568722, 0.1839929316, 0.1146462740],
    3: [1.0603881068, 0.9125730774, 0.6650909266, 0.3018270854, 0.1894212533],
}


@pytest.mark.parametrize("depth", REFERENCE)
def test_taylor_coefficients_of_the_tangent_kernel(depth):
    reference = REFERENCE[depth]
    found = relu_taylor(depth, TANGENT, len(reference) - 1)
    assert found == pytest.approx(reference, abs=1e-10)
    many = relu_taylor(depth, TANGENT, 3000)
    assert (many > -1e-14).all()
    t = 0.7
    assert np.polyval(many[::-1], t) == pytest.approx(profile(NTK(depth), np.array([t]))[0])


@pytest.mark.parametrize(
    ("kernel", "degree", "largest"),
    [
        (ArcCosine(order=0), 8, 0.033),
        (ArcCosine(order=1), 8, 0.0004),
        (NTK(depth=1), 8, 0.031),
        (NTK(depth=3), 16, 0.13),
    ],
)
def test_fits_are_better_than_taylor_series(kernel, degree, largest):
    c = nonnegative_fit(kernel, degree)
    assert (c >= 0).all()
    t = np.cos(np.linspace(0, np.pi, 1001))
    error = abs(np.polyval(c[::-1], t) - profile(kernel, t))
    assert error.max() < largest
    if isinstance(kernel, NTK):
        taylor = np.polyval(relu_taylor(kernel.depth, TANGENT, degree)[::-1], t)
        assert error.max() < 0.5 * abs(taylor - profile(kernel, t)).max()


def test_series_of_kernels_sum_up_to_them():
    X = np.random.default_rng(0).standard_normal((6, 4)) / 2
    for kernel, degree in ((Exponential(1.3), 25), (Polynomial(degree=3, gamma=0.5), 3)):
        series = PowerSeries(tuple(kernel.taylor(degree)))
        assert series(X) == pytest.approx(kernel(X), rel=1e-12)
        assert series.diag(X) == pytest.approx(kernel.diag(X), rel=1e-12)


def test_negative_coefficients_are_refused():
    with pytest.raises(ValueError, match="none negative"):
        PowerSeries((1.0, -1.0))(np.eye(2))
