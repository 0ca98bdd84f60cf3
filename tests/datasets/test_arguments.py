"""Tests of the checks of arguments."""

import numpy as np
import pytest

from mercer.datasets.arguments import checked_flag, checked_integer, checked_number, checked_seed


@pytest.mark.parametrize("value", [0, 6, 2.0, "2", None, True, np.float64(3)])
def test_integers_outside_are_refused(value):
    with pytest.raises(ValueError, match=r"size must be a whole number from 1 to 5, got"):
        checked_integer("size", value, 1, 5)


def test_integers_of_numpy_become_plain():
    assert type(checked_integer("size", np.int8(3), 1)) is int


@pytest.mark.parametrize(
    ("closed", "accepted"),
    [("both", [0, 1]), ("left", [0]), ("right", [1]), ("neither", [])],
)
def test_ends_of_an_interval_belong_to_it_as_told(closed, accepted):
    for value in (0, 1):
        if value in accepted:
            assert checked_number("x", value, 0, 1, closed=closed) == value
        else:
            with pytest.raises(ValueError, match=f"x must be a number in .* got {value}"):
                checked_number("x", value, 0, 1, closed=closed)
    assert checked_number("x", np.float32(0.5), 0, 1, closed=closed) == 0.5


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, "0.5", None, True, [0.5]])
def test_numbers_outside_are_refused(value):
    with pytest.raises(ValueError, match=r"x must be a number in \[0, 1\]"):
        checked_number("x", value, 0, 1)


@pytest.mark.parametrize("value", [0, 1, None, "yes"])
def test_flags_are_booleans(value):
    assert checked_flag("x", np.True_) is True
    with pytest.raises(ValueError, match="x must be True or False"):
        checked_flag("x", value)


@pytest.mark.parametrize("value", [-1, 2**32, 1.5, "seed", True, [1, 2]])
def test_bad_seeds_are_refused(value):
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        checked_seed(value)


def test_seeds_of_all_kinds_are_integers():
    assert checked_seed(np.int64(7)) == 7
    assert checked_seed(np.random.default_rng(1)) == checked_seed(np.random.default_rng(1))
    old = np.random.RandomState(1)
    assert isinstance(checked_seed(old), int)
    assert checked_seed(None) != checked_seed(None)
