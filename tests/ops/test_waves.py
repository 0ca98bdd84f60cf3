"""Tests of rounded cosines: their values, their harmonics, and their bits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import PackedFeatures
from mercer._array import to_numpy
from mercer.features.packed.projected import WAVE_CODES
from mercer.ops.harmonic_sums import harmonic_rule
from mercer.ops.packed import n_words
from mercer.ops.waves import JUMPS, RoundedCosine, Waves, folded
from mercer.testing import array_libraries

LEVELS = (2, 3, 4)


def by_hand(phase, levels):
    """Return the value at one phase in radians, from its cosine."""
    cosine = math.cos(phase)
    if levels == 2:
        return 1 if cosine > 0 else -1
    if levels == 3:
        return 1 if cosine > 0.5 else -1 if cosine < -0.5 else 0
    outer = math.cos(math.radians(50))
    return (1 if cosine > 0 else -1) * (3 if abs(cosine) > outer else 1)


@pytest.mark.parametrize("levels", LEVELS)
def test_values_are_those_of_the_cosine(levels):
    phases = np.random.default_rng(0).uniform(-20, 20, 500)
    expected = [by_hand(phase, levels) for phase in phases]
    assert np.array_equal(RoundedCosine(levels).of(phases), expected)
    assert len(np.unique(expected)) == levels


@pytest.mark.parametrize("levels", LEVELS)
def test_harmonics_are_fourier_coefficients(levels):
    cosine = RoundedCosine(levels)
    # Between jumps at whole degrees the midpoint rule is a sum of exact pieces for this many.
    n = 360 * 100
    phases = (np.arange(n) + 0.5) * 2 * np.pi / n
    values = np.asarray([by_hand(phase, levels) for phase in phases])
    amplitudes = 2 * np.fft.rfft(values).real / n
    shift = np.fft.rfft(values)[:40] * np.exp(-1j * np.pi * np.arange(40) / n)
    amplitudes = 2 * shift.real / n
    k = np.arange(1, 40, 2)
    assert cosine.amplitude == pytest.approx(amplitudes[1], rel=1e-8)
    assert cosine.amplitude * cosine.harmonics(k) == pytest.approx(amplitudes[k], abs=1e-5)
    assert np.max(abs(amplitudes[::2])) < 1e-9
    power = np.mean(values**2) * 2 / amplitudes[1] ** 2
    assert 1 + cosine.excess == pytest.approx(power, rel=1e-8)
    if levels > 2:
        assert abs(cosine.harmonics(np.asarray([3]))[0]) < 1e-15


def test_closed_forms():
    assert RoundedCosine(2).excess == pytest.approx(np.pi**2 / 8 - 1, rel=1e-14)
    assert RoundedCosine(3).excess == pytest.approx(np.pi**2 / 9 - 1, rel=1e-14)
    assert RoundedCosine(2).scale == pytest.approx(np.pi / 8**0.5, rel=1e-14)
    assert RoundedCosine(3).scale == pytest.approx(np.pi / 6**0.5, rel=1e-14)
    k = np.arange(1, 100, 2)
    ratios = abs(RoundedCosine(3).harmonics(k)) * k
    assert ratios == pytest.approx(np.where(k % 3 == 0, 0, 1), abs=1e-13)


@pytest.mark.parametrize("levels", LEVELS)
def test_harmonics_have_the_power_of_the_values(levels):
    cosine, k = RoundedCosine(levels), np.arange(1.0, 2_000_001, 2)
    # Beyond there is less than 1 / 2,000,001.
    assert np.sum(cosine.harmonics(k) ** 2) == pytest.approx(1 + cosine.excess, abs=5e-7)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("damping", [1e-3, 0.02, 0.3, 2.0])
def test_few_orders_stand_for_all_harmonics(levels, damping):
    cosine = RoundedCosine(levels)
    orders, weights = harmonic_rule(cosine.harmonics, 1 + cosine.excess)
    k = np.arange(1.0, 200_001, 2)
    for fall in (lambda t: np.exp(-t), lambda t: np.exp(-t * t), lambda t: (1 + t) * np.exp(-t)):
        expected = np.sum(cosine.harmonics(k) ** 2 * fall(damping * k))
        assert weights @ fall(damping * orders) == pytest.approx(expected, abs=1e-12)
    assert np.sum(weights) == pytest.approx(1 + cosine.excess, rel=1e-14)


@given(
    n=st.integers(1, 5), n_projected=st.integers(1, 200), odd=st.booleans(),
    levels=st.sampled_from(LEVELS), dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_bits_are_those_of_the_values(n, n_projected, odd, levels, dtype, seed):
    rng = np.random.default_rng(seed)
    scales, shifts = rng.standard_normal(n_projected), rng.random(n_projected)
    waves = Waves(RoundedCosine(levels), scales, shifts, 2 * n_projected - odd)
    Z = (10 * rng.standard_normal((n, n_projected))).astype(dtype)
    code = WAVE_CODES[levels]
    planes = np.full((code.n_planes, n + 2, n_words(waves.size)), 7, dtype=np.uint64)
    waves.planes(Z, planes, 1)
    assert (planes[:, [0, -1]] == 7).all()
    found = PackedFeatures(planes[:, 1:-1].copy(), waves.size, code)
    values = waves.of(Z)
    assert found == PackedFeatures.pack(values, code)
    # Every pair of columns by hand, where no phase is near a jump.
    turns = Z.astype(float) * scales + shifts
    for i in range(n):
        for j in range(n_projected):
            block, within = divmod(j, 64)
            width = min(64, n_projected - 64 * block)
            for lag, column in ((0.0, within), (0.25, within + width)):
                column += 128 * block
                phase = 2 * np.pi * (turns[i, j] - lag)
                near = abs(np.degrees(np.arccos(np.cos(phase))) - np.asarray(JUMPS[levels])[:, 0])
                if column < waves.size and near.min() > 0.1:
                    assert values[i, column] == by_hand(phase, levels)


@pytest.mark.parametrize("library", array_libraries())
@pytest.mark.parametrize("levels", LEVELS)
def test_values_in_other_libraries(levels, library):
    rng = np.random.default_rng(0)
    waves = Waves(RoundedCosine(levels), rng.random(70), rng.random(70), 139)
    Z = rng.standard_normal((4, 70))
    found = waves.of(array_libraries()[library](Z))
    assert np.array_equal(to_numpy(found), waves.of(Z))


def test_phases_that_overflow_are_refused():
    waves = Waves(RoundedCosine(), np.full(2, 1e30), np.zeros(2), 4)
    Z = np.asarray([[1.0, 1e20]], dtype=np.float32)
    with pytest.raises(ValueError, match="overflows"):
        waves.planes(Z, np.empty((2, 1, 1), np.uint64), 0)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="overflows"):
        waves.of(Z)


def test_what_makes_no_waves_is_refused():
    with pytest.raises(ValueError, match="levels must be 2, 3 or 4"):
        RoundedCosine(5)
    with pytest.raises(ValueError, match="twice the number"):
        Waves(RoundedCosine(), np.ones(3), np.zeros(3), 4).__mercer_check__()
    with pytest.raises(ValueError, match="of one length"):
        Waves(RoundedCosine(), np.ones(3), np.zeros(2), 4).__mercer_check__()
    assert folded(np.asarray([-0.25]), np)[0] == 0.25
