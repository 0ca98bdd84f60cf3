"""Lengthscales from data: a summary of rows that grows block by block and merges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import as_floating, is_sparse, namespace
from .._registry import storable
from ..engine.sample import RowSample
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
        self.n_rows = 0
        self.n_features = 0
        self.mean = 0.0
        self.sum_of_squares = 0.0
        self.norm_range = (np.inf, 0.0)
        self._sample = RowSample(SAMPLE_ROWS)

    def update(self, block: Any) -> None:
        """Add a block of rows."""
        size = block.shape[0] * block.shape[1]
        self._add_moments(self.n_rows * self.n_features, size, *_moments(block))
        self.n_rows += block.shape[0]
        self.n_features = block.shape[1]
        xp = namespace(block)
        norms = row_norms(block, xp)
        low, high = self.norm_range
        self.norm_range = (min(low, float(xp.min(norms))), max(high, float(xp.max(norms))))
        self._sample.add(block)

    def merge(self, other: RowSummary) -> None:
        """Add the rows that another summary has seen."""
        if other.n_rows == 0:
            return
        self.n_features = other.n_features
        size = other.n_rows * other.n_features
        self._add_moments(self.n_rows * self.n_features, size, other.mean, other.sum_of_squares)
        self.n_rows += other.n_rows
        low, high = zip(self.norm_range, other.norm_range, strict=True)
        self.norm_range = (min(low), max(high))
        self._sample.merge(other._sample)

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
            value = math.sqrt(self.sum_of_squares / (2 * self.n_rows))
        else:
            value = self._median(distance)
        if not value > 0 or not math.isfinite(value):
            raise ValueError(
                f"lengthscale={rule!r} needs at least two different rows of finite spread, but X "
                f"with n_samples={self.n_rows} gives {value}; give a number instead."
            )
        return value

    def _median(self, distance: str) -> float:
        sample = self.sample.astype(float)
        xp = namespace(np.empty(0))
        with np.errstate(over="ignore", invalid="ignore"):
            if distance == "manhattan":
                values = manhattan_distances(sample, sample, xp)
            else:
                values = np.sqrt(squared_distances(sample, sample, xp))
        pairs = values[np.triu_indices(values.shape[0], 1)]
        different = pairs[pairs > 0]
        return float(np.median(different)) if different.size else 0.0

    def _add_moments(self, before: int, size: int, mean: float, sum_of_squares: float) -> None:
        """Merge mean and sum of squared deviations of ``size`` more entries (Chan et al.)."""
        total = before + size
        shift = mean - self.mean
        self.mean += shift * size / total
        self.sum_of_squares += sum_of_squares + shift * shift * before * size / total


def _moments(block: Any) -> tuple[float, float]:
    """Return the mean of all entries of a block and their squared deviations from it."""
    size = block.shape[0] * block.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(block):
            values = block.data.astype(float)
            mean = float(values.sum()) / size
            return mean, float(((values - mean) ** 2).sum() + (size - values.size) * mean**2)
        xp = namespace(block)
        values = as_floating(block, "float64")
        mean = float(xp.sum(values)) / size
        return mean, float(xp.sum((values - mean) ** 2))
