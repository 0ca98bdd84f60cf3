"""The design of a zonal map: its series, its columns, and what it lacks of the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._random import Stream
from ...kernels import GeneralizedZonal, Kernel
from ...kernels.radial import (
    AngularSeries,
    angular_coefficients,
    is_angular,
    radial_series,
    truncated,
)
from ..polynomial import finite
from .columns import ColumnOptions, ZonalColumns
from .guard import PlannedNorms
from .plan import HARMONIC, LARGEST_HARMONIC, Plan, harmonic_degree, n_columns, plan_columns
from .region import Region

#: Share of the kernel that may be missing without a word.
MUCH_MISSING = 0.1
#: How far out, in multiples of the planned norm, a map's reach is looked for.
FURTHEST = 2.0**20
#: Steps of the bisection for the reach.
BISECTIONS = 30


@dataclass(frozen=True, eq=False)
class ZonalDesign:
    """A zonal map before it is drawn.

    Parameters
    ----------
    kernel : Kernel
        The kernel, its lengthscale a number.
    region : Region
        Where rows lie.
    n_features, n_components : int
        Columns of the rows, and the most features.
    degree : int or None, default=None
        The highest degree; ``None``: as the tolerance wants it.
    tolerance : float, default=1e-6
        The share of k(x, x) that higher degrees may hold.
    exact : {"auto", 0, 1, 2}, default="auto"
        Up to which degree columns are exact.
    options : ColumnOptions, optional
        How random columns are made.

    Examples
    --------
    >>> from mercer import NTK
    >>> design = ZonalDesign(NTK(2), Region.anywhere(), n_features=8, n_components=512)
    >>> design.series.degree
    8
    """

    kernel: Kernel
    region: Region
    n_features: int
    n_components: int
    degree: int | None = None
    tolerance: float = 1e-6
    exact: str | int = "auto"
    options: ColumnOptions = ColumnOptions()

    @property
    def series(self) -> Any:
        """The radial functions."""
        return self._planned[0]

    @property
    def plan(self) -> Plan:
        """Which columns are exact."""
        return self._planned[1]

    def columns(self, stream: Stream) -> ZonalColumns:
        """Return the columns, their directions drawn."""
        shape = (self.series, self.n_features, self.plan)
        return ZonalColumns(stream.child("directions"), *shape, self.options, self.region.center)

    def mean_kernel(self) -> GeneralizedZonal:
        """Return what the features give on average."""
        return truncated(self.series, self.region.center)

    def missing_at(self, norms: np.ndarray) -> np.ndarray:
        """Return the shares of k(x, x) that the series lacks, for rows of some norms."""
        return _missing(self.kernel, self.series, norms)

    def guard(self) -> PlannedNorms | None:
        """Return what the map expects of the norms of rows, if anything."""
        region = self.region
        if is_angular(self.kernel) or isinstance(self.kernel, GeneralizedZonal):
            return None
        reach = math.inf if region.domain == "sphere" else self._reach()
        if region.radius is None and math.isinf(reach):
            return None
        held = f"Degrees up to {self.series.degree} hold less than {1 - MUCH_MISSING:.0%} of"
        planned = float(region.norms[-1])
        return PlannedNorms(region.center, region.radius, reach, planned, f"{held} {self.kernel!r}")

    def _reach(self) -> float:
        """Return the norm up to which little is missing; infinite, if that is so anywhere."""
        low, high = 0.0, float(self.region.norms[-1]) or 1.0
        limit = FURTHEST * high
        try:
            while self._lacks_little(high):
                if high > limit:
                    return math.inf
                low, high = high, 2 * high
        except ValueError:
            # k(x, x) overflows there, and the features will say so.
            return math.inf
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._lacks_little(middle) else (low, middle)
        return low

    def _lacks_little(self, norm: float) -> bool:
        return bool(self.missing_at(np.asarray([norm]))[0] <= MUCH_MISSING)

    @cached_property
    def _planned(self) -> tuple[Any, Plan]:
        """Return the radial functions, and which columns are exact."""
        series = self._series(self.degree)
        if _is_empty(series):
            raise ValueError(
                f"The series of {self.kernel!r} has no term up to degree={series.degree}; use a "
                "larger degree."
            )
        if self.n_features == 1 or (self.n_features <= HARMONIC and self.exact == "auto"):
            planned = self._harmonics(series)
            if planned is not None:
                return planned
        masses = finite(np.square(series.table(self.region.norms, np))).mean(axis=0)
        choice: dict[str, Any] = {"exact": self.exact, "fold": self.options.fold}
        shape = (self.n_features, self.n_components)
        return series, plan_columns(series, masses, *shape, **choice, tolerance=self.tolerance)

    def _series(self, degree: int | None) -> Any:
        if self.region.radius is not None:
            found = angular_coefficients(
                self.kernel, self.n_features, degree, self.tolerance, self.region.radius
            )
            return AngularSeries(found, 0)
        norms = self.region.norms
        return radial_series(
            self.kernel, self.n_features, degree, self.tolerance, norms, self.n_components
        )

    def _harmonics(self, series: Any) -> tuple[Any, Plan] | None:
        """Return radial functions and a plan without random columns, or ``None``."""
        given = isinstance(self.kernel, GeneralizedZonal)
        if self.degree is None and not given:
            pairs = _pairs_up_to(series.order > 1, self.n_features)
            fitting = harmonic_degree(self.n_features, self.n_components, pairs)
            longest = self._series(fitting)
            missing = self._mean_missing(longest)
            if self._mean_missing(series) <= self.tolerance and series.degree <= fitting:
                longest = series
            elif series.order > 1 and missing > min(MUCH_MISSING, self.n_components**-0.5):
                # In a ball: random columns miss less.
                return None
            series = longest
        needed = n_columns(series.pairs, self.n_features)
        if needed > self.n_components:
            if self.n_features == 1 and given:
                raise ValueError(
                    f"{self.kernel!r} takes {needed} features where n_features=1, but "
                    f"n_components={self.n_components}; use more."
                )
            return None
        return series, Plan(tuple(series.pairs), 0)

    def _mean_missing(self, series: Any) -> float:
        """Return which share of k(x, x) a series lacks, the mean over planned norms."""
        return float(np.mean(_missing(self.kernel, series, _positive(self.region.norms))))


def truncation_error(design: ZonalDesign) -> tuple[float, float]:
    """Return which share of k(x, x) a design lacks: the mean over rows, and for the furthest.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> region = Region("ball", None, np.asarray([0.1, 0.2]))
    >>> mean, largest = truncation_error(ZonalDesign(Gaussian(), region, 5, 64))
    >>> bool(mean < largest < 1e-6)
    True
    """
    if is_angular(design.kernel):
        at_one = float(design.missing_at(np.ones(1))[0])
        return at_one, at_one
    largest = float(design.missing_at(np.asarray([design.region.largest]))[0])
    return design.region.mean(design.missing_at), largest


def _is_empty(series: Any) -> bool:
    """Return whether every radial function of a series is 0."""
    if isinstance(series, AngularSeries):
        return not np.any(series.table(np.ones(1), np))
    return not series.pairs


def _positive(norms: np.ndarray) -> np.ndarray:
    norms = norms[norms > 0]
    return norms if norms.size else np.ones(1)


def _missing(kernel: Kernel, series: Any, norms: np.ndarray) -> np.ndarray:
    """Return the shares of k(x, x) that a series lacks; a row of zeros lacks nothing."""
    shares = np.zeros(len(norms))
    if isinstance(kernel, GeneralizedZonal):
        return shares
    known = norms > 0
    if known.any():
        # Kernels of norms and angles: one column tells k(x, x).
        exact = kernel.diag(norms[known][:, None])
        found = np.square(series.table(norms[known], np)).sum(axis=1)
        shares[known] = np.clip(1 - found / exact, 0.0, 1.0)
    return shares


def _pairs_up_to(radial: bool, n_features: int) -> Callable[[int], list[tuple[int, int]]]:
    """Return a function from a degree to the pairs of a series, of many values or of one."""
    highest = 1 if n_features == 1 else LARGEST_HARMONIC

    def pairs(degree: int) -> list[tuple[int, int]]:
        if not radial:
            return [(l, 0) for l in range(min(degree, highest) + 1)]
        every = [(j - 2 * i, i) for j in range(degree + 1) for i in range(j // 2 + 1)]
        return [pair for pair in every if pair[0] <= highest]

    return pairs
