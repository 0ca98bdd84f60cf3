"""Checks of the arguments of generators: each returns the plain value or says what is wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from .._random import seed_of


def checked_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int between ``low`` and ``high``, both included."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high is not None and int(value) > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {span}, got {value!r}.")
    return int(value)


def checked_number(
    name: str, value: Any, low: float, high: float, *, closed: str = "both"
) -> float:
    """Return ``value`` as a float between ``low`` and ``high``.

    ``closed`` says which of the two belong to the interval: "both", "left", "right" or
    "neither".
    """
    left, right = closed in ("both", "left"), closed in ("both", "right")
    number = isinstance(value, Real) and not isinstance(value, bool)
    x = float(value) if number else np.nan
    if not (low < x < high or (left and x == low) or (right and x == high)):
        span = f"{'[' if left else '('}{low}, {high}{']' if right else ')'}"
        raise ValueError(f"{name} must be a number in {span}, got {value!r}.")
    return x


def checked_flag(name: str, value: Any) -> bool:
    """Return ``value`` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def checked_seed(random_state: Any) -> int:
    """Return the integer seed that ``random_state`` stands for."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        known = 0 <= int(random_state) < 2**32
    else:
        kinds = np.random.Generator | np.random.RandomState | None
        known = isinstance(random_state, kinds)
    if not known:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 - 1, a NumPy Generator "
            f"or a RandomState, got {random_state!r}."
        )
    return seed_of(random_state)
