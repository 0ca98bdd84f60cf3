"""Thresholds against quadrature, the published numbers, and all moments there are."""

import math

import array_api_strict
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mercer.ops.gaussian_moments import gaussian_moments
from mercer.ops.ternary_thresholds import ODD_BEST, TernaryActivation, matched_activation


def value(activation, t):
    """Return the activation of one number, by its definition."""
    if activation.even:
        return activation.scale * (int(t > activation.upper) + int(t < activation.lower))
    return activation.scale * (int(t > activation.upper) - int(t < activation.lower))


ACTIVATIONS = [
    TernaryActivation(-0.4, 0.9),
    TernaryActivation(0.3, 1.9, 2.5),
    TernaryActivation(0.6, 0.6, 0.7),
    TernaryActivation(-1.1, 1.1, 1.3, even=True),
    TernaryActivation(-2.0, 0.7, 0.4, even=True),
    TernaryActivation(0.5, 1.0, even=True),
]


@pytest.mark.parametrize("tau", [0.4, 1.7])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_moments_are_those_of_quadrature(activation, tau):
    found = activation.moments(tau)
    expected = gaussian_moments(
        lambda t: np.asarray([value(activation, x) for x in t]),
        tau,
        breakpoints=[activation.lower, activation.upper],
    )
    assert found.d0 == pytest.approx(expected.d0, rel=1e-11)
    assert found.d1 == pytest.approx(expected.d1, rel=1e-11, abs=1e-20)
    assert found.d2 == pytest.approx(expected.d2, rel=1e-11)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_trits_are_the_values_without_their_scale(activation):
    t = np.random.default_rng(0).standard_normal((7, 40))
    found = activation.trits(t)
    expected = [[round(value(activation, x) / activation.scale) for x in row] for row in t]
    assert found.dtype == np.int8
    assert np.array_equal(found, expected)
    other = activation.trits(array_api_strict.asarray(t))
    assert other.dtype == array_api_strict.int8
    assert np.array_equal(np.asarray(other), expected)
    assert set(np.unique(found)) <= ({0, 1} if activation.even else {-1, 0, 1})
    assert activation.bits == len(np.unique(found)) - 1


def test_a_sign_is_never_zero():
    sign = TernaryActivation(0.0, 0.0)
    assert sign.trits(np.asarray([-1.0, 0.0, 1.0])).tolist() == [-1, -1, 1]
    found, expected = sign.moments(1.7), gaussian_moments("sign", 1.7)
    assert found.d0 == pytest.approx(expected.d0)
    assert found.d1 == pytest.approx(expected.d1)
    assert found.d2 == 0


@pytest.mark.parametrize(
    ("name", "bits", "lower", "upper", "scale", "d0"),
    [
        ("relu", 2, 0.5348, 1.4605, 1.0349, 0.1538),
        ("fourier", 2, 0.7747, 1.6301, 1.5119, 0.3191),
        ("relu", 1, 0.7979, 0.7979, 0.8615, 0.2470),
        ("fourier", 1, 1.0, 1.0, 1.2533, 0.4708),
    ],
)
def test_known_solutions(name, bits, lower, upper, scale, d0):
    target = gaussian_moments(name, 1.0)
    found = matched_activation(target.d1, target.d2, 1.0, bits=bits)
    if name == "fourier" and bits == 1:
        # exp(1/2) / 2 √(2π d1), which is √(π/2).
        assert found.scale == pytest.approx(math.sqrt(math.pi / 2), rel=1e-12)
    actual = (found.lower, found.upper, found.scale)
    assert actual == pytest.approx((lower, upper, scale), abs=5e-4)
    assert found.bits == bits
    assert found.moments(1.0).d0 == pytest.approx(d0, abs=5e-4)


@pytest.mark.parametrize("bits", [1, 2])
@pytest.mark.parametrize("tau", [0.02, 50.0])
def test_thresholds_of_relu_scale_with_the_rows(bits, tau):
    one, other = (gaussian_moments("relu", t) for t in (1.0, tau))
    unit = matched_activation(one.d1, one.d2, 1.0, bits)
    found = matched_activation(other.d1, other.d2, tau, bits)
    numbers = (unit.lower, unit.upper, unit.scale)
    assert (found.lower, found.upper, found.scale) == pytest.approx(
        tuple(math.sqrt(tau) * x for x in numbers), rel=1e-6
    )


MOMENTS = st.one_of(st.just(0.0), st.floats(-9, 9).map(lambda power: 10.0**power))


def assert_solved(activation, d1, d2, tau):
    """Raise an error unless moments are met, up to the rounding of the thresholds."""
    found = activation.moments(tau)
    # A moment far below the other is a difference of numbers of the size of the other.
    assert abs(found.d1 - d1) <= 1e-9 * d1 + 1e-13 * math.sqrt(d1 * tau * d2) + 1e-28 * tau * d2
    assert abs(found.d2 - d2) <= 1e-9 * d2 + 1e-13 * math.sqrt(d2 * d1 / tau) + 1e-28 * d1 / tau
    assert found.d0 >= 0
    assert activation.scale > 0


@given(
    MOMENTS,
    MOMENTS,
    st.floats(-3, 3).map(lambda power: 10.0**power),
    st.sampled_from([1, 2]),
    st.one_of(st.none(), st.floats(0.01, 5.0)),
)
@example(0.0, 0.25, 1.0, 2, None)
@example(1.0, 0.0, 1.0, 2, 1.0)
@example(1.0, 1e-12, 1.0, 2, 1.7)
@example(1.0, 0.5625, 1.0, 2, None)
@example(1.0, 50.0, 1.0, 1, None)
def test_all_moments_that_are_not_both_zero_are_met(d1, d2, tau, bits, spread):
    if d1 + d2 == 0:
        with pytest.raises(ValueError, match="not both zero"):
            matched_activation(d1, d2, tau, bits, spread)
        return
    found = matched_activation(d1, d2, tau, bits, spread)
    assert_solved(found, d1, d2, tau)
    assert found.bits <= bits
    if spread is not None and (bits == 2 or found.even):
        assert found.upper - found.lower == pytest.approx(2 * math.sqrt(tau) * spread)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.8, 1.2, 1.5, 1.7, 2.5, 6.0, math.inf])
def test_no_other_solution_has_a_smaller_d0(ratio):
    d1, d2 = (0.0, 0.25) if math.isinf(ratio) else (1.0, ratio**2 / 4)
    best = matched_activation(d1, d2, 1.0)
    d0 = best.moments(1.0).d0
    assert best.even == (ratio > 1.58)
    # All pairs of thresholds whose moments have the ratio, by signs that change on a grid.
    middles = np.linspace(0.0, 12.0, 6001)
    for even in (False, True):
        sign = -1 if even else 1
        for delta in np.linspace(0.05, 3.0, 60):
            high, low = middles + delta, middles - delta
            above, below = np.exp(-(high**2) / 2), sign * np.exp(-(low**2) / 2)
            slope, bend = above + below, high * above + low * below
            difference = slope if math.isinf(ratio) else abs(bend) - ratio * abs(slope)
            changes = np.flatnonzero(difference[1:] * difference[:-1] < 0)
            for i in changes:
                share = difference[i] / (difference[i] - difference[i + 1])
                m = middles[i] + share * (middles[i + 1] - middles[i])
                rival = TernaryActivation(m - delta, m + delta, 1.0, even).moments(1.0)
                size = rival.d1 + rival.d2
                if size > 1e-12:
                    assert rival.d0 * (d1 + d2) / size >= d0 * (1 - 1e-4)


def test_even_targets_get_symmetric_thresholds():
    target = gaussian_moments("abs", 2.0)
    found = matched_activation(target.d1, target.d2, 2.0)
    assert found.even
    assert found.lower == -found.upper
    s, tau = found.upper, 2.0
    density = math.exp(-s * s / (2 * tau)) / math.sqrt(2 * math.pi * tau)
    assert (found.scale * s * density / tau) ** 2 == pytest.approx(target.d2, rel=1e-12)
    assert matched_activation(target.d1, target.d2, 2.0, bits=1) == found


def test_one_bit_is_the_limit_of_two_close_thresholds():
    for ratio in (0.2, 1.0, ODD_BEST):
        d1, d2 = 0.3, 0.3 * ratio**2 / 4
        one = matched_activation(d1, d2, 1.0, bits=1)
        close = matched_activation(d1, d2, 1.0, spread=1e-5)
        assert one.bits == 1
        assert one.lower == one.upper
        assert (close.lower, close.scale) == pytest.approx((one.lower, one.scale), abs=1e-4)
        assert one.moments(1.0).d0 == pytest.approx(close.moments(1.0).d0, rel=1e-4)


def test_a_wide_spread_gives_sparse_features():
    target = gaussian_moments("relu", 1.0)
    t = np.random.default_rng(0).standard_normal(20_000)
    shares = []
    for spread in (0.46, 1.8, 2.0, 2.5):
        activation = matched_activation(target.d1, target.d2, 1.0, spread=spread)
        shares.append(np.count_nonzero(activation.trits(t)) / t.size)
    assert shares == pytest.approx([0.776, 0.110, 0.056, 0.0136], abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((0.0, 0.0, 1.0), "not both zero"),
        ((-1.0, 1.0, 1.0), "not negative"),
        ((1.0, math.nan, 1.0), "finite"),
        ((1.0, 1.0, 0.0), "tau must be positive"),
        ((1.0, 1.0, 1.0, 3), "bits must be 1 or 2"),
        ((1.0, 1.0, 1.0, 2, 0.0), "bits=1"),
        ((1.0, 1.0, 1.0, 2, 9.0), "at most 5"),
    ],
)
def test_what_cannot_be_matched_is_refused(arguments, word):
    with pytest.raises(ValueError, match=word):
        matched_activation(*arguments)


def test_thresholds_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="lower must be at most upper"):
        TernaryActivation(1.0, 0.5)
    with pytest.raises(ValueError, match="lower must be below upper"):
        TernaryActivation(1.0, 1.0, even=True)
