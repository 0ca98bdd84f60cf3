"""Which rows to label first: a greedy design by the reduction of a bound on the risk.

With the kernel K of all rows and S the labelled ones, the criterion

    J(S) = -Σⱼ wⱼ K_jS (K_SS + λ)⁻¹ K_Sj

falls fastest by the row i with the largest Σⱼ wⱼ (K^S_ij)² / (K^S_ii + λ), where K^S is what S
leaves of the kernel [1]_. One more row changes K^S by a product of two vectors, so that all these
ratios are updated by three products with K (or with its features) instead of being computed anew.

References
----------
.. [1] N. Shoham and H. Avron, "Experimental design for overparameterized learning with
   application to single shot deep active learning", 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from ..engine.blocks import cut
from ..engine.threads import run_tasks

#: Rows after which sums are computed anew, so that rounding errors do not add up.
REFRESH = 200
#: The share of the criterion that all rows have below which nothing is left to gain.
EXHAUSTED = 1e-12
#: Bytes of features that are multiplied while they are in the cache.
BLOCK_BYTES = 2**19
#: Partial sums of a product: as many for any number of threads, so that sums do not depend on it.
STRIPS = 16


class KernelRows(Protocol):
    """A kernel matrix that is known by products."""

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of K."""
        ...

    def weighted_squares(self, weights: np.ndarray) -> np.ndarray:
        """Return Σⱼ wⱼ K_ij² for every row."""
        ...

    def column(self, number: int) -> np.ndarray:
        """Return a column of K."""
        ...

    def column_and_product(self, number: int) -> np.ndarray:
        """Return a column of K."""
        ...

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return K V."""
        ...


class MatrixRows:
    """A kernel matrix that is at hand.

    Parameters
    ----------
    K : array of shape (n, n)
        The matrix.

    Examples
    --------
    >>> MatrixRows(np.eye(2)).weighted_squares(np.asarray([1.0, 3.0]))
    array([1., 3.])
    """

    def __init__(self, K: np.ndarray) -> None:
        self._K = K
        self.diagonal = np.diag(K).astype(float)

    def weighted_squares(self, weights: np.ndarray) -> np.ndarray:
        """Return Σⱼ wⱼ K_ij² for every row."""
        return np.asarray((self._K * self._K) @ weights)

    def column(self, number: int) -> np.ndarray:
        """Return a column of K."""
        return np.asarray(self._K[:, number], dtype=float)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return K V."""
        return np.asarray(self._K @ V, dtype=float)
