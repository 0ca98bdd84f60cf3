"""K-means in the space of a kernel, on explicit features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances

from .._random import Stream, seed_of
from .._registry import storable
from .._sklearn import (
    RANDOM_STATE,
    ClusterMixin,
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
    unchanged_on_error,
)
from ..engine.cluster import Partitions, answered, on_cluster
from ..engine.config import matrix_memory
from ..engine.streams import refuse_beside_stream, stream_names
from ..engine.threads import allowed_threads
from .cluster_rows import rows_with_weight
from .feature_rows import FeatureRows, warn_of_first_block
from .k_means_on_cluster import cluster_partitions, inertia_of
from .k_means_state import KMeansState, WeightedFeatures, refuse_few
from .kernel_objective import KernelObjective
from .row_streams import feature_blocks, is_row_stream, joined
from .unsupervised import UnsupervisedMachine


@storable
class KernelKMeans(ClusterMixin, UnsupervisedMachine):
    r"""K-means in the space of a kernel, through explicit features.

    Kernel k-means minimises the squared distances to the means of the clusters in the space of
    the kernel, :math:`\sum_C \sum_{i \in C} \|\varphi(x_i) - \mu_C\|^2`, where clusters need
    not be convex. With features :math:`z(x)^\top z(y) \approx k(x, y)` it is k-means on
    :math:`z(x)`: linear in the rows, and with centers that new rows can be compared to.

    Where the features of all rows fit in memory, scikit-learn's ``KMeans`` runs on them. Otherwise,
    and on streams, mini-batches move every center to the mean of the rows that were assigned to it
    so far; ``method_`` says which it was.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, or another transformer; ``None`` means ``RandomFourier`` of
        ``Gaussian("median")``.
    n_clusters : int, default=8
        Clusters to find.
    n_init : "auto" or int, default=5
        Starts, of which the best is kept; ``"auto"`` is one, as in scikit-learn.
    max_iter : int, default=300
        The most iterations of a start, or passes of mini-batches.
    tol : float, default=1e-4
        K-means stops when the centers move by less than this, relative to the variance of the
        features; mini-batches when a pass lowers the objective by less than this share of it.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the starts, and of the features where they are ``None``.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_components)
        The centers, in the space of the features.
    labels_ : array of shape (n_samples,) or None
        The cluster of every row; ``None`` after ``partial_fit``, a stream that can be read once,
        or rows on a cluster, for which ``predict`` gives them lazily.
    inertia_ : float or None
        The sum of squared distances of the features to their centers; ``None`` as above.
    n_iter_ : int
        Iterations of the best start, or passes of mini-batches.
    method_ : {"k-means", "mini-batches"}
        How the centers were found.
    objective_ : KernelObjective or None
        The objective per row in the space of the exact kernel, measured on a uniform sample of
        at most 2,000 rows: comparable between feature maps of a kernel. ``None`` where the
        features do not name a kernel. Computed when it is first asked for.
    features_ : transformer
        The fitted features.

    Examples
    --------
    Two rings, which k-means on the columns cannot tell apart:

    >>> from sklearn.datasets import make_circles
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from mercer import Gaussian, KernelKMeans, RandomFourier
    >>> X, rings = make_circles(600, factor=0.3, noise=0.05, random_state=0)
    >>> features = RandomFourier(Gaussian(0.3), n_components=200, random_state=0)
    >>> model = KernelKMeans(features, n_clusters=2).fit(X)
    >>> print(adjusted_rand_score(rings, model.labels_), model.method_)
    1.0 k-means

    The objective in the space of the exact kernel, per row:

    >>> print(model.objective_)
    0.7132 ± 0 (600 rows)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "features": [HasMethods(["fit", "transform"]), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    _state: KMeansState | None = None

    def __init__(
        self,
        features: Any = None,
        n_clusters: int = 8,
        *,
        n_init: Any = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = 0,
    ) -> None:
        self.features = features
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters of all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterable of blocks: rows, (X, y) or (X, y, sample_weight). Its features
            are fitted on the first block. An iterator, which can be read once only, gets one
            pass of mini-batches. Of Dask arrays and data frames every iteration is a pass.
        y : ignored
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        with unchanged_on_error(self), allowed_threads():
            self._state = None
            if on_cluster(X):
                self._state = self._fit_partitions(Partitions.of(X, None, sample_weight))
            elif is_row_stream(X):
                refuse_beside_stream(sample_weight=sample_weight)
                self._state = self._fit_stream(X)
                names = stream_names(X)
                if names is not None:
                    self.feature_names_in_ = names
            else:
                self._state = self._fit_rows(X, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centers by one more block of rows, a step of mini-batches.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block; the first one has at least as many rows as there are clusters.
        y : ignored
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        state = self._state
        if state is not None:
            state.refuse_compact("partial_fit")
            if state.n_clusters != self.n_clusters:
                raise ValueError(
                    f"n_clusters={self.n_clusters} differs from the {state.n_clusters} clusters "
                    "learnt so far; call fit to start again."
                )
        with unchanged_on_error(self), allowed_threads():
            X, weights = self._checked(X, sample_weight, reset=state is None)
            if state is None:
                known = X.shape[0] if weights is None else int(np.count_nonzero(weights))
                refuse_few(known, self.n_clusters)
                state = self._new_state(X)
                warn_of_first_block(self._map(state.seed, X), X.shape[0])
            # A block whose features are refused changes nothing.
            state.add(state.rows.block(X), weights, self._start(state.seed))
            state.observe(X, weights)
            self._state = state
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of every row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        if on_cluster(X):
            return answered(self, "predict", X)
        return self._fitted().closest_to_rows(self._checked(X)[0])[0]

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances of rows to the centers, in the space of the features.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        distances : array of shape (n_samples, n_clusters)
        """
        if on_cluster(X):
            return answered(self, "transform", X)
        state, X = self._fitted(), self._checked(X)[0]
        parts = [
            euclidean_distances(Z, state.centers.astype(Z.dtype))
            for _, Z in feature_blocks(state.rows, X, state.block_rows())
        ]
        return np.concatenate(parts)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the sum of squared distances of the features to their centers, negated.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        y : ignored
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        score : float
        """
        state = self._fitted()
        if on_cluster(X):
            return -inertia_of(state, Partitions.of(X, None, sample_weight), self)
        X, weights = self._checked(X, sample_weight)
        squares = state.closest_to_rows(X)[1]
        return -float(squares.sum() if weights is None else weights @ squares)

    def kernel_objective(self, X: Any, sample_weight: Any = None) -> KernelObjective | None:
        """Return the objective per row of other rows, in the space of the exact kernel.

        It is the cost of the clusters that ``predict`` gives these rows, about their own means.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        objective : KernelObjective or None
            Measured on a uniform sample of at most 2,000 rows; ``None`` where the features do
            not name a kernel.
        """
        state = self._fitted()
        X, weights = self._checked(X, sample_weight)
        return None if state.kernel is None else state.objective_of(X, weights)

    @property
    def cluster_centers_(self) -> np.ndarray:
        """The centers, in the space of the features."""
        return self._fitted().centers

    @property
    def labels_(self) -> np.ndarray | None:
        """The cluster of every row, if there was a pass with the final centers."""
        return self._fitted().labels

    @property
    def inertia_(self) -> float | None:
        """The sum of squared distances of the features to their centers."""
        return self._fitted().inertia

    @property
    def n_iter_(self) -> int:
        """Iterations of the best start, or passes of mini-batches."""
        return self._fitted().n_iter

    @property
    def method_(self) -> str:
        """How the centers were found, "k-means" or "mini-batches"."""
        return self._fitted().method

    @property
    def objective_(self) -> KernelObjective | None:
        """The objective per row in the space of the exact kernel."""
        return self._fitted().objective()

    @property
    def _n_features_out(self) -> int:
        """The name that scikit-learn has for the columns of ``transform``."""
        return self._fitted().n_clusters

    def _fit_rows(self, X: Any, sample_weight: Any) -> KMeansState:
        """Learn from rows that are all there are."""
        X, weights = self._checked(X, sample_weight, reset=True)
        # The first block of features must have enough rows that count.
        known = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        refuse_few(len(known), self.n_clusters)
        state = self._new_state(X)
        state.observe(X, weights)
        start = self._start(state.seed)
        if state.feature_bytes(X) <= matrix_memory(X):
            state.cluster(state.rows.block(X), weights, start)
            return state
        generator = Stream(state.seed).child("mini-batches").generator()

        def blocks() -> Iterator[WeightedFeatures]:
            order = generator.permutation(known)
            for rows, Z in feature_blocks(state.rows, X, state.block_rows(), order):
                yield Z, None if weights is None else weights[rows]

        state.more_passes(blocks, start)
        state.settle(*state.closest_to_rows(X), weights)
        return state

    def _fit_stream(self, stream: Iterable[Any]) -> KMeansState:
        """Learn from blocks, in several passes if they can be read again."""
        blocks = self._stream_rows(stream, fresh=True)
        X, weights = next(blocks)
        state = self._new_state(X)
        warn_of_first_block(self._map(state.seed, X), X.shape[0])
        start = self._start(state.seed)

        def features(blocks: Iterable[tuple[Any, np.ndarray]]) -> Iterator[Any]:
            for X, weights in blocks:
                for rows, Z in feature_blocks(state.rows, X, state.block_rows()):
                    yield Z, weights[rows]

        def first_pass() -> Iterator[Any]:
            for X_block, w in chain([(X, weights)], blocks):
                state.observe(X_block, w)
                yield X_block, w

        inertia = 0.0
        # Short blocks are joined, so that there are rows enough to start from.
        for Z, own in joined(features(first_pass()), state.block_rows()):
            refuse_few(len(Z) if state.is_empty else self.n_clusters, self.n_clusters)
            inertia += state.add(Z, own, start)
        refuse_few(state.n_rows, self.n_clusters)
        if not isinstance(stream, Iterator):

            def again() -> Iterator[WeightedFeatures]:
                blocks = self._stream_rows(stream, fresh=False)
                return joined(features(blocks), state.block_rows())

            state.more_passes(again, start, inertia)
            state.settle_blocks(features(self._stream_rows(stream, fresh=False)))
        return state

    def _fit_partitions(self, parts: Partitions) -> KMeansState:
        """Learn from all rows of a cluster."""
        X, _ = self._checked(parts.example.X, reset=True)
        known = rows_with_weight(parts)
        refuse_few(known.n_rows, self.n_clusters)
        state = self._new_state(X, parts)
        cluster_partitions(state, known, self, self._start(state.seed))
        return state

    def _new_state(self, X: Any, parts: Partitions | None = None) -> KMeansState:
        """Return a state of which only the features are known."""
        seed = seed_of(self.random_state)
        rows = FeatureRows.learnt(self._map(seed, X), X if parts is None else parts)
        return KMeansState(rows, self.n_clusters, seed)

    def _start(self, seed: int) -> KMeans:
        """Return scikit-learn's estimator that finds centers in features."""
        return KMeans(
            self.n_clusters, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol,
            random_state=seed,
        )  # fmt: skip
