"""Moments of kernels against those of the activations whose kernels they are."""

import numpy as np
import pytest

from mercer import (
    NNGP,
    NTK,
    ArcCosine,
    DotProduct,
    Exponential,
    FunctionKernel,
    Gaussian,
    GeneralizedZonal,
    Laplace,
    Matern,
    OnColumns,
    Polynomial,
    ProductLaplace,
    Ternary,
    Zonal,
)
from mercer.kernels import kernel_moments
from mercer.ops.gaussian_moments import gaussian_moments


def as_list(moments):
    return [moments.d0, moments.d1, moments.d2]


@pytest.mark.parametrize("tau", [0.01, 1.0, 3.0])
@pytest.mark.parametrize(
    ("kernel", "activation", "scale"),
    [
        (Gaussian(), "fourier", 1.0),
        (ArcCosine(1), "relu", 2.0),
        (ArcCosine(0), "step", 2.0),
        (NNGP(1), "relu", 2.0),
        (0.3 * ArcCosine(1), "relu", 0.6),
        (Zonal(lambda t: np.arcsin(t) / (np.pi / 2)), "sign", 1.0),
    ],
    ids=lambda value: repr(value).split(" at ")[0],
)
def test_kernels_of_random_features_have_the_moments_of_their_activation(
    kernel, activation, scale, tau
):
    found = np.asarray(as_list(kernel_moments(kernel, tau)))
    expected = scale * np.asarray(as_list(gaussian_moments(activation, tau)))
    sizes = np.asarray([1.0, 1 / tau, 1 / tau**2]) * kernel.diag(np.asarray([[tau**0.5]]))[0]
    assert (abs(found - expected) <= 1e-11 * sizes).all()
    assert (found[1:] != 0).tolist() == (expected[1:] != 0).tolist()


def test_kernels_of_distances():
    # F = f(a + b - 2c): F_c = -2 f', F_cc = 4 f'', at the squared distance 2 τ.
    tau, lengthscale = 1.3, 0.8
    r = np.sqrt(2 * tau)
    value = np.exp(-r / lengthscale)
    first = -value / (2 * lengthscale * r)
    second = value / (4 * lengthscale * r**2) * (1 / lengthscale + 1 / r)
    expected = [1 - value + 2 * tau * first, -2 * first, second]
    for kernel in (Laplace(lengthscale), Matern(lengthscale, nu=0.5)):
        assert as_list(kernel_moments(kernel, tau)) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("lengthscale", [0.25, 0.5, 1.0, 10.0])
def test_lengthscales_are_a_change_of_units(lengthscale):
    found = kernel_moments(Gaussian(lengthscale), 2.0)
    tau = 2.0 / lengthscale**2
    expected = gaussian_moments("fourier", tau)
    assert found.d1 * lengthscale**2 == pytest.approx(expected.d1, rel=1e-8)
    if lengthscale < 10:
        assert found.d2 * lengthscale**4 == pytest.approx(expected.d2, rel=1e-8)
    assert found.d0 == pytest.approx(expected.d0, abs=1e-9)


def test_kernels_of_inner_products():
    tau = 0.7
    found = kernel_moments(Polynomial(degree=3, gamma=0.5, coef0=2.0), tau)
    d1, d2 = 3 * 0.5 * 2.0**2, 6 * 0.25 * 2.0 / 4
    expected = [(0.5 * tau + 2) ** 3 - 8 - tau * d1, d1, d2]
    assert as_list(found) == pytest.approx(expected, rel=1e-8)
    found = kernel_moments(Exponential(2.0), tau)
    assert as_list(found) == pytest.approx(
        [np.exp(tau / 4) - 1 - tau / 4, 1 / 4, 1 / 64], rel=1e-8, abs=1e-9
    )
    linear = kernel_moments(DotProduct([1.0, 2.0]), tau)
    assert as_list(linear) == pytest.approx([0.0, 2.0, 0.0], abs=1e-9)


def test_the_tangent_kernel_by_differences():
    tau, step = 2.0, 1e-3
    kernel = NTK(2)

    def at(c):
        x, y = np.asarray([tau**0.5, 0.0]), np.asarray([c, np.sqrt(tau**2 - c**2)]) / tau**0.5
        return kernel(x, y)

    found = kernel_moments(kernel, tau)
    assert found.d1 == pytest.approx((at(step) - at(-step)) / (2 * step), rel=1e-5)
    second = (at(step) - 2 * at(0.0) + at(-step)) / step**2
    assert found.d2 == pytest.approx(second / 4, rel=1e-5)
    assert found.d0 == pytest.approx(at(tau) - at(0.0) - tau * found.d1, abs=1e-12)


@pytest.mark.parametrize(
    ("kernel", "ratio"),
    [
        (Gaussian(), 1.0),
        (Laplace(), 1.0),
        (ArcCosine(1), 1.0),
        (Ternary(0.3, 1.1), 1.0),
        (Exponential(), 0.0),
        (NTK(1), 1 / 3),
    ],
    ids=repr,
)
def test_which_kernels_have_one_number_for_norms_and_inner_products(kernel, ratio):
    tau, step = 1.4, 1e-3

    def at(a, b):
        return kernel(np.asarray([a**0.5, 0.0]), np.asarray([0.0, b**0.5]))

    up, down = tau + step, tau - step
    mixed = (at(up, up) - at(up, down) - at(down, up) + at(down, down)) / (4 * step**2)
    assert mixed == pytest.approx(ratio * kernel_moments(kernel, tau).d2, rel=1e-5, abs=1e-9)


def powers(l, norms):
    return 0.5**l * norms ** (l + 1)


def test_a_kernel_that_depends_on_the_dimension():
    # Degrees 0, 1 and 2 with P_2 = (d t² - 1) / (d - 1).
    tau, d = 1.5, 5
    found = kernel_moments(GeneralizedZonal(powers, degree=2), tau, n_features=d)
    sizes = [powers(l, tau**0.5) ** 2 for l in range(3)]
    second = sizes[2] * 2 * d / (d - 1) / tau**2
    expected = [sizes[2] * d / (d - 1), sizes[1] / tau, second / 4]
    assert as_list(found) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    "kernel",
    [
        ProductLaplace(),
        OnColumns(Gaussian(), [0]),
        Gaussian() + 0.1 * OnColumns(Gaussian(), [2]),
        GeneralizedZonal(powers, center=np.full(8, 0.1)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_kernels_that_rotations_change_are_refused(kernel):
    with pytest.raises(ValueError, match="not a function of norms and inner products"):
        kernel_moments(kernel, 1.0)


def test_what_has_no_moments_is_refused():
    with pytest.raises(ValueError, match="fitted_to"):
        kernel_moments(Gaussian("median"), 1.0)
    with pytest.raises(ValueError, match="tau must be positive"):
        kernel_moments(Gaussian(), 0.0)
    with pytest.raises(ValueError, match="n_features"):
        kernel_moments(Gaussian(), 1.0, n_features=1)
    with pytest.raises(ValueError, match="not smooth"):
        kernel_moments(Zonal(np.abs), 1.0)
    with pytest.raises(ValueError, match="not positive definite"):
        kernel_moments(Zonal(lambda t: 1 - t), 1.0)
    with pytest.raises(ValueError, match="not positive definite"):
        kernel_moments(Zonal(lambda t: 1 - t * t), 1.0)


def test_a_function_of_one_s_own():
    kernel = FunctionKernel(lambda X, Y: np.exp(X @ Y.T))
    assert kernel_moments(kernel, 1.0).d1 == pytest.approx(1.0, rel=1e-9)
