"""Columns of numbers: which vary, how they are centred, scaled, soft-clipped or ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._array import as_floating, floating_name, like, namespace
from .._registry import storable
from ..engine.moments import ColumnMoments
from .quantiles import Quantiles, Ranks
from .soft_clipping import soft_clipped

#: Standard deviation of a column, relative to its largest entry, that is rounding.
NOISE = 1e-14
#: Whole numbers up to this one are exact in float64.
LARGEST_WHOLE = 2.0**53


@storable
@dataclass(frozen=True)
class Scaling:
    """How columns of numbers are encoded.

    Attributes
    ----------
    columns : array of int
        Those that are kept; the others hold arrays with an entry for each of them.
    mean, scale : arrays
        What is subtracted, if columns are centred, and what they are divided by.
    limits : array
        Where they are soft-clipped, infinity for nowhere.
    centered : bool
        Whether columns are centred.
    center, fill : arrays
        What is subtracted indeed, and the encoded value of a missing entry.
    ranks : dict of int to Ranks
        What replaces columns by their ranks, by their places among those that are kept.
    """

    columns: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    limits: np.ndarray
    centered: bool
    center: np.ndarray
    fill: np.ndarray
    ranks: dict[int, Ranks] = field(default_factory=dict)

    def standardized(self, kept: Any, missing: Any = None) -> Any:
        """Return the columns that are kept, centred and scaled, their missing entries filled.

        Parameters
        ----------
        kept : array of shape (n_rows, n_kept)
            Of any library.
        missing : array of bool, default=None
            Where entries are missing; ``None``: nowhere.
        """
        xp = namespace(kept)
        # What overflows is soft-clipped, or refused by who asked.
        with np.errstate(over="ignore"):
            rows = (kept - like(kept, self.center)) / like(kept, self.scale)
        if self.ranks:
            rows = self._with_ranks(rows, kept)
        if missing is None:
            return rows
        return xp.where(missing, like(kept, self.fill), rows)

    def clipped(self, rows: Any) -> Any:
        """Return standardised columns, soft-clipped at their limits."""
        if np.isinf(self.limits).all():
            return rows
        return soft_clipped(rows, like(rows, self.limits), namespace(rows))

    def _with_ranks(self, rows: Any, kept: Any) -> Any:
        """Return scaled columns, those replaced that have ranks."""
        xp, name = namespace(kept), floating_name(kept)
        columns = [rows[:, place] for place in range(rows.shape[1])]
        for place, ranks in self.ranks.items():
            # In float32 neighbouring quantiles may be equal.
            wide = as_floating(kept[:, place], "float64")
            columns[place] = as_floating(ranks(wide, xp), name)
        return xp.stack(columns, axis=1)


def scaling_of(
    moments: ColumnMoments,
    rule: str,
    limit: float | None,
    centered: bool,
    quantiles: Sequence[Quantiles] = (),
    replaced: Sequence[int] = (),
) -> Scaling:
    """Return how to encode columns of numbers.

    Parameters
    ----------
    moments : ColumnMoments
        Of the columns; those without entries and constant ones are not kept.
    rule : {"each", "common", "ranks"}
        One scale for each column or one for all, or ranks.
    limit : float or None
        Where columns of their own scale are soft-clipped.
    centered : bool
        Whether columns are centred; if not, they are not soft-clipped either, because what is
        far from zero need not be far from the other entries.
    quantiles : sequence of Quantiles
        The distributions of the first columns, which alone get ranks.
    replaced : sequence of int
        Columns that are encoded in another way, and not kept.
    """
    varying = (moments.count > 0) & ~is_constant(moments)
    varying[list(replaced)] = False
    columns = np.flatnonzero(varying)
    flags = is_flag(moments)[columns]
    mean, scale = moments.mean[columns], moments.deviation(rounding=0.0)[columns]
    if rule == "common" and len(scale):
        unit = np.exp2(np.floor(np.log2(scale.max())))
        scale = np.full_like(scale, unit * np.sqrt(np.mean((scale / unit) ** 2)))
    scale = np.where(flags, 1.0, scale)
    ranks = {}
    if rule == "ranks":
        ranked = np.flatnonzero(~flags & (columns < len(quantiles)))
        ranks = {int(place): quantiles[columns[place]].ranks() for place in ranked}
    clipped = centered and rule != "common"
    limits = np.where(flags, np.inf, limit if clipped and limit is not None else np.inf)
    limits[list(ranks)] = np.inf
    center = mean if centered else np.zeros_like(mean)
    fill = (mean - center) / scale
    return Scaling(columns, mean, scale, limits, centered, center, fill, ranks)


def is_constant(moments: ColumnMoments) -> np.ndarray:
    """Return which columns hold one value, or several that differ by rounding only.

    Whole numbers that float64 holds exactly are not the result of rounding, however near they
    are to each other: 10¹⁵ and 10¹⁵ + 1 are two values. Of other columns those count as constant
    whose standard deviation is below 10⁻¹⁴ of their largest entry: 0.3 and 0.1 + 0.2 are one
    value, which must not be scaled up to a variance of 1.
    """
    low, high = moments.low, moments.high
    largest = np.maximum(abs(low), abs(high))
    whole = (low == np.floor(low)) & (high == np.floor(high)) & (largest <= LARGEST_WHOLE)
    return (low == high) | (~whole & (moments.deviation(rounding=0.0) <= NOISE * largest))


def is_flag(moments: ColumnMoments) -> np.ndarray:
    """Return which columns hold zeros and ones and nothing else: their variance says so."""
    between = (moments.low == 0) & (moments.high == 1)
    mean, variance = (np.where(between, part, 0.0) for part in (moments.mean, moments.variance()))
    return between & np.isclose(variance, mean * (1 - mean), rtol=1e-9, atol=0)
