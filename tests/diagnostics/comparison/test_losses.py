"""Tests of errors with intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from mercer.diagnostics.comparison.losses import are_tied, error_interval, losses_of

POSITIVE = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(("wrong", "n"), [(0, 10), (3, 10), (10, 10), (41, 500)])
def test_the_interval_of_labels_is_wilsons(wrong, n):
    losses = np.repeat([1.0, 0.0], [wrong, n - wrong])
    expected = binomtest(wrong, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(
        error_interval(losses, "classification"),
        (wrong / n, expected.low, expected.high),
        rtol=1e-12,
        atol=1e-15,
    )


def test_the_interval_of_numbers_covers_the_true_error():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        _, low, high = error_interval(2.25 * generator.chisquare(1, 300), "regression")
        covered += low <= 1.5 <= high
    # Of 1,000 the standard error is 7; the intervals are those of large samples.
    assert 920 <= covered <= 975


@given(arrays(float, st.integers(1, 40), elements=POSITIVE))
def test_intervals_hold_the_error_and_stay_positive(losses):
    error, low, high = error_interval(losses, "regression")
    assert error == pytest.approx(np.sqrt(np.mean(losses)))
    assert 0 <= low <= error * (1 + 1e-12)
    assert error <= high * (1 + 1e-12)
    _, scaled, _ = error_interval(4 * losses, "regression")
    assert scaled == pytest.approx(2 * low, abs=1e-300)


def test_losses_of_numbers_and_labels():
    np.testing.assert_array_equal(losses_of([1, 2], [3.0, 2.0], "regression"), [4, 0])
    np.testing.assert_array_equal(losses_of(["a", "b"], ["b", "b"], "classification"), [1, 0])


def test_pairs_tell_apart_what_intervals_do_not():
    generator = np.random.default_rng(0)
    hard = generator.chisquare(1, 500)
    slightly_worse = hard + 0.02 + 0.01 * generator.standard_normal(500)
    _, _, high = error_interval(hard, "regression")
    _, low, _ = error_interval(slightly_worse, "regression")
    assert low < high
    assert not are_tied(slightly_worse, hard)
    assert are_tied(generator.permutation(hard), hard)
    assert are_tied(hard, hard)
    assert are_tied(hard[:1], hard[1:2])
