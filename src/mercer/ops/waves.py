"""Cosines of phases, rounded to two, three or four values: the values, and their harmonics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._array import are_finite, like, namespace
from .._deferred import refuse_unless
from .._registry import storable
from .fourier import overflowing_phases
from .packed import BITS

#: The phases, in degrees, at which values change, and by how much. With jumps at 60 degrees, or
#: two of 50 and one of 90, there is no third harmonic.
JUMPS: dict[int, tuple[tuple[float, int], ...]] = {
    2: ((90.0, 2),),
    3: ((60.0, 1), (120.0, 1)),
    4: ((50.0, 2), (90.0, 2), (130.0, 2)),
}


@storable
@dataclass(frozen=True)
class RoundedCosine:
    r"""A cosine rounded to 2, 3 or 4 values: -1 and 1; -1, 0, 1; or -3, -1, 1, 3.

    As a function of the phase it is a sum of odd harmonics,

    .. math:: q(p) = a_1 \sum_{k \text{ odd}} r_k \cos(k p), \qquad r_1 = 1.

    Parameters
    ----------
    levels : {2, 3, 4}, default=4
        The number of values.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ops.waves import RoundedCosine
    >>> RoundedCosine(4).of(np.asarray([0.0, 1.0, 2.0, 3.0]))
    array([ 3,  1, -1, -3], dtype=int8)
    >>> [round(1 / (1 + RoundedCosine(levels).excess), 4) for levels in (2, 3, 4)]
    [0.8106, 0.9119, 0.9545]
    """

    levels: int = 4

    def __post_init__(self) -> None:
        if self.levels not in JUMPS:
            raise ValueError(f"levels must be 2, 3 or 4, got {self.levels!r}.")

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file is not a rounded cosine."""
        self.__post_init__()

    @property
    def bits(self) -> int:
        """Bits of a value."""
        return 1 if self.levels == 2 else 2

    @property
    def bounds(self) -> tuple[float, ...]:
        """The distances of a phase from half a turn, in turns, where values change; rising."""
        return tuple(0.5 - degrees / 360 for degrees, _ in reversed(JUMPS[self.levels]))

    @cached_property
    def amplitude(self) -> float:
        r"""The factor of the first harmonic, :math:`a_1`."""
        return 2 / math.pi * float(self._jumps(np.ones(1))[0])

    @property
    def scale(self) -> float:
        r"""What values are multiplied with so that the first harmonic is :math:`\sqrt2 \cos`."""
        return math.sqrt(2) / self.amplitude

    @property
    def excess(self) -> float:
        r"""The power of the higher harmonics, :math:`\sum_{k > 1} r_k^2`."""
        jumps = JUMPS[self.levels]
        top = sum(jump for _, jump in jumps) / 2
        # Between jumps the square is constant; from 0 to half a turn.
        ends = [0.0, *(degrees for degrees, _ in jumps), 180.0]
        values = [top - sum(jump for _, jump in jumps[:k]) for k in range(len(ends) - 1)]
        power = sum(v * v * (b - a) for v, a, b in zip(values, ends, ends[1:], strict=False))
        return power / 180 * self.scale**2 - 1

    def harmonics(self, orders: np.ndarray) -> np.ndarray:
        r"""Return the :math:`r_k` of odd numbers k.

        Examples
        --------
        >>> (1 / RoundedCosine(3).harmonics(np.asarray([1, 5, 7, 11]))).round(6)
        array([  1.,  -5.,   7., -11.])
        """
        orders = np.asarray(orders, dtype=float)
        first: np.ndarray = self._jumps(np.ones(1))
        return self._jumps(orders) / orders / first

    def _jumps(self, orders: np.ndarray) -> np.ndarray:
        total = np.zeros(len(orders))
        for degrees, jump in JUMPS[self.levels]:
            # Whole degrees are reduced without rounding.
            total += jump * np.sin(np.pi / 180 * np.mod(orders * degrees, 360.0))
        return total

    def of(self, phases: Any) -> Any:
        """Return the values at phases in radians, as int8, in their library.

        Parameters
        ----------
        phases : array
            The phases.
        """
        xp = namespace(phases)
        return self.of_distances(folded(phases / (2 * math.pi), xp), xp)

    def of_distances(self, distances: Any, xp: Any) -> Any:
        """Return the values at distances from half a turn; see :func:`folded`."""
        above = sum(xp.astype(distances > bound, xp.int8) for bound in self.bounds)
        if self.levels == 3:
            return above - 1
        return above * 2 - (self.levels - 1)


def folded(turns: Any, xp: Any) -> Any:
    """Return how far phases, in turns, are from half a turn: the cosine rises with it.

    Examples
    --------
    >>> folded(np.asarray([0.0, 0.25, 0.5, 1.75]), np)
    array([0.5 , 0.25, 0.  , 0.25])
    """
    return xp.abs(turns - xp.floor(turns) - 0.5)


@storable
@dataclass(frozen=True, eq=False)
class Waves:
    """Projections to rounded cosines and sines of phases: those of 64 columns beside each other.

    Attributes
    ----------
    cosine : RoundedCosine
        What becomes of a phase.
    scales : array of shape (n_projected,)
        What projections are multiplied with: phases in turns.
    shifts : array of shape (n_projected,)
        What is added then.
    size : int
        How many values there are of a row: 2 n_projected, or one less.

    Examples
    --------
    >>> waves = Waves(RoundedCosine(3), np.ones(2), np.zeros(2), 4)
    >>> waves.of(np.asarray([[0.25, 1.0]]))
    array([[0, 1, 1, 0]], dtype=int8)
    """

    cosine: RoundedCosine
    scales: np.ndarray
    shifts: np.ndarray
    size: int

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file does not fit together."""
        if self.scales.shape != self.shifts.shape or self.scales.ndim != 1:
            raise ValueError("scales and shifts must be vectors of one length.")
        if not 0 <= 2 * len(self.scales) - self.size <= 1:
            raise ValueError("size must be twice the number of projections, or one less.")

    def of(self, Z: Any) -> Any:
        """Return what becomes of an array of projections, in int8 and in its library."""
        xp = namespace(Z)
        turns = Z * like(Z, self.scales) + like(Z, self.shifts)
        refuse_unless(are_finite(turns), overflowing_phases)
        turns = turns - xp.floor(turns)
        pair = [xp.abs(turns - 0.5), folded(turns + 0.75, xp)]
        values = self.cosine.of_distances(xp.concat(pair, axis=1), xp)
        return xp.take(values, like(Z, self.order), axis=1)

    @cached_property
    def order(self) -> np.ndarray:
        """Where each column of the result is among all cosines, then all sines."""
        columns = np.arange(len(self.scales))
        blocks = np.split(columns, range(BITS, len(columns), BITS))
        pairs = [np.concatenate([block, len(columns) + block]) for block in blocks]
        return np.concatenate(pairs)[: self.size]

    def planes(self, Z: np.ndarray, planes: np.ndarray, first: int) -> None:
        """Write the bits of a block of projections to rows of ``planes`` from ``first`` on.

        Parameters
        ----------
        Z : array of shape (n, n_projected)
            A block of projections.
        planes : uint64 array of shape (n_planes, n_rows, n_words)
            Where the bits go.
        first : int
            The row of ``planes`` that the first row of ``Z`` is.
        """
        from ._jit import waves as jit

        Z = np.ascontiguousarray(Z)
        bounds = self._word_bounds(Z.dtype)
        numbers = like(Z, self.scales), like(Z, self.shifts)
        fine = jit.wave_planes(Z, *numbers, *bounds, self.cosine.levels, self.size, planes, first)
        if not fine:
            raise overflowing_phases()

    def _word_bounds(self, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the lowest, the middle and the highest bound, for each of 64 values."""
        bounds = self.cosine.bounds
        chosen = bounds[0], bounds[len(bounds) // 2], bounds[-1]
        low, middle, high = (np.full(BITS, bound, dtype=dtype) for bound in chosen)
        return low, middle, high
