"""The objective of k-means in the space of an exact kernel, measured on a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._registry import storable


@storable
@dataclass(frozen=True)
class KernelObjective:
    """The k-means objective of a clustering in the space of an exact kernel, per row.

    Attributes
    ----------
    mean : float
        The mean squared distance of a row from the mean of its cluster, in the space of the
        kernel.
    standard_error : float
        Its standard error; 0 where all rows were used.
    n_rows : int
        Sampled rows that it was measured on.

    Examples
    --------
    >>> print(KernelObjective(0.5, 0.01, 2000))
    0.5 ± 0.01 (2,000 rows)
    """

    mean: float
    standard_error: float
    n_rows: int

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.standard_error:.2g} ({self.n_rows:,} rows)"


@storable
@dataclass(frozen=True)
class ClusterTotals:
    """What is known of every cluster from all rows: how many, their weight, and its squares.

    Attributes
    ----------
    n_rows, weight, squares : array of shape (n_clusters,)
        Rows of positive weight, the sum of their weights, and that of the squares.

    Examples
    --------
    >>> ClusterTotals.of(np.asarray([0, 1, 1]), None, 2).n_rows
    array([1., 2.])
    """

    n_rows: np.ndarray
    weight: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, weights: np.ndarray | None, n_clusters: int) -> ClusterTotals:
        """Return the totals of rows with these labels.

        Parameters
        ----------
        labels : array of shape (n_samples,)
            The cluster of every row.
        weights : array of shape (n_samples,) or None
            Sample weights; ``None``: all are one.
        n_clusters : int
            Clusters there are.
        """
        own = np.ones(len(labels)) if weights is None else weights
        parts = ((own > 0).astype(float), own, own * own)
        return cls(*(np.bincount(labels, part, n_clusters) for part in parts))

    def with_rows(self, other: ClusterTotals) -> ClusterTotals:
        """Return the totals of these rows and of others."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return ClusterTotals(*(mine + theirs for mine, theirs in pairs))

    def scaled(self, factor: float) -> ClusterTotals:
        """Return the totals of so many times the rows."""
        return ClusterTotals(factor * self.n_rows, factor * self.weight, factor * self.squares)


def kernel_objective(
    K: np.ndarray,
    labels: np.ndarray,
    totals: ClusterTotals,
    weights: np.ndarray | None = None,
    *,
    estimated: bool = False,
) -> KernelObjective:
    r"""Return the k-means objective per row from the kernel matrix of a uniform sample.

    A cluster of :math:`|C|` of the :math:`n` rows contributes

    .. math:: \frac{|C| - 1}{n} \Big(\operatorname*{mean}_{i} k_{ii}
              - \operatorname*{mean}_{i \ne j} k_{ij}\Big)

    with means over its sampled rows, which are unbiased. The standard error is that of the first
    projection of this U-statistic: the variance of
    :math:`k_{ii} - 2 \operatorname{mean}_{j \ne i} k_{ij}` in every cluster, times
    :math:`1 - s/n` for :math:`s` sampled rows. A cluster of one row costs nothing. A larger one
    of which fewer than two rows were sampled cannot be measured: its rows are taken to cost what
    those of the other clusters cost on average, and with no other cluster the mean is NaN.
    Rows of positive weight only; a weight of two counts as two rows.

    Parameters
    ----------
    K : array of shape (n_sampled, n_sampled)
        The exact kernel of the sampled rows.
    labels : array of shape (n_sampled,)
        The clusters of the sampled rows.
    totals : ClusterTotals
        Sizes of the clusters among all rows.
    weights : array of shape (n_sampled,), default=None
        Sample weights of the sampled rows.
    estimated : bool, default=False
        Whether the totals are those of the sample, scaled. Then the sizes of the clusters are
        uncertain too, and the standard error includes it.

    Examples
    --------
    With all rows it is the objective itself, here of rows 0 and 2 in one cluster:

    >>> K = np.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    >>> labels = np.asarray([0, 1, 0])
    >>> print(kernel_objective(K, labels, ClusterTotals.of(labels, None, 2)))
    0.6667 ± 0 (3 rows)
    """
    n_sampled = len(labels)
    own = np.ones(n_sampled) if weights is None else weights
    whole = float(totals.weight.sum())
    cost = variance = unmeasured = 0.0
    values = np.full(n_sampled, np.nan)
    for cluster in np.flatnonzero(totals.n_rows > 0):
        rows = np.flatnonzero(labels == cluster)
        share = float(totals.weight[cluster]) / whole
        if len(rows) < 2:
            unmeasured += share if totals.n_rows[cluster] > 1 else 0.0
            continue
        part = _cost_of(K[np.ix_(rows, rows)], own[rows])
        # By how much of its weight the mean of the cluster falls on a row itself.
        overlap = float(totals.squares[cluster] / totals.weight[cluster]) / whole
        cost += share * part.diagonal - overlap * part.squared - (share - overlap) * part.others
        scaled = own[rows] / own[rows].mean() * part.slopes
        variance += share**2 * float(scaled.var(ddof=1)) / len(rows)
        values[rows] = part.slopes + part.diagonal - part.others
    known = 1.0 - unmeasured
    if known <= 1e-12:
        return KernelObjective(float("nan"), float("nan"), n_sampled)
    mean = max(0.0, cost) / known
    if estimated:
        scaled = own / own.mean() * np.nan_to_num(values - mean)
        variance = float(np.mean(scaled**2)) / max(1, n_sampled - 1)
    rest = max(0.0, 1.0 - n_sampled / float(totals.n_rows.sum()))
    return KernelObjective(mean, float(np.sqrt(rest * variance)) / known, n_sampled)


class _Cost(NamedTuple):
    """Weighted means over the sampled rows of a cluster."""

    #: Of k(x, x), with the weights and with their squares; and of k(x, y) for two rows.
    diagonal: float
    squared: float
    others: float
    #: By how much every row moves the difference of both, about zero.
    slopes: np.ndarray


def _cost_of(K: np.ndarray, weights: np.ndarray) -> _Cost:
    diagonal = K.diagonal()
    products = K @ weights - weights * diagonal
    others = weights.sum() - weights
    mean = float(weights @ diagonal / weights.sum())
    pairs = float(weights @ products / (weights @ others))
    slopes = (diagonal - mean) - 2 * (products / others - pairs)
    squares = weights * weights
    return _Cost(mean, float(squares @ diagonal / squares.sum()), pairs, slopes)
