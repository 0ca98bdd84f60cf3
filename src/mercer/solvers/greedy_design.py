"""Which rows to label first: a greedy design by the reduction of a bound on the risk.

With the kernel K of all rows and S the labelled ones, the criterion

    J(S) = -Σⱼ wⱼ K_jS (K_SS + λ)⁻¹ K_Sj

falls fastest by the row i with the largest Σⱼ wⱼ (K^S_ij)² / (K^S_ii + λ), where K^S is what S
leaves of the kernel [1]_. One more row changes K^S by a product of two vectors,

    K^{S+i} = K^S - c cᵀ / δ,   c = K^S eᵢ,   δ = λ + cᵢ,

so that all ratios follow from c and k = K^S W c instead of being computed anew. With features,
K = F Fᵀ, both are one product of F with two columns: W enters through the moments Fᵀ W F alone.

References
----------
.. [1] N. Shoham and H. Avron, "Experimental design for overparameterized learning with
   application to single shot deep active learning", 2020.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._registry import storable
from ..engine.blocks import cut
from ..engine.tall import tall_times, tall_transposed_times

#: Rows after which sums are computed anew, so that rounding errors do not add up.
REFRESH = 200
#: A row whose squares are less than so many of their rounding errors has nothing left to gain.
EXHAUSTED = 100.0
#: Rows of features whose products with their moments are held at once.
BLOCK_ROWS = 4096


class Remainder(Protocol):
    """What the labelled rows leave of the kernel of all rows, K^S, known by its columns."""

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of K, before any row is labelled."""
        ...

    @property
    def rounding(self) -> float:
        """The relative rounding error of its entries."""
        ...

    def squares(self) -> np.ndarray:
        """Return Σⱼ wⱼ K_ij² for every row i, before any row is labelled."""
        ...

    def column(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a column c of K^S, and K^S W c."""
        ...

    def label(self, delta: float) -> None:
        """Take c cᵀ / δ away, with the column that was asked for last."""
        ...

    def refreshed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of the diagonal and of the squares since no row was labelled."""
        ...


@storable
class MatrixRemainder:
    """What labelled rows leave of a kernel matrix that is at hand.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The matrix.
    weights : array of shape (n_rows,), default=None
        How much each row counts.

    Examples
    --------
    >>> MatrixRemainder(np.eye(2), np.asarray([1.0, 3.0])).squares()
    array([1., 3.])
    """

    def __init__(self, K: np.ndarray, weights: np.ndarray | None = None) -> None:
        self._K = K
        self._weights = np.ones(len(K)) if weights is None else np.asarray(weights, dtype=float)
        self._factor = Columns(len(K))
        self._last = np.empty(0)
        #: The diagonal of K.
        self.diagonal: np.ndarray = np.diag(K).astype(float)
        #: The relative rounding error of its entries.
        self.rounding: float = float(np.finfo(K.dtype).eps)

    def squares(self) -> np.ndarray:
        """Return Σⱼ wⱼ K_ij² for every row i."""
        return np.einsum("ij,ij,j->i", self._K, self._K, self._weights)

    def column(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a column c of K^S, and K^S W c."""
        C = self._factor.values
        self._last = c = self._K[:, number] - C @ C[number]
        weighted = self._weights * c
        return c, self._K @ weighted - C @ (C.T @ weighted)

    def label(self, delta: float) -> None:
        """Take c cᵀ / δ away, with the column that was asked for last."""
        self._factor.append(self._last / delta**0.5)

    def refreshed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of the diagonal and of the squares since no row was labelled."""
        C = self._factor.values
        weighted = self._weights[:, None] * C
        change = C @ (C.T @ weighted) - 2 * (self._K @ weighted)
        return -np.einsum("ij,ij->i", C, C), np.einsum("ij,ij->i", change, C)


@storable
class FeatureRemainder:
    """What labelled rows leave of F Fᵀ, as F (I - U Uᵀ) Fᵀ.

    Parameters
    ----------
    F : array of shape (n_rows, n_features)
        The features; products with them are computed in their dtype.
    weights : array of shape (n_rows,), default=None
        How much each row counts.

    Examples
    --------
    >>> K = FeatureRemainder(np.asarray([[1.0, 1.0], [0.0, 2.0]]))
    >>> K.diagonal, K.squares(), K.column(0)[0]
    (array([2., 4.]), array([ 8., 20.]), array([2., 2.]))
    """

    def __init__(self, F: np.ndarray, weights: np.ndarray | None = None) -> None:
        self._F = F
        weighted = F if weights is None else weights[:, None].astype(F.dtype) * F
        self._moments = tall_transposed_times(F, weighted).astype(float)
        self._factor = Columns(F.shape[1])
        self._last = np.empty(0)
        #: The diagonal of F Fᵀ.
        self.diagonal: Any = np.einsum("ij,ij->i", F, F).astype(float)
        #: The relative rounding error of its entries.
        self.rounding: float = float(np.finfo(F.dtype).eps)

    def squares(self) -> np.ndarray:
        """Return Σⱼ wⱼ K_ij² for every row i."""
        F, found = self._F, np.empty(len(self._F))
        moments = self._moments.astype(F.dtype)
        for start, stop in cut(len(F), BLOCK_ROWS):
            found[start:stop] = np.einsum("ij,ij->i", F[start:stop] @ moments, F[start:stop])
        return found

    def column(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a column c of K^S, and K^S W c."""
        row = self._F[number].astype(float)
        self._last = inner = self._left(row)
        both = np.column_stack([inner, self._left(self._moments @ inner)])
        found = tall_times(self._F, both.astype(self._F.dtype))
        return found[:, 0], found[:, 1]

    def label(self, delta: float) -> None:
        """Take c cᵀ / δ away, with the column that was asked for last."""
        self._factor.append(self._last / delta**0.5)

    def refreshed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of the diagonal and of the squares since no row was labelled."""
        U = self._factor.values
        moved = self._moments @ U
        change = U @ (U.T @ moved) - 2 * moved
        P, Q = (tall_times(self._F, part.astype(self._F.dtype)) for part in (U, change))
        return -np.einsum("ij,ij->i", P, P), np.einsum("ij,ij->i", P, Q)

    def _left(self, v: np.ndarray) -> np.ndarray:
        """Return (I - U Uᵀ) v."""
        U = self._factor.values
        return np.asarray(v - U @ (U.T @ v))


@storable
class Columns:
    """A matrix that grows by columns.

    Parameters
    ----------
    n_rows : int
        Its rows.

    Examples
    --------
    >>> columns = Columns(2)
    >>> columns.append(np.asarray([1.0, 2.0]))
    >>> columns.values
    array([[1.],
           [2.]])
    """

    def __init__(self, n_rows: int) -> None:
        self._all, self._count = np.empty((n_rows, 16), order="F"), 0

    @property
    def values(self) -> np.ndarray:
        """The matrix."""
        return self._all[:, : self._count]

    def append(self, column: np.ndarray) -> None:
        """Add a column."""
        if self._count == self._all.shape[1]:
            larger = np.empty((len(self._all), 2 * self._count), order="F")
            larger[:, : self._count] = self._all
            self._all = larger
        self._all[:, self._count] = column
        self._count += 1


@storable
class Design:
    """The rows that are labelled so far, and what each further one would gain.

    Parameters
    ----------
    K : Remainder
        The kernel of all rows, none of them labelled yet.
    alpha : float
        The ridge parameter λ.

    Examples
    --------
    >>> design = Design(MatrixRemainder(np.diag([1.0, 3.0, 2.0])), alpha=1.0)
    >>> design.best(), design.add(1), design.best()
    (1, 2.25, 2)
    """

    def __init__(self, K: Remainder, alpha: float) -> None:
        self._K, self._alpha = K, alpha
        self._first = K.squares()
        self._squares, self._diagonal = self._first.copy(), K.diagonal.copy()
        self._least = EXHAUSTED * K.rounding * self._first
        self._free = np.ones(len(self._first), dtype=bool)
        self._since = 0

    @property
    def n_rows(self) -> int:
        """All rows."""
        return len(self._free)

    def gains(self) -> np.ndarray:
        """Return by how much the criterion falls with each row; -inf for rows that are labelled."""
        ratios = self._squares / (np.maximum(self._diagonal, 0.0) + self._alpha)
        return np.where(self._free, np.where(self._squares > self._least, ratios, 0.0), -np.inf)

    def best(self) -> int | None:
        """Return the row that gains most, the first of equals; ``None`` if nothing is gained."""
        gains = self.gains()
        number = int(np.argmax(gains))
        return number if gains[number] > 0 else None

    def add(self, number: int) -> float:
        """Label a row; return by how much the criterion falls.

        Parameters
        ----------
        number : int
            The row.
        """
        gain = float(self.gains()[number])
        c, k = self._K.column(number)
        delta = self._alpha + max(float(c[number]), 0.0)
        # k at the row itself is cᵀ W c.
        squares = self._squares + c * (float(k[number]) / delta**2 * c - 2 / delta * k)
        diagonal = self._diagonal - c * c / delta
        # All at once: an interruption must not leave half of a step behind.
        self._K.label(delta)
        self._squares, self._diagonal, self._free[number] = squares, diagonal, False
        self._since += 1
        if self._since == REFRESH:
            self._since = 0
            change, other = self._K.refreshed()
            self._diagonal, self._squares = self._K.diagonal + change, self._first + other
        return gain
