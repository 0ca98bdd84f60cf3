"""The columns of a zonal map: exact harmonics of low degrees, and random directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..._array import as_floating, floating_name, frozen, is_numpy, like
from ..._devices import has_fused_kernels
from ..._random import Stream
from ..._registry import storable
from ...ops.columns import join
from ...ops.gegenbauer import clenshaw_steps, weighted_sum
from ...ops.hadamard import padded_length
from ...ops.harmonics import count, harmonics, quadratic
from ...ops.norms import unit_rows
from ...ops.products import dense
from ...sketches import DenseProjection, haar_directions, spherical_directions
from .plan import HARMONIC, Plan

#: How directions are drawn, by name.
DIRECTIONS: dict[str, Callable[[Stream, int, int], np.ndarray]] = {
    "orthogonal": haar_directions,
    "iid": spherical_directions,
}
#: Columns that a compiled loop handles together.
LANES = 32


class ColumnOptions(NamedTuple):
    """How random columns are made, as :class:`~mercer.GegenbauerFeatures` takes it."""

    signs: str = "alternating"
    fold: bool = True
    directions: str = "orthogonal"


@storable
class ZonalColumns:
    """Features whose inner products are Σ_l ⟨h_l(|x|), h_l(|y|)⟩ P_l(cos) on average.

    For a direction w the feature is Σ_l ±h_l(|x|) p_l(⟨x, w⟩ / |x|). Any signs of the degrees
    give the same mean; alternating ones keep the terms from adding up where x is near w. If
    the radial functions have several values, the directions are split into groups, and each
    group adds the values with signs of its own, rows of a Hadamard matrix, so that mixed terms
    cancel between the groups.

    Parameters
    ----------
    stream : Stream
        Where directions and signs come from.
    series : object with pairs, degree, order and table
        The radial functions.
    n_features : int
        Columns of the rows.
    plan : Plan
        Which pairs are exact, and the number of directions.
    options : ColumnOptions
        Signs, folding and directions.
    center : array or None, default=None
        What is subtracted from rows first.
    """

    def __init__(
        self,
        stream: Stream,
        series: Any,
        n_features: int,
        plan: Plan,
        options: ColumnOptions,
        center: np.ndarray | None = None,
    ) -> None:
        self._series, self._n_features = series, n_features
        self._center = None if center is None else frozen(center)
        self._exact = [(l, series.pairs.index((l, i))) for l, i in plan.exact]
        self._size = plan.n_directions
        self._fold = options.fold
        self.scratch: int = 4 * len(series.pairs) + 2 * n_features
        self.scratch += 4 * sum(count(n_features, l) for l, _ in self._exact)
        if self._size:
            directions = DIRECTIONS[options.directions](stream, n_features, self._size)
            self._projection = DenseProjection(directions)
            patterns = self._patterns(stream.child("fold"))
            self._mix = self._mixed(plan, patterns, options.signs)
            self._bounds = frozen(_bounds(self._size, len(patterns)))
            self.scratch += 2 * len(patterns) * (series.degree + 1)
            self.scratch += 0 if self._fold else 2 * self._size
        #: The same on an accelerator, where products do not lie in the output.
        self.device_scratch: int = self.scratch + self._size

    @property
    def may_overflow(self) -> bool:
        """Whether features of large rows can be out of range."""
        return not getattr(self._series, "damped", False)

    def _patterns(self, stream: Stream) -> np.ndarray:
        """Return the signs of the values of radial functions, a row for each group."""
        order = self._series.order
        if not self._fold or order == 1:
            return np.eye(order)
        size = padded_length(order)
        flips = stream.generator().choice([-1.0, 1.0], size=order)
        return scipy.linalg.hadamard(size)[:, :order] * flips

    def _mixed(
        self, plan: Plan, patterns: np.ndarray, signs: str
    ) -> list[tuple[int, int, np.ndarray]]:
        """Return, for every degree, its columns of the table and their weights in the groups."""
        mixes = []
        for l in range(self._series.degree + 1):
            columns = [k for k, pair in enumerate(self._series.pairs) if pair[0] == l]
            sign = -1.0 if signs == "alternating" and l // 2 % 2 else 1.0
            mix = np.zeros((len(columns), len(patterns)))
            for row, k in enumerate(columns):
                if self._series.pairs[k] not in plan.exact:
                    mix[row] = sign * patterns[:, self._series.pairs[k][1]]
            start = columns[0] if columns else 0
            mixes.append((start, start + len(columns), frozen(mix / math.sqrt(self._size))))
        return mixes

    @property
    def is_random(self) -> bool:
        """Whether there are random columns."""
        return self._size > 0

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows, in ``out`` if given."""
        if self._center is not None:
            X = dense(X)
            X = X - like(X, self._center)
        unit, norms = unit_rows(X, xp)
        table = self._series.table(norms, xp)
        parts = self._exact_columns(unit, table, xp, out)
        if self._size:
            start = sum(part.shape[1] for part in parts)
            parts.append(self._random_columns(unit, table, xp, out, start))
        return join(parts, xp, out)

    def _exact_columns(self, unit: Any, table: Any, xp: Any, out: Any) -> list[Any]:
        if not self._exact:
            return []
        name = floating_name(unit)
        rows = dense(unit)
        if self._n_features <= HARMONIC:
            # Recurrences of many degrees; their rounding is to stay below that of the result.
            rows = as_floating(rows, "float64")
        table = as_floating(table, floating_name(rows))
        if has_fused_kernels(rows) and self._n_features > HARMONIC and out is not None:
            return self._in_place(rows, table, xp, out)
        columns = harmonics(rows, max(l for l, _ in self._exact), xp)
        return [as_floating(columns[l] * table[:, k][:, None], name) for l, k in self._exact]

    def _in_place(self, unit: Any, table: Any, xp: Any, out: Any) -> list[Any]:
        """Return the columns of degrees up to 2 where they belong, by one look at the rows."""
        parts, start = [], 0
        for l, k in self._exact:
            place = out[:, start : start + count(self._n_features, l)]
            factors = table[:, k]
            if l == 2:
                quadratic(unit, factors, xp, place)
            elif l == 1:
                xp.multiply(unit, factors[:, None], out=place)
            else:
                place[:, 0] = factors
            parts.append(place)
            start += place.shape[1]
        return parts

    def _random_columns(self, unit: Any, table: Any, xp: Any, out: Any, start: int) -> Any:
        if is_numpy(table):
            parts = [table[:, a:b] @ mix.astype(table.dtype) for a, b, mix in self._mix]
            weights = xp.stack(parts, axis=2)
        else:
            # One product in place of many small ones, each of which is a launch.
            flat = table @ like(table, self._whole_mix)
            weights = xp.reshape(flat, (table.shape[0], -1, len(self._mix)))
        weights = as_floating(weights, floating_name(unit))
        if not self._fold:
            cosines = self._projection.project(unit, xp)
            sums = [
                self._sums(cosines, weights[:, i : i + 1, :], xp) for i in range(weights.shape[1])
            ]
            return xp.reshape(xp.stack(sums, axis=2), (table.shape[0], -1))
        place = None if out is None else out[:, start:]
        cosines = self._projection.project(unit, xp, place if is_numpy(out) else None)
        if is_numpy(out):
            self._replace(out, start, weights)
            return place
        return self._sums(cosines, weights, xp, place)

    @cached_property
    def _whole_mix(self) -> np.ndarray:
        """The weights of all degrees in the groups, for all columns of the table."""
        n_groups = self._mix[0][2].shape[1]
        whole = np.zeros((len(self._series.pairs), n_groups, len(self._mix)))
        for l, (start, stop, mix) in enumerate(self._mix):
            whole[start:stop, :, l] = mix
        return frozen(whole.reshape(len(whole), -1))

    def _sums(self, cosines: Any, weights: Any, xp: Any, out: Any = None) -> Any:
        """Return the sums over degrees, each group of columns with weights of its own."""
        bounds: Any = self._bounds if weights.shape[1] > 1 else [0, self._size]
        if is_numpy(cosines):
            sums = np.array(cosines, order="C")
            self._replace(sums, 0, weights, np.asarray(bounds))
            return sums
        parts = []
        for g, (a, b) in enumerate(pairwise(bounds)):
            columns = slice(int(a), int(b))
            place = None if out is None else out[:, columns]
            own = weights[:, g, :]
            parts.append(weighted_sum(cosines[:, columns], own, self._n_features, xp, place))
        return join(parts, xp, out)

    def _replace(self, out: Any, start: int, weights: Any, bounds: Any = None) -> None:
        from ...ops._jit.gegenbauer import replace_by_sums

        bounds = self._bounds if bounds is None else bounds
        steps = clenshaw_steps(self._n_features, self._series.degree)
        slope, back = (step.astype(out.dtype) for step in steps)
        replace_by_sums(out, start, np.ascontiguousarray(weights), bounds, slope, back)


def _bounds(size: int, n_groups: int) -> np.ndarray:
    """Return where groups of directions begin and end: equal, and easy on vector units."""
    bounds = np.linspace(0, size, n_groups + 1)
    if size >= 2 * LANES * n_groups:
        bounds[1:-1] = (bounds[1:-1] / LANES).round() * LANES
    return bounds.round().astype(np.int64)
