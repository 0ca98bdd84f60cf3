"""Lengthscales from data: a summary of rows that grows block by block and merges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import as_floating, is_numpy, is_sparse, namespace
from .._registry import storable
from ..engine.moments import ColumnMoments
from ..engine.sample import RowSample
from ..engine.threads import allowed_threads
from ..ops.distances import manhattan_distances, squared_distances
from ..ops.norms import row_norms

#: The sample holds at most this many rows, and fewer where they are wide.
SAMPLE_ROWS = 1000


@storable
class RowSummary:
    """What lengthscale rules need to know of the rows seen so far.

    Keeps the mean and variance of all entries, the range of the norms, and a uniform sample of
    rows. None depends on how the rows were cut into blocks.
    """

    def __init__(self) -> None:
        self.n_rows: int = 0
        self.n_features: int = 0
        self.norm_range: tuple[float, float] = (np.inf, 0.0)
        self._entries = ColumnMoments()
        self._sample = RowSample(SAMPLE_ROWS)

    def update(self, block: Any) -> None:
        """Add a block of rows."""
        self._entries.merge(ColumnMoments.of(block).pooled())
        self.n_rows += block.shape[0]
        self.n_features = block.shape[1]
        xp = namespace(block)
        norms = row_norms(block, xp)
        low, high = self.norm_range
        self.norm_range = (min(low, float(xp.min(norms))), max(high, float(xp.max(norms))))
        self._sample.add(block)

    def skip(self, n_rows: int) -> None:
        """Pass over rows that another summary sees before those of this one."""
        self._sample.skip(n_rows)

    def merge(self, other: RowSummary) -> None:
        """Add the rows that another summary has seen, those behind them."""
        if other.n_rows == 0:
            return
        self.n_features = other.n_features
        self._entries.merge(other._entries)
        self.n_rows += other.n_rows
        low, high = zip(self.norm_range, other.norm_range, strict=True)
        self.norm_range = (min(low), max(high))
        self._sample.merge(other._sample)

    @property
    def mean(self) -> float:
        """The mean of all entries."""
        return float(self._entries.mean[0])

    @property
    def sum_of_squares(self) -> float:
        """The sum of the squared deviations of all entries from their mean."""
        return float(self._entries.squares[0])

    @property
    def sample(self) -> Any:
        """Some of the rows, dense or CSR."""
        return self._sample.columns[0]

    def lengthscale(self, rule: str, distance: str = "euclidean") -> float:
        """Return the lengthscale by ``rule``, ``"median"`` or ``"scale"``.

        ``"median"`` is the median distance between two different rows of the sample.
        ``"scale"`` is the square root of d Var(X) / 2, with which the Gaussian kernel is
        scikit-learn's ``rbf`` with ``gamma="scale"``.
        """
        if rule == "scale":
            value = math.sqrt(self.n_features / 2) * float(self._entries.deviation()[0])
        else:
            value = self._median(distance)
        if not value > 0 or not math.isfinite(value):
            raise ValueError(
                f"lengthscale={rule!r} needs at least two different rows of finite entries, but X "
                f"with n_samples={self.n_rows} gives {value}; give a number instead."
            )
        return value

    def _median(self, distance: str) -> float:
        return median_distance(self.sample.astype(float), distance)


class FewRows:
    """What the rule ``"median"`` needs of rows on a device that are few: nothing is copied.

    Parameters
    ----------
    sample : array of shape (n_rows, n_features)
        The rows, at most as many as a :class:`RowSummary` keeps.

    Examples
    --------
    >>> FewRows(np.asarray([[0.0], [1.0], [3.0]])).lengthscale("median")
    2.0
    """

    def __init__(self, sample: Any) -> None:
        self.sample = sample

    def lengthscale(self, rule: str, distance: str = "euclidean") -> float:
        """Return the lengthscale by ``rule``, as :class:`RowSummary` does."""
        if rule == "median":
            value = median_distance(as_floating(self.sample, "float64"), distance)
            if value > 0 and math.isfinite(value):
                return value
        # Other rules, and what is wrong with the rows.
        summary = RowSummary()
        summary.update(self.sample)
        return summary.lengthscale(rule, distance)


def median_distance(sample: Any, distance: str) -> float:
    """Return the median distance of different rows, 0 if there are none.

    Parameters
    ----------
    sample : array of any library, or CSR, of shape (n_rows, n_features)
        Rows in float64.
    distance : {"euclidean", "manhattan"}
        Of which distance.

    Examples
    --------
    >>> median_distance(np.asarray([[0.0], [1.0], [3.0]]), "euclidean")
    2.0
    """
    # Squares of extreme entries vanish or overflow: such rows are brought to a middle size.
    unit, xp = _extreme_unit(sample), namespace(sample)
    sample = sample / unit
    operations = 2 * sample.shape[0] ** 2 * sample.shape[1]
    with np.errstate(over="ignore", invalid="ignore"), allowed_threads(operations):
        if distance == "manhattan":
            values = manhattan_distances(sample, sample, xp)
        else:
            values = xp.sqrt(squared_distances(sample, sample, xp))
    if is_numpy(values):
        pairs = values[np.triu_indices(values.shape[0], 1)]
        different = pairs[pairs > 0]
        return float(np.median(different)) * unit if different.size else 0.0
    # Every pair twice, which changes no median; what counts as equal comes first.
    ordered = xp.sort(xp.reshape(values, (-1,)))
    n_equal = int(xp.sum(xp.astype(ordered <= 0, xp.int64)))
    count = ordered.shape[0] - n_equal
    if not count:
        return 0.0
    middle = n_equal + count // 2
    return float(ordered[middle - 1] + ordered[middle]) / 2 * unit


def _extreme_unit(sample: Any) -> float:
    """Return a power of two near the largest entry of rows of extreme size, else one."""
    if is_numpy(sample):
        values = sample.data if is_sparse(sample) else sample
        largest = float(np.abs(values).max(initial=0.0))
    else:
        xp = namespace(sample)
        largest = float(xp.max(xp.abs(sample)))
    if largest == 0 or 1e-100 < largest < 1e100:
        return 1.0
    return float(2.0 ** np.floor(np.log2(largest)))
