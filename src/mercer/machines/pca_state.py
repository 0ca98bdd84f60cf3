"""What kernel principal components are computed from: sums of products of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from .._array import to_numpy
from .._registry import storable
from ..engine.streams import learning_rows
from ..engine.threads import allowed_threads
from ..solvers import RidgeStatistics
from .feature_rows import FeatureRows


@storable
@dataclass(frozen=True)
class Components:
    """Principal components of features, and the regression of the rows on the scores.

    Attributes
    ----------
    mean : array of shape (n_features,)
        The mean of the features.
    directions : array of shape (n_components, n_features)
        Orthonormal, of decreasing variance.
    variances : array of shape (n_components,)
        The variances of the scores.
    total : float
        The variance of all features together.
    row_mean, coef : arrays of shape (n_columns,) and (n_components, n_columns)
        The rows are ``row_mean + scores @ coef``, about; ``None`` where that is not wanted.
    """

    mean: np.ndarray
    directions: np.ndarray
    variances: np.ndarray
    total: float
    row_mean: np.ndarray | None
    coef: np.ndarray | None

    def scores(self, Z: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Return the scores of features; ``work``, which may be they, is overwritten."""
        # Centred first: the mean may be much larger than the deviations from it.
        centred = np.subtract(Z, self.mean, out=work, casting="same_kind")
        with allowed_threads(2 * Z.shape[0] * self.directions.size):
            return centred @ self.directions.T.astype(Z.dtype)


@storable
class PCAState:
    """The state of :class:`KernelPCA`: adds blocks and merges without solving.

    Parameters
    ----------
    rows : FeatureRows
        How rows become features.
    n_columns : int
        Columns of the rows that scores are mapped back to; 0 if they are not.
    seed : int
        Seed of the features where they are the default.
    """

    rows: FeatureRows
    n_columns: int
    seed: int

    def __init__(self, rows: FeatureRows, n_columns: int, seed: int) -> None:
        self.rows, self.n_columns, self.seed = rows, n_columns, seed
        self.n_rows: int = 0
        self.sums: RidgeStatistics | None = RidgeStatistics(rows.width, max(1, n_columns))
        self._asked: tuple[int, float] | None = None
        self._components: Components | None = None

    def block_rows(self) -> int:
        """Return how many rows to learn from at a time."""
        width = self.rows.width + self.n_columns
        return learning_rows(width, 8, max(256, width // 8))

    def add(self, Z: np.ndarray, X: Any) -> None:
        """Add features of a block, and its rows where scores are mapped back to them."""
        targets = to_numpy(X).astype(float) if self.n_columns else np.zeros((len(Z), 1))
        square = self.rows.width**2
        with allowed_threads(len(Z) * square, total=(self.n_rows + len(Z)) * square):
            self.known_sums("partial_fit").add(Z, targets, None, self.rows.overwritable)
        self.n_rows += len(Z)
        self._components = None

    def empty(self) -> PCAState:
        """Return a state of no rows, of the same features."""
        return PCAState(self.rows, self.n_columns, self.seed)

    def merge(self, other: PCAState) -> None:
        """Add the rows of another state."""
        self.known_sums("merge").merge(other.known_sums("merge"))
        self.n_rows += other.n_rows
        self._components = None

    def known_sums(self, what: str) -> RidgeStatistics:
        """Return the sums, or say that the model was saved without them."""
        if self.sums is None:
            raise ValueError(
                f"{what} needs the sums of the training rows, which this model was saved without; "
                "save it with compact=False."
            )
        return self.sums

    def components(self, n_components: int, alpha: float) -> Components:
        """Return the leading components, computed once."""
        if self._components is None or self._asked != (n_components, alpha):
            sums = self.known_sums("Another number of components")
            with allowed_threads(4 / 3 * self.rows.width**3):
                self._components = solved(sums, n_components, alpha, self.n_columns > 0)
            self._asked = (n_components, alpha)
        return self._components

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, the components without the sums."""
        if compact and self._asked is not None:
            self.components(*self._asked)
            return {**self.__dict__, "sums": None}
        return dict(self.__dict__)


def solved(sums: RidgeStatistics, n_components: int, alpha: float, invertible: bool) -> Components:
    r"""Return the leading components of features from their sums.

    With :math:`S = V \Lambda V^\top` the sums of products of the centred features, and
    :math:`B` those with the centred rows, the rows follow from the scores by
    :math:`(\Lambda + \alpha I)^{-1} V^\top B`.

    Parameters
    ----------
    sums : RidgeStatistics
        Of features and, where ``invertible``, of the rows themselves.
    n_components : int
        Components to return.
    alpha : float
        The ridge parameter of the regression of rows on scores.
    invertible : bool
        Whether that regression is wanted.

    Examples
    --------
    >>> sums = RidgeStatistics(2, 1)
    >>> Z = np.asarray([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]])
    >>> sums.add(Z, np.zeros((4, 1)))
    >>> abs(solved(sums, 1, 1e-3, False).directions).round(6)
    array([[1., 0.]])
    """
    total = sums.total()
    S, B, _ = total.centred(intercept=True)
    mean, row_mean = total.means(intercept=True)
    trace = max(0.0, float(np.trace(S)))
    m = len(S)
    values, vectors = scipy.linalg.eigh(
        S, subset_by_index=(m - n_components, m - 1), overwrite_a=True, check_finite=False
    )
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    # The sign of an eigenvector is arbitrary: its largest entry is made positive.
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(n_components)] < 0, -1.0, 1.0)
    freedom = max(1, total.n_rows - 1)
    coef = (vectors.T @ B) / (values + alpha)[:, None] if invertible else None
    return Components(
        mean, np.ascontiguousarray(vectors.T), values / freedom, trace / freedom,
        row_mean if invertible else None, coef,
    )  # fmt: skip
