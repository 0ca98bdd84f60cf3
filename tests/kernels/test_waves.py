"""The kernel of rounded cosines against long sums of harmonics, integrals, and draws."""

import mpmath
import numpy as np
import pytest

from mercer import Gaussian, Laplace, Matern, WaveKernel
from mercer.ops.waves import RoundedCosine

LEVELS = (2, 3, 4)
FALLS = {
    "gaussian": (Gaussian(1.3), lambda t: np.exp(-t * t / 2)),
    "laplace": (Laplace(1.3), lambda t: np.exp(-t)),
    "matern": (Matern(nu=2.5, lengthscale=1.3), lambda t: (1 + t + t * t / 3) * np.exp(-t)),
}


@pytest.mark.parametrize("name", FALLS)
@pytest.mark.parametrize("levels", LEVELS)
def test_kernel_is_the_sum_of_its_harmonics(levels, name):
    kernel, fall = FALLS[name]
    distances = np.asarray([1e-3, 0.013, 0.2, 0.7, 1.9, 6.0, 11.0])
    k = np.arange(1.0, 300_001, 2)
    powers = RoundedCosine(levels).harmonics(k) ** 2
    root = 5**0.5 if name == "matern" else 1.0
    expected = [powers @ fall(root * k * d / 1.3) for d in distances]
    found = WaveKernel(kernel, levels)(np.zeros((1, 3)), distances[:, None] * np.eye(1, 3))[0]
    assert found == pytest.approx(expected, abs=1e-11)


def test_kernel_of_rows_that_almost_coincide():
    """Near 0 the kernel of signs is 1 - 2 E|u| / π of normal u, times π² / 8."""
    distances = np.asarray([1e-9, 1e-6, 1e-3])
    found = WaveKernel(Gaussian(), 2)(np.zeros((1, 1)), distances[:, None])[0]
    slope = 2 / np.pi * np.sqrt(2 / np.pi)
    assert found == pytest.approx(np.pi**2 / 8 * (1 - slope * distances), abs=1e-12)
    same = WaveKernel(Gaussian(), 2)(np.ones((2, 3)))
    assert same == pytest.approx(np.full((2, 2), np.pi**2 / 8), rel=1e-15)


@pytest.mark.parametrize("levels", LEVELS)
def test_kernel_is_the_mean_over_shifts_and_normal_frequencies(levels):
    cosine = RoundedCosine(levels)
    # The product's mean over shifts is linear in the difference u of two phases between
    # multiples of 10 degrees, where all jumps are.
    n = 3600
    shifts = 2 * np.pi * (np.arange(n) + 0.5) / n
    knots = np.arange(37) * np.pi / 18
    at_knots = [np.mean(cosine.of(shifts).astype(float) * cosine.of(shifts + u)) for u in knots]
    at_knots = np.asarray(at_knots) * cosine.scale**2

    def mean_product(u):
        return float(np.interp(float(u) % (2 * np.pi), knots, at_knots))

    for distance in (0.3, 1.4):
        places = [k * np.pi / 18 for k in range(round(9 * distance * 18 / np.pi) + 1)]
        expected = 2 * mpmath.quad(
            lambda u, d=distance: mpmath.npdf(u / d) / d * mean_product(u), places, maxdegree=3
        )
        found = WaveKernel(Gaussian(), levels)(np.zeros((1, 2)), np.asarray([[0.0, distance]]))
        assert found[0, 0] == pytest.approx(float(expected), abs=1e-9)


def test_far_rows_have_the_target_kernel():
    X = 3 * np.random.default_rng(0).standard_normal((20, 30))
    target = Gaussian(8.0)
    for levels, largest in ((3, 1e-9), (4, 1e-9), (2, 1e-3)):
        difference = WaveKernel(target, levels)(X) - target(X)
        assert np.max(abs(difference[~np.eye(20, dtype=bool)])) < largest
        assert np.diag(difference) == pytest.approx(RoundedCosine(levels).excess)


def test_a_lengthscale_is_taken_from_the_data():
    X = np.random.default_rng(0).standard_normal((20, 3))
    fitted = WaveKernel(Gaussian("median")).fitted_to(X)
    assert fitted.kernel.lengthscale == Gaussian("median").fitted_to(X).lengthscale
    assert fitted.levels == 4
