"""K-means on a cluster: starts from a sample of the rows, then passes over all of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans

from .._array import to_numpy
from .._random import Stream
from ..engine.cluster import Partitions
from ..engine.progress import Progress
from ..engine.sample import RowSample
from ..engine.streams import Block
from .cluster_rows import rows_with_weight
from .feature_rows import checked_rows
from .k_means_state import SAMPLE_ROWS, KMeansState, add_to_sample
from .kernel_objective import ClusterTotals
from .row_streams import feature_blocks

#: Rows of which the first centers are found; so few in all are clustered on one machine.
START_ROWS = 20_000


@dataclass
class Samples:
    """Rows for the starts, rows for the objective, and how many rows there are.

    Attributes
    ----------
    starts, objective : RowSample
        Of rows and weights.
    n_rows : int
        Rows that were seen.
    """

    starts: RowSample
    objective: RowSample
    n_rows: int = 0

    @classmethod
    def below(cls, seed: int, n_rows: int) -> Samples:
        """Return empty samples for rows that stand below others."""
        found = cls(RowSample(START_ROWS, Stream(seed).child("starts")), RowSample(SAMPLE_ROWS))
        for sample in (found.starts, found.objective):
            sample.skip(n_rows)
        return found

    def merge(self, other: Samples) -> None:
        """Add the rows of other samples, which stand below."""
        self.starts.merge(other.starts)
        self.objective.merge(other.objective)
        self.n_rows += other.n_rows


@dataclass
class Assigned:
    """What follows of rows that were assigned to their closest centers.

    Attributes
    ----------
    sums : array of shape (n_clusters, n_components)
        Weighted sums of the features of each cluster.
    totals : ClusterTotals
        Rows and weights of each cluster.
    inertia : float
        The weighted sum of squared distances.
    """

    sums: np.ndarray
    totals: ClusterTotals
    inertia: float

    def merge(self, other: Assigned) -> None:
        """Add what follows of other rows."""
        self.sums = self.sums + other.sums
        self.totals = self.totals.with_rows(other.totals)
        self.inertia += other.inertia


def cluster_partitions(state: KMeansState, parts: Partitions, owner: Any, start: KMeans) -> None:
    """Find the centers of all rows of a cluster: Lloyd's iterations, a pass each.

    The starts are those of k-means on a uniform sample of the rows, which does not depend on how
    they are cut. A center that loses its rows stays where it is.

    Parameters
    ----------
    state : KMeansState
        Of which the features are known.
    parts : Partitions
        Rows of positive weight.
    owner : estimator
        Whose columns they must have.
    start : KMeans
        Finds centers in features of the sample.
    """
    found = parts.total(_samples, (owner, state.rows.fitted, state.seed), "samples", parts.begins())
    if state.sample is not None:
        state.sample = found.objective
    state.n_rows = found.n_rows
    X, weights = found.starts.columns
    Z, own = state.rows.block(X), None if (weights == 1).all() else weights
    tolerance = start.tol * float(np.mean(np.var(Z, axis=0, dtype=float)))
    state.cluster(Z, own, start)
    state.labels = None
    if len(found.starts.keys) == found.n_rows:
        # The sample has been all rows.
        return
    state.centers = state.centers.astype(float)
    light, moving = _light(state, owner), True
    with Progress("k-means", start.max_iter) as progress:
        for state.n_iter in range(1, start.max_iter + 1):
            assigned = _assigned(light, parts)
            weight = assigned.totals.weight[:, None]
            known = np.where(weight > 0, weight, 1.0)
            centers = np.where(weight > 0, assigned.sums / known, state.centers)
            moving = float(np.sum((centers - state.centers) ** 2)) > tolerance
            state.centers = light[1].centers = centers
            progress.advance(1)
            progress.show()
            if not moving:
                break
    assigned = _assigned(light, parts)
    state.inertia, state.totals = assigned.inertia, assigned.totals
    state.counts = assigned.totals.weight.copy()


def inertia_of(state: KMeansState, parts: Partitions, owner: Any) -> float:
    """Return the weighted sum of squared distances of rows of a cluster to their centers.

    Parameters
    ----------
    state : KMeansState
        With centers.
    parts : Partitions
        The rows.
    owner : estimator
        Whose columns they must have.
    """
    return _assigned(_light(state, owner), rows_with_weight(parts)).inertia


def _light(state: KMeansState, owner: Any) -> tuple[Any, KMeansState]:
    """Return what assigns rows to centers, and nothing of the samples."""
    copied = copy.copy(state)
    copied.sample = copied.labels = copied.totals = None
    return owner, copied


def _assigned(light: tuple[Any, KMeansState], parts: Partitions) -> Assigned:
    owner, state = light
    found: Assigned = parts.total(_assign, (owner, copy.copy(state)), "assignments")
    return found


def _samples(shared: Any, block: Block, n_before: int) -> Samples:
    owner, features, seed = shared
    found = Samples.below(seed, n_before)
    X = checked_rows(block.X, features, owner=owner, reset=False)
    rows = X if hasattr(X, "tocsr") else to_numpy(X)
    for sample in (found.starts, found.objective):
        add_to_sample(sample, rows, block.weights)
    found.n_rows = int(X.shape[0])
    return found


def _assign(shared: Any, block: Block, start: None) -> Assigned:
    owner, state = shared
    X = checked_rows(block.X, state.rows.fitted, owner=owner, reset=False)
    total: Assigned | None = None
    for rows, Z in feature_blocks(state.rows, X, state.block_rows()):
        labels, squares = state.closest(Z)
        own = np.ones(len(Z)) if block.weights is None else block.weights[rows]
        places = (labels, np.arange(len(Z)))
        members = scipy.sparse.csr_array((own, places), shape=(state.n_clusters, len(Z)))
        part = Assigned(
            members @ Z.astype(float),
            ClusterTotals.of(labels, own, state.n_clusters),
            float(own @ squares),
        )
        if total is None:
            total = part
        else:
            total.merge(part)
    assert total is not None
    return total
