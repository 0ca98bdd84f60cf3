"""What kernel k-means has learnt: features, centers and the weight behind each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from .._array import as_floating, is_sparse
from .._registry import storable
from ..engine.sample import RowSample
from ..engine.streams import learning_rows, rows_at, rows_between
from ..engine.threads import allowed_threads, openmp_threads
from .feature_rows import FeatureRows
from .kernel_objective import ClusterTotals, KernelObjective, kernel_objective
from .row_streams import feature_blocks

#: Features of a block of rows, and sample weights if there are any.
WeightedFeatures = tuple[np.ndarray, np.ndarray | None]

#: Rows of which the exact kernel is computed for the objective.
SAMPLE_ROWS = 2000


@storable
class KMeansState:
    """The state of :class:`KernelKMeans`.

    Parameters
    ----------
    rows : FeatureRows
        How rows become features.
    n_clusters : int
        Clusters there are.
    seed : int
        Seed of the starts.
    """

    rows: FeatureRows
    n_clusters: int
    seed: int

    def __init__(self, rows: FeatureRows, n_clusters: int, seed: int) -> None:
        self.rows, self.n_clusters, self.seed = rows, n_clusters, seed
        self.centers: np.ndarray = np.empty((0, rows.width))
        #: The weight of the rows that each center is the mean of.
        self.counts: np.ndarray = np.zeros(n_clusters)
        self.method: str = "mini-batches"
        self.n_iter: int = 1
        #: Of all rows, where there was a pass over them with the final centers.
        self.labels: np.ndarray | None = None
        self.inertia: float | None = None
        self.totals: ClusterTotals | None = None
        self.n_rows: int = 0
        self.sample: RowSample | None = self.new_sample()
        self.is_compact = False
        self._objective: KernelObjective | None = None

    @property
    def kernel(self) -> Any:
        """The exact kernel of the features, or ``None`` where they have none."""
        return getattr(self.rows.fitted, "kernel_", None)

    @property
    def is_empty(self) -> bool:
        """Whether there are no centers yet."""
        return not len(self.centers)

    def new_sample(self) -> RowSample | None:
        """Return an empty sample of rows for the exact kernel, if there is one."""
        return None if self.kernel is None else RowSample(SAMPLE_ROWS)

    def block_rows(self) -> int:
        """Return how many rows to turn into features at a time; enough to start from."""
        return max(10 * self.n_clusters, learning_rows(self.rows.width, 8))

    def observe(self, X: Any, weights: np.ndarray | None) -> None:
        """Count rows, and keep a sample of them; those of weight zero are passed over."""
        self._objective = None
        self.n_rows += X.shape[0] if weights is None else int((weights > 0).sum())
        if self.sample is not None:
            add_to_sample(self.sample, X, weights)

    def cluster(self, Z: np.ndarray, weights: np.ndarray | None, found: KMeans) -> None:
        """Run k-means on the features of all rows, which may be changed if they are ours."""
        found.set_params(copy_x=not self.rows.overwritable)
        with self._threads(Z):
            found.fit(Z, sample_weight=weights)
        self.centers, self.n_iter, self.method = found.cluster_centers_, found.n_iter_, "k-means"
        labels, squares = self.closest(Z)
        self.settle(labels, squares, weights)

    def settle(self, labels: np.ndarray, squares: np.ndarray, weights: np.ndarray | None) -> None:
        """Note the clusters of all rows, found with the final centers."""
        self.labels = labels
        self.inertia = float(squares.sum() if weights is None else weights @ squares)
        self.totals = ClusterTotals.of(labels, weights, self.n_clusters)
        self.counts = self.totals.weight.copy()

    def settle_blocks(self, blocks: Iterator[WeightedFeatures]) -> None:
        """Note the clusters of all rows of a last pass over a stream."""
        parts = [(*self.closest(Z), weights) for Z, weights in blocks]
        self.settle(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def feature_bytes(self, X: Any) -> int:
        """Return the bytes that the features of all rows take, with a copy if they are not ours."""
        row = self.rows.block(rows_between(X, 0, 1))
        return int(row.nbytes * X.shape[0] * (1 if self.rows.overwritable else 2))

    def add(self, Z: np.ndarray, weights: np.ndarray | None, start: KMeans) -> float:
        """Move the centers by a block of features, and return its inertia before.

        The first block is clustered by itself, and so gives the first centers.
        """
        if self.is_empty:
            with self._threads(Z):
                found = start.fit(Z, sample_weight=weights)
            self.centers = found.cluster_centers_.astype(float)
        elif self.method == "k-means":
            self.centers = self.centers.astype(float)
        self.method, self.labels, self.inertia, self.totals = "mini-batches", None, None, None
        labels, squares = self.closest(Z)
        self.centers, self.counts = moved(self.centers, self.counts, Z, weights, labels, squares)
        return float(squares.sum() if weights is None else weights @ squares)

    def more_passes(
        self,
        blocks: Callable[[], Iterator[WeightedFeatures]],
        start: KMeans,
        before: float | None = None,
    ) -> None:
        """Pass over the rows until that helps no longer; ``before``: the inertia of a first one."""
        done = 0 if before is None else 1
        while done < start.max_iter:
            inertia = sum(self.add(Z, weights, start) for Z, weights in blocks())
            done += 1
            if before is not None and before - inertia <= start.tol * before:
                break
            before = inertia
        self.n_iter = done

    def closest_to_rows(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the closest center for checked rows, and the squared distances."""
        blocks = feature_blocks(self.rows, X, self.block_rows())
        labels, squares = zip(*(self.closest(Z) for _, Z in blocks), strict=True)
        return np.concatenate(labels), np.concatenate(squares)

    def closest(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the closest center for features of rows, and the squared distances."""
        centers = self.centers.astype(Z.dtype)
        with self._threads(Z):
            labels, distances = pairwise_distances_argmin_min(
                Z, centers, metric="euclidean", metric_kwargs={"squared": True}
            )
        return labels.astype(np.int32), distances.astype(float)

    @contextmanager
    def _threads(self, Z: np.ndarray) -> Iterator[None]:
        """Hold OpenMP and BLAS to the threads that a step with some features is worth."""
        operations = 2 * Z.size * self.n_clusters
        with openmp_threads(operations), allowed_threads(operations):
            yield

    def objective(self) -> KernelObjective | None:
        """Return the objective in the space of the exact kernel, computed once."""
        if self._objective is None and self.sample is not None:
            self._objective = self.measured(self.sample, self.totals, self.n_rows)
        return self._objective

    def objective_of(self, X: Any, weights: np.ndarray | None) -> KernelObjective:
        """Return the objective of checked rows, with the clusters that are closest to them."""
        totals = ClusterTotals.of(self.closest_to_rows(X)[0], weights, self.n_clusters)
        if not totals.weight.any():
            refuse_few(0, self.n_clusters)
        sample = RowSample(SAMPLE_ROWS)
        add_to_sample(sample, X, weights)
        return self.measured(sample, totals, int(totals.n_rows.sum()))

    def measured(
        self, sample: RowSample, totals: ClusterTotals | None, n_rows: int
    ) -> KernelObjective:
        """Return the objective from a sample of ``n_rows`` rows; without totals, estimate them."""
        X, weights = sample.columns
        labels, _ = self.closest(self.rows.block(X))
        known = totals
        if known is None:
            known = ClusterTotals.of(labels, weights, self.n_clusters).scaled(n_rows / len(labels))
        K = np.asarray(self.kernel(as_floating(X, "float64")))
        with allowed_threads(2 * len(K) ** 2 * self.n_clusters):
            return kernel_objective(K, labels, known, weights, estimated=totals is None)

    def refuse_compact(self, what: str) -> None:
        """Raise an error if the model was saved without its sample of rows."""
        if self.is_compact:
            raise ValueError(
                f"{what} needs the sample of training rows, which this model was saved without; "
                "save it with compact=False."
            )

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, neither rows of the data nor labels."""
        if not compact:
            return dict(self.__dict__)
        objective = self.objective()
        return {
            **self.__dict__, "_objective": objective, "sample": None, "labels": None,
            "is_compact": True,
        }  # fmt: skip


def refuse_few(n_rows: int, n_clusters: int) -> None:
    """Raise an error if there are fewer rows of positive weight than clusters.

    Examples
    --------
    >>> refuse_few(3, 3)
    """
    if n_rows == 0:
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive."
        )
    if n_rows < n_clusters:
        raise ValueError(
            f"n_samples={n_rows} should be >= n_clusters={n_clusters}: each cluster needs "
            "a row of positive weight; ask for fewer clusters, or give more rows at once."
        )


def add_to_sample(sample: RowSample, X: Any, weights: np.ndarray | None) -> None:
    """Add the rows of positive weight, and their weights, to a sample.

    Examples
    --------
    >>> sample = RowSample(5)
    >>> add_to_sample(sample, np.eye(3), np.asarray([1.0, 0.0, 2.0]))
    >>> sample.columns[1]
    array([1., 2.])
    """
    if weights is None:
        weights = np.ones(X.shape[0])
    elif not weights.all():
        kept = np.flatnonzero(weights)
        X, weights = rows_at(X, kept), weights[kept]
    if len(weights):
        sample.add(X.tocsr() if is_sparse(X) else X, weights)


def moved(
    centers: np.ndarray,
    counts: np.ndarray,
    Z: np.ndarray,
    weights: np.ndarray | None,
    labels: np.ndarray,
    squares: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return centers and the weight behind them after a step of mini-batch k-means.

    Every center stays the mean of all rows that were ever assigned to it. A center without any
    row moves to the row of the block that is farthest from its own center.

    Parameters
    ----------
    centers : array of shape (n_clusters, n_components)
        The centers.
    counts : array of shape (n_clusters,)
        The weight of the rows that each is the mean of.
    Z : array of shape (n_samples, n_components)
        Features of a block of rows.
    weights : array of shape (n_samples,) or None
        Sample weights.
    labels, squares : arrays of shape (n_samples,)
        The closest center of every row, and its squared distance.

    Examples
    --------
    >>> Z = np.asarray([[1.0], [3.0]])
    >>> moved(np.zeros((1, 1)), np.ones(1), Z, None, np.zeros(2, dtype=int), Z[:, 0] ** 2)
    (array([[1.33333333]]), array([3.]))
    """
    own = np.ones(len(Z)) if weights is None else weights
    places = (labels, np.arange(len(Z)))
    members = scipy.sparse.csr_array((own, places), shape=(len(centers), len(Z)))
    added = np.bincount(labels, own, len(centers))
    total = counts + added
    shift = members @ Z - added[:, None] * centers
    result = centers + shift / np.maximum(total, np.finfo(float).tiny)[:, None]
    empty = np.flatnonzero(total == 0)
    far = np.argsort(-squares * (own > 0), kind="stable")[: len(empty)]
    far = far[(squares * own)[far] > 0]
    result[empty[: len(far)]] = Z[far]
    total[empty[: len(far)]] = own[far]
    return result, total
