"""The variance of predictions from landmarks, and from the diagonal that they miss."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .._array import (
    as_floating,
    beside,
    like,
    namespace,
    take_columns,
    take_rows,
    to_numpy,
    zeros_beside,
)
from .._devices import algebra_of
from .._registry import storable
from ..engine.blocks import cut
from ..engine.tall import tall_transposed_times
from ..features.nystrom.pivoted_cholesky import LowRank
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix

#: Rows whose features are made at once.
BLOCK_ROWS = 8192


@storable
class LowRankPosterior:
    """The quadratic form of a posterior from landmarks, and the diagonal that they miss.

    Parameters
    ----------
    places : array of int
        Which of the centres are landmarks.
    root : array of shape (n_landmarks, n_landmarks)
        The lower Cholesky factor of their kernel matrix.
    gram : array of shape (n_landmarks, n_landmarks)
        The weighted second moments of all rows' features.
    alpha : float
        The ridge parameter.

    Examples
    --------
    >>> posterior = LowRankPosterior(np.asarray([0]), np.eye(1), np.asarray([[3.0]]), 1.0)
    >>> posterior.form(np.asarray([[1.0], [0.0]]), np.ones(2))
    array([0.25, 1.  ])
    """

    def __init__(
        self, places: np.ndarray, root: np.ndarray, gram: np.ndarray, alpha: float
    ) -> None:
        self._places, self._root, self._alpha = places, root, alpha
        shifted = gram + alpha * np.eye(len(gram))
        self._factor = scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True)

    def at(self, places: np.ndarray) -> LowRankPosterior:
        """Return the posterior with other places of the landmarks among the centres."""
        self._places = places
        return self

    def quadratic(self, values: Any, own: Any) -> Any:
        """Return the form of rows, from their kernel with all centres and with themselves."""
        return self.form(take_columns(values, self._places), own)

    def form(self, values: Any, own: Any) -> Any:
        """Return the form of rows, from their kernel with the landmarks and with themselves.

        The form is of the library of the values, and on their device.
        """
        part, own = as_floating(values, "float64").T, as_floating(own, "float64")
        xp, algebra = namespace(part), algebra_of(part)
        features = algebra.solve_triangular(like(part, self._root), part)
        half = algebra.solve_triangular(like(part, self._factor), features)
        missing = own - xp.sum(features * features, axis=0)
        missing = xp.where(missing > 0, missing, xp.zeros_like(missing))
        return missing / self._alpha + xp.sum(half * half, axis=0)


def posterior_of_factor(
    low_rank: LowRank, weights: np.ndarray | None, alpha: float
) -> LowRankPosterior:
    """Return the posterior of rows whose kernel matrix has a low-rank factor.

    Parameters
    ----------
    low_rank : LowRank
        The factor of the training rows' kernel matrix.
    weights : array of shape (n_rows,) or None
        Their weights.
    alpha : float
        The ridge parameter.
    """
    F = low_rank.factor
    weighted = F if weights is None else beside(F, weights[:, None]) * F
    gram = to_numpy(tall_transposed_times(F, weighted))
    root = np.tril(to_numpy(take_rows(F, low_rank.pivots)))
    return LowRankPosterior(low_rank.pivots, root, gram, alpha)


def posterior_of_rows(
    kernel: Kernel, rows: Any, landmarks: Any, weights: np.ndarray | None, alpha: float
) -> LowRankPosterior:
    """Return the posterior of rows by landmarks, a block of rows at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows, landmarks : arrays of shape (n_rows, n_features) and (n_landmarks, n_features)
        All rows, and those that the posterior is made of.
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    alpha : float
        The ridge parameter.
    """
    K = to_numpy(kernel(landmarks)).astype(float)
    K[np.diag_indices_from(K)] += 1e-9 * np.trace(K) / len(K)
    root = scipy.linalg.cholesky(K, lower=True)
    gram, moved = zeros_beside(rows, K.shape), beside(rows, root)
    for start, stop in cut(rows.shape[0], BLOCK_ROWS):
        values = as_floating(float32_matrix(kernel, rows[start:stop, :], landmarks), "float64")
        features = algebra_of(values).solve_triangular(moved, values.T).T
        own = features
        if weights is not None:
            own = beside(features, weights[start:stop, None]) * features
        gram += tall_transposed_times(features, own)
    return LowRankPosterior(np.arange(len(K)), root, to_numpy(gram), alpha)
