"""The sums that ridge regression needs of packed features: counts of bits, exact in integers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._registry import storable
from ..features import PackedFeatures
from ..features.packed import add_column_gram, column_products, column_sums
from ..ops.products import add_gram
from .gathered import Accumulator
from .statistics import Moments, RidgeStatistics, accumulator_for

#: Weighted rows that are unpacked at once.
ROWS = 1024


@storable
class PackedMoments(Moments):
    """Sums of packed features about zero; where rows are not weighted, nothing is unpacked.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> moments = PackedMoments(n_features=2, n_targets=1)
    >>> moments.add(PackedFeatures.pack([[1, -1], [1, 0]]), np.asarray([[2.0], [4.0]]))
    >>> moments.z_sum, moments.full_gram().tolist()
    (array([ 2., -1.]), [[2.0, -1.0], [-1.0, 1.0]])
    """

    y_reference: np.ndarray

    def add(  # type: ignore[override]
        self,
        Z: PackedFeatures,
        Y: np.ndarray,
        weights: np.ndarray | None = None,
        overwrite: bool = False,
    ) -> None:
        """Add a block of features, its targets and, if there are any, its weights."""
        if self.z_reference.any():
            # Merged with sums about another point: these are brought there.
            part = PackedMoments(self.n_features, self.n_targets)
            part.add(Z, Y, weights)
            self.merge(part)
            return
        self.n_rows += len(Z)
        if weights is not None and not weights.all():
            kept = weights > 0
            Z, Y, weights = Z[kept], Y[kept], weights[kept]
        if not len(Z):
            return
        own = np.ones(len(Z)) if weights is None else weights
        if self.n_positive == 0:
            self.y_reference = np.asarray(own @ Y / own.sum(), dtype=float)
        Y = np.asarray(Y, dtype=float) - self.y_reference
        self.n_positive += len(Z)
        self.weight += float(own.sum())
        weighted = own[:, None] * Y
        self.y_sum += weighted.sum(axis=0)
        self.y_squares += (weighted * Y).sum(axis=0)
        self.cross += column_products(Z, weighted)
        if weights is None:
            self.z_sum += column_sums(Z)
            add_column_gram(self.gram, Z)
            return
        self.z_sum += column_products(Z, own)
        for start in range(0, len(Z), ROWS):
            root = np.sqrt(own[start : start + ROWS])[:, None]
            add_gram(self.gram, Z[start : start + ROWS].unpack(np.float64) * root)


@storable
class PackedStatistics(RidgeStatistics):
    """Moments of packed features of all rows, and of every fold.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> Z = PackedFeatures.pack([[1, -1], [1, 0], [0, 1]])
    >>> statistics = accumulator_for(Z, 2, 1)
    >>> statistics.add(Z, np.ones((3, 1)))
    >>> type(statistics).__name__, statistics.total().z_sum
    ('PackedStatistics', array([2., 0.]))
    """

    moments: ClassVar[type[Moments]] = PackedMoments


@accumulator_for.register
def _(block: PackedFeatures, n_features: int, n_targets: int, n_folds: int = 0) -> Accumulator:
    return PackedStatistics(n_features, n_targets, n_folds)
