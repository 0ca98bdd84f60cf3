"""Gaussian moments against 30-digit integrals with the derivatives written out."""

import mpmath
import numpy as np
import pytest

from mercer.ops.gaussian_moments import GaussianMoments, gaussian_moments
from mercer.ops.quadrature import normal_quadrature

#: Activation, first and second derivative away from 0, jump at 0 and jump of the slope at 0.
SMOOTH_PARTS = {
    "identity": (lambda t: t, lambda t: 1, lambda t: 0, 0, 0),
    "abs": (abs, lambda t: mpmath.sign(t), lambda t: 0, 0, 2),
    "relu": (lambda t: max(t, 0), lambda t: int(t > 0), lambda t: 0, 0, 1),
    "sign": (lambda t: mpmath.sign(t), lambda t: 0, lambda t: 0, 2, 0),
    "step": (lambda t: int(t > 0), lambda t: 0, lambda t: 0, 1, 0),
    "gaussian": (
        lambda t: mpmath.exp(-t * t / 2),
        lambda t: -t * mpmath.exp(-t * t / 2),
        lambda t: (t * t - 1) * mpmath.exp(-t * t / 2),
        0,
        0,
    ),
    "exp": (mpmath.exp, mpmath.exp, mpmath.exp, 0, 0),
    "cos": (mpmath.cos, lambda t: -mpmath.sin(t), lambda t: -mpmath.cos(t), 0, 0),
    "sin": (mpmath.sin, mpmath.cos, lambda t: -mpmath.sin(t), 0, 0),
    "leaky_relu": (
        lambda t: 0.7 * t if t > 0 else -0.2 * t,
        lambda t: 0.7 if t > 0 else -0.2,
        lambda t: 0,
        0,
        0.9,
    ),
    "quadratic": (lambda t: 1.5 * t * t - 0.5 * t, lambda t: 3 * t - 0.5, lambda t: 3, 0, 0),
}
COEFFICIENTS = {"leaky_relu": (0.7, -0.2), "quadratic": (1.5, -0.5)}


def by_definition(name, tau):
    """Return the moments by E σ' and E σ'' themselves, with their point masses at 0."""
    function, slope, bend, jump, kink = SMOOTH_PARTS[name]
    with mpmath.workdps(30):
        tau = mpmath.mpf(tau)
        at_zero = 1 / mpmath.sqrt(2 * mpmath.pi * tau)

        def mean(f):
            end = 14 * mpmath.sqrt(tau) + 2 * tau
            density = lambda t: mpmath.exp(-t * t / (2 * tau)) * at_zero  # noqa: E731
            places = [-end, -end / 4, 0, end / 4, end]
            return mpmath.quad(lambda t: f(t) * density(t), places)

        # A jump is a point mass of σ', and the derivative of one in σ'': the density is even.
        first = mean(slope) + jump * at_zero
        second = mean(bend) + kink * at_zero
        variance = mean(lambda t: function(t) ** 2) - mean(function) ** 2
        return [float(x) for x in (variance - tau * first**2, first**2, second**2 / 4)]


def as_list(moments):
    return [moments.d0, moments.d1, moments.d2]


@pytest.mark.parametrize("tau", [0.3, 1.7])
@pytest.mark.parametrize("name", SMOOTH_PARTS)
def test_closed_forms_are_the_definition(name, tau):
    found = gaussian_moments(name, tau, coefficients=COEFFICIENTS.get(name))
    assert as_list(found) == pytest.approx(by_definition(name, tau), rel=1e-12, abs=1e-14)


ACTIVATIONS = {
    "identity": lambda t: t,
    "abs": np.abs,
    "relu": lambda t: np.maximum(t, 0),
    "sign": np.sign,
    "step": lambda t: t > 0,
    "gaussian": lambda t: np.exp(-t * t / 2),
    "exp": np.exp,
    "cos": np.cos,
    "sin": np.sin,
}


@pytest.mark.parametrize("tau", [1e-4, 1.0, 30.0])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_quadrature_is_the_closed_form(name, tau):
    found, expected = gaussian_moments(ACTIVATIONS[name], tau), gaussian_moments(name, tau)
    assert as_list(found) == pytest.approx(as_list(expected), rel=1e-10, abs=1e-12)


def test_features_side_by_side_add():
    for tau in (1e-3, 0.8, 9.0):
        total = gaussian_moments("cos", tau) + gaussian_moments("sin", tau)
        expected = as_list(gaussian_moments("fourier", tau))
        assert as_list(total) == pytest.approx(expected, rel=1e-9)
    assert gaussian_moments("cos", 1e-6).d0 == pytest.approx(5e-13, rel=1e-5)
    assert gaussian_moments("sin", 1e-6).d0 == pytest.approx(1e-18 / 6, rel=1e-5)


@pytest.mark.parametrize("named", [True, False])
def test_jumps_anywhere_are_found(named):
    lower, upper, tau = -0.4, 0.9, 1.7
    moments = gaussian_moments(
        lambda t: np.where(t > upper, 1.0, 0.0) - np.where(t < lower, 1.0, 0.0),
        tau,
        breakpoints=[lower, upper] if named else None,
    )
    # The printed equations of the literature give .2102, .2375 and 1.23e-3.
    assert as_list(moments) == pytest.approx([0.1234, 0.2841, 8.69e-4], rel=6e-4)
    with mpmath.workdps(30):
        ends = [mpmath.exp(-(mpmath.mpf(s) ** 2) / (2 * mpmath.mpf(tau))) for s in (lower, upper)]
        first = (ends[0] + ends[1]) ** 2 / (2 * mpmath.pi * tau)
        second = (lower * ends[0] + upper * ends[1]) ** 2 / (8 * mpmath.pi * tau**3)
    assert moments.d1 == pytest.approx(float(first), rel=1e-11)
    assert moments.d2 == pytest.approx(float(second), rel=1e-10)


def test_many_irregular_jumps_are_found():
    places = np.sort(np.random.default_rng(0).uniform(-3, 3, 20))
    found = gaussian_moments(lambda t: np.searchsorted(places, t), 1.0)
    density = np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi)
    assert found.d1 == pytest.approx(density.sum() ** 2, rel=1e-10)
    assert found.d2 == pytest.approx((places @ density) ** 2 / 4, rel=1e-10)


def test_a_singularity_that_can_be_integrated_is_integrated():
    _, weights, values = normal_quadrature(lambda z: np.log(abs(z)))
    expected = -(np.euler_gamma + np.log(2)) / 2
    assert weights @ values == pytest.approx(expected, rel=1e-12)


def test_a_constant_has_no_moments():
    moments = gaussian_moments(lambda t: 3.0, 2.0)
    assert as_list(moments) == pytest.approx([0, 0, 0], abs=1e-13)
    assert gaussian_moments("identity", 2.0) == GaussianMoments(0.0, 1.0, 0.0)


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan, np.inf])
def test_a_variance_that_is_none_is_refused(tau):
    for activation in ("relu", np.sin):
        with pytest.raises(ValueError, match="tau must be positive"):
            gaussian_moments(activation, tau)


def test_what_has_no_moments_is_refused():
    with pytest.raises(ValueError, match="grows too fast"):
        gaussian_moments(lambda t: np.exp(t * t / 4), 1.0)
    with pytest.raises(ValueError, match="finite"):
        gaussian_moments(lambda t: np.exp(t**4), 1.0)
    with pytest.raises(ValueError, match=r"finite|do not converge"):
        gaussian_moments(lambda t: 1 / abs(t - 0.1), 1.0)
    with pytest.raises(ValueError, match="do not converge"):
        gaussian_moments(lambda t: np.sin(1e7 * t), 1.0)
    with pytest.raises(ValueError, match="shape"):
        gaussian_moments(lambda t: t[:3], 1.0)
    with pytest.raises(ValueError, match="scale the rows down"):
        gaussian_moments("exp", 1e4)


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one of abs, cos"):
        gaussian_moments("tanh", 1.0)
    with pytest.raises(ValueError, match="two numbers"):
        gaussian_moments("relu", 1.0, coefficients=(1.0, 0.0))
    with pytest.raises(ValueError, match="two numbers"):
        gaussian_moments("quadratic", 1.0, coefficients=(1.0,))
    with pytest.raises(ValueError, match="coefficients"):
        gaussian_moments(np.sin, 1.0, coefficients=(1.0, 1.0))
    with pytest.raises(ValueError, match="breakpoints"):
        gaussian_moments("relu", 1.0, breakpoints=[0.0])
