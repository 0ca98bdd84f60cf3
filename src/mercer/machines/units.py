"""Targets of extreme size: solved in a unit of their own, in the range of float32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..solvers import Solution

#: Targets beyond this, or below its inverse, are solved in units of their own.
LARGE = 1e15
#: What a solution holds of squared errors.
SQUARES = ("scores", "residual", "expected", "noise")


def unit_of(Y: np.ndarray) -> float:
    """Return a power of two that brings extreme targets into the range of float32; mostly 1.

    Examples
    --------
    >>> unit_of(np.asarray([3.0])), unit_of(np.asarray([4e60])) == 2.0**201
    (1.0, True)
    """
    largest = float(np.abs(Y).max(initial=0.0))
    if largest == 0 or 1 / LARGE < largest < LARGE:
        return 1.0
    return float(2.0 ** np.round(np.log2(largest)))


def in_units(solution: Solution, unit: float) -> Solution:
    """Return the solution for targets that are ``unit`` times as large.

    Parameters
    ----------
    solution : Solution
        Of the targets over the unit.
    unit : float
        A power of two.
    """
    with np.errstate(over="ignore"):
        square = np.float64(unit) ** 2
        return replace(
            solution,
            coef=solution.coef * unit,
            intercept=solution.intercept * unit,
            **{name: getattr(solution, name) * square for name in SQUARES},
        )
