"""Kernels of norms and angles: their coefficients, their series, and what is refused."""

import numpy as np
import pytest
from scipy import special

from mercer import (
    NNGP,
    NTK,
    ArcCosine,
    DotProduct,
    Exponential,
    Gaussian,
    GeneralizedZonal,
    Matern,
    OnColumns,
    Polynomial,
    PowerSeries,
    Zonal,
)
from mercer.kernels import zonal_coefficients
from mercer.kernels.radial import radial_series, truncated
from mercer.kernels.taylor import analytic_taylor, cosine_taylor, relu_taylor
from mercer.kernels.zonal_coefficients import by_angles, by_powers, stable_degree
from mercer.ops.angles import RELU, STEP, TANGENT
from mercer.ops.gegenbauer import legendre, log_harmonics

REFERENCE = {
    3: [0.9302519316, 1.1123495626, 0.5368378564, 0.1305085405, 0.0822881955],
    8: [0.7681128793, 1.0220212695, 0.6077146321, 0.1687484860, 0.1088474786],
    64: [0.6954108877, 0.9666481373, 0.6163960056, 0.1828211235, 0.1152067287],
}


@pytest.mark.parametrize("d", REFERENCE)
def test_coefficients_of_the_tangent_kernel(d):
    assert zonal_coefficients(NTK(2), d, 4) == pytest.approx(REFERENCE[d], abs=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3, 16, 17, 128, 10_000])
@pytest.mark.parametrize("z", [2.0, 30.0])
def test_coefficients_of_the_exponential_are_bessel_functions(d, z):
    found = zonal_coefficients(Exponential(), d, 40, radius=z**0.5)
    if d == 1:
        expected = np.pad([np.cosh(z), np.sinh(z)], (0, 39))
        assert found == pytest.approx(expected, rel=1e-12)
        return
    total = zonal_coefficients(Exponential(), d, 120, radius=z**0.5).sum()
    assert total == pytest.approx(np.exp(z), rel=1e-9)
    if d == 2:
        l = np.arange(41)
        assert found == pytest.approx(special.iv(l, z) * np.where(l, 2, 1), rel=1e-9, abs=1e-30)
    elif d < 200:
        l, nu = np.arange(41), d / 2 - 1
        logs = log_harmonics(d, 40) + special.gammaln(d / 2) + nu * np.log(2 / z)
        assert found == pytest.approx(np.exp(logs) * special.iv(l + nu, z), rel=1e-8, abs=1e-30)


@pytest.mark.parametrize("kernel", [NTK(1), NTK(3), NNGP(2), ArcCosine(0), ArcCosine(1)])
def test_both_methods_agree_where_both_are_stable(kernel):
    taylor = cosine_taylor(kernel, 1.0, 6000)
    difference = by_angles(kernel, 12, 20) - by_powers(taylor, 12, 20)
    assert abs(difference).max() < 1e-10


@pytest.mark.parametrize("d", [2, 3, 16, 17, 10_000])
@pytest.mark.parametrize("kernel", [NTK(3), NNGP(1), ArcCosine(0)])
def test_coefficients_are_finite_and_add_up(kernel, d):
    found = zonal_coefficients(kernel, d, 40)
    total = kernel.diag(np.eye(1))[0]
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert 0.7 * total < found.sum() <= total * (1 + 1e-9)
    assert zonal_coefficients(kernel, d, 80 if d < 17 else 40).sum() >= found.sum() - 1e-12


@pytest.mark.parametrize("d", [2, 3, 7])
def test_a_series_of_all_degrees_is_the_kernel(d):
    X = np.random.default_rng(0).standard_normal((6, d)) / d**0.5
    for kernel in (Gaussian(0.8), Exponential(1.3), Polynomial(3, 0.5), DotProduct(np.cosh, 5.0)):
        norms = np.linalg.norm(X, axis=1)
        series = radial_series(kernel, d, 40, 1e-3, norms)
        found = truncated(series)(X)
        assert abs(found - kernel(X)).max() < 1e-10 * abs(kernel(X)).max()


def test_powers_hold_the_weights_of_a_poisson_law():
    norms = np.asarray([0.5, 1.0, 2.0])
    series = radial_series(Gaussian(), 9, 6, 1e-3, norms)
    squares = np.square(series.table(norms, np))
    powers = np.asarray([l + 2 * i for l, i in series.pairs])
    for j in range(7):
        found = squares[:, powers == j].sum(axis=1)
        expected = np.exp(-(norms**2)) * norms ** (2 * j) / special.factorial(j)
        assert found == pytest.approx(expected, rel=1e-12)
    short = radial_series(Gaussian(), 9, None, 1e-2, norms)
    tails = special.gammainc(np.arange(1, 30)[:, None], norms**2).mean(axis=1)
    assert short.degree == np.flatnonzero(tails <= 1e-2)[0]


def test_taylor_coefficients_of_networks():
    z = 0.3 + 0.2j
    angle = np.arccos(z)
    step = 1 - angle / np.pi
    relu = (np.sqrt(1 - z) * np.sqrt(1 + z) + (np.pi - angle) * z) / np.pi
    for quantity, expected in ((STEP, step), (RELU, relu), (TANGENT, z * step + relu)):
        found = np.polynomial.polynomial.polyval(z, relu_taylor(1, quantity, 400))
        assert abs(found - expected) < 1e-13


def test_functions_that_are_not_analytic_have_no_taylor_series():
    assert analytic_taylor(np.abs, 1.0) is None
    assert analytic_taylor(lambda t: np.maximum(t, 0.0), 1.0) is None
    assert analytic_taylor(lambda t: 1 / (1.5 - t), 1.0)[:3] == pytest.approx(
        [1 / 1.5, 1 / 1.5**2, 1 / 1.5**3]
    )
    assert analytic_taylor(lambda t: 1 / (1.5 - t), 2.0) is None


def test_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="not positive definite on the sphere in 3 dimensions"):
        zonal_coefficients(Zonal(lambda t: t * t - 2 * t), 3, 4)
    # |t| is positive definite on no sphere in many dimensions, and on the circle it is not.
    with pytest.raises(ValueError, match="degree 4"):
        zonal_coefficients(Zonal(np.abs), 2, 8)
    with pytest.raises(ValueError, match="Taylor coefficients"):
        DotProduct(np.sin, 2.0).taylor(4)


def test_what_cannot_be_computed_is_refused():
    def rough(t):
        return np.maximum(t.real if np.isrealobj(t) else np.nan, -1) ** 2 * 1.0

    kernel = Zonal(rough)
    assert stable_degree(kernel, 12, 40) == 40
    stable = stable_degree(kernel, 1000, 40)
    assert 2 <= stable < 10
    assert zonal_coefficients(kernel, 1000, stable)[2] == pytest.approx(0.999, abs=1e-6)
    with pytest.raises(ValueError, match=f"up to degree {stable} only"):
        zonal_coefficients(kernel, 1000, 20)
    with pytest.raises(ValueError, match="fitted_to"):
        zonal_coefficients(Gaussian("median"), 3, 4)
    with pytest.raises(ValueError, match="reach"):
        DotProduct(lambda t: 1 / (1.5 - t), 2.0).taylor(3)
    with pytest.raises(ValueError, match="shape"):
        GeneralizedZonal(lambda l, r: r, degree=2, order=3)(np.eye(3))


def test_kernels_on_a_sphere_are_kernels_of_the_angle():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((7, 3))
    X *= 2 / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = np.clip(X @ X.T / 4, -1, 1)
    for kernel in (Gaussian(1.5), Polynomial(3), Matern(3.0, nu=2.5), PowerSeries((1.0, 0.5, 0.1))):
        found = zonal_coefficients(kernel, 3, 60, radius=2.0)
        total = sum(c * p for c, p in zip(found, legendre(cosines, 3, 60), strict=True))
        assert abs(total - kernel(X)).max() < 1e-4 * abs(kernel(X)).max()


def test_a_kernel_of_some_columns():
    X = np.random.default_rng(0).standard_normal((9, 4))
    kernel = OnColumns(Gaussian("median"), [3, 1]).fitted_to(X)
    expected = Gaussian("median").fitted_to(X[:, [3, 1]])
    assert kernel.kernel.lengthscale == expected.lengthscale
    assert np.allclose(kernel(X), expected(X[:, [3, 1]]), rtol=1e-14)
    for bad, word in (([4], "from 0 to 3"), ([], "list numbers"), ([0.5], "list numbers")):
        with pytest.raises(ValueError, match=word):
            OnColumns(Gaussian(), bad)(X)


@pytest.mark.parametrize(
    "kernel", [PowerSeries((0, 0, 0, 1.0)), DotProduct([0, 0, 0, 1.0]), Polynomial(3, coef0=0.0)]
)
def test_a_truncation_that_leaves_nothing_is_refused(kernel):
    with pytest.raises(ValueError, match=r"degree=2 leaves nothing.*use degree=3 or more"):
        radial_series(kernel, 3, 2, 1e-3, np.ones(4))
    assert radial_series(kernel, 3, 3, 1e-3, np.ones(4)).pairs


def test_series_without_coefficients_are_refused():
    for kernel in (PowerSeries(()), DotProduct([])):
        with pytest.raises(ValueError, match=r"at least one.*got"):
            kernel(np.eye(2))
    with pytest.raises(ValueError, match="leaves nothing"):
        radial_series(PowerSeries((0.0, 0.0)), 3, None, 1e-3, np.ones(4))
