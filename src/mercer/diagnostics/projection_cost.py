"""How well features stand in for a kernel in k-means and principal components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg

from .._array import to_numpy
from ..features.kernel_of import features_of, kernel_of
from ..features.some_rows import some_rows
from ..kernels import Kernel


@dataclass(frozen=True)
class ProjectionCost:
    """What projections of some rank leave of the features, beside what they leave of the kernel.

    The guarantee that features preserve the cost of *all* projections to 1 ± ε cannot be checked;
    two projections are the natural ones to break it.

    Attributes
    ----------
    of_kernel : float
        The cost with features over that with the kernel, of the best projection for the kernel.
    of_features : float
        The same of the best projection for the features.
    excess : float
        What the best projection for the features leaves of the kernel, over the least that any
        leaves: 1 or more.
    rank : int
        The rank of the projections.
    n_rows, n_total : int
        Rows that were compared, and rows of the data.

    Examples
    --------
    >>> print(ProjectionCost(0.98, 0.95, 1.02, rank=10, n_rows=500, n_total=500))
    projection costs of rank 10: 0.98 and 0.95 times the kernel's, excess 1.02 (500 rows)
    """

    of_kernel: float
    of_features: float
    excess: float
    rank: int
    n_rows: int
    n_total: int

    @property
    def epsilon(self) -> float:
        """The larger deviation of the two ratios from 1."""
        return max(abs(1 - self.of_kernel), abs(1 - self.of_features))

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} rows"
        if self.n_rows < self.n_total:
            rows = f"{self.n_rows:,} of {self.n_total:,} rows"
        return (
            f"projection costs of rank {self.rank}: {self.of_kernel:.3g} and "
            f"{self.of_features:.3g} times the kernel's, excess {self.excess:.3g} ({rows})"
        )


def projection_cost(
    feature_map: Any,
    X: Any,
    rank: int,
    *,
    kernel: Kernel | Callable[..., Any] | None = None,
    n_rows: int = 2000,
    random_state: Any = 0,
) -> ProjectionCost:
    r"""Return the costs of projections with the features beside those with the kernel.

    The cost of a projection P is :math:`\operatorname{tr}(K - P K P)`: what principal components
    leave unexplained, and what k-means minimises among projections onto clusters.

    Parameters
    ----------
    feature_map : fitted transformer
        A feature map, or one of scikit-learn's kernel approximations.
    X : array of shape (n_samples, n_features)
        The rows.
    rank : int
        The rank of the projections: components, or clusters.
    kernel : Kernel or callable, default=None
        The kernel, where the map does not say which it approximates.
    n_rows : int, default=2000
        Rows to compare, drawn at random if there are more.
    random_state : int, RandomState, Generator or None, default=0
        Which rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, RandomFourier
    >>> from mercer.diagnostics import projection_cost
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> features = RandomFourier(Gaussian(2.0), n_components=2000, random_state=0).fit(X)
    >>> bool(projection_cost(features, X, rank=5).epsilon < 0.1)
    True
    """
    known = kernel_of(feature_map, kernel)
    rows = some_rows(feature_map, X, n_rows, random_state)
    n = int(rows.chosen.shape[0])
    if isinstance(rank, bool) or not isinstance(rank, Integral) or not 1 <= rank < n:
        raise ValueError(f"rank must be an integer from 1 to {n - 1}, got {rank!r}.")
    K = to_numpy(known(rows.chosen)).astype(float)
    Z = features_of(feature_map, rows.chosen)
    costs = projection_ratios(Z @ Z.T, K, int(rank))
    return ProjectionCost(*costs, int(rank), n, rows.n_total)


def projection_ratios(A: np.ndarray, K: np.ndarray, rank: int) -> tuple[float, float, float]:
    """Return cost ratios of the best projections for K and for A, and the excess of the latter.

    Parameters
    ----------
    A, K : arrays of shape (n, n)
        Inner products of features, and the kernel matrix.
    rank : int
        The rank of the projections.

    Examples
    --------
    >>> K = np.diag([4.0, 2.0, 1.0])
    >>> projection_ratios(2 * K, K, 1)
    (2.0, 2.0, 1.0)
    """
    best = _leading(K, rank)
    own = _leading(A, rank)
    least, found = _left(K, best), _left(K, own)
    if not least > 0:
        raise ValueError(
            f"The kernel matrix has rank {rank} or less, up to rounding: projections leave "
            "nothing that could be compared; give a smaller rank."
        )
    return _left(A, best) / least, _left(A, own) / found, found / least


def _leading(A: np.ndarray, rank: int) -> np.ndarray:
    """Return the eigenvectors of the largest eigenvalues."""
    n = len(A)
    return np.asarray(scipy.linalg.eigh(A, subset_by_index=[n - rank, n - 1])[1])


def _left(A: np.ndarray, vectors: np.ndarray) -> float:
    """Return what a projection leaves of the trace."""
    total, known = float(np.trace(A)), float(np.sum((A @ vectors) * vectors))
    return total - known if total - known > len(A) * np.finfo(float).eps * total else 0.0
