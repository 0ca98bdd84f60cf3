"""Rows reduced by orthogonal transforms, for alphas too small for the normal equations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from .._array import is_numpy, joined_rows, namespace, zeros_beside


class ReducedRows(NamedTuple):
    """What least squares need of rows Z and targets Y, with Z = QR and nothing squared.

    Attributes
    ----------
    triangle : array of shape (k, m)
        R; k is the number of features, or of rows if there are fewer.
    rotated : array of shape (k, n_targets)
        QᵀY.
    beyond : array of shape (n_targets,)
        Sums of squares of what Y has beyond the columns of Q.
    """

    triangle: Any
    rotated: Any
    beyond: Any

    def merged(self, other: ReducedRows) -> ReducedRows:
        """Return the reduction of these rows and of others."""
        more = reduced_rows(
            joined_rows([self.triangle, other.triangle]),
            joined_rows([self.rotated, other.rotated]),
        )
        return more._replace(beyond=self.beyond + other.beyond + more.beyond)


def reduced_rows(Z: Any, Y: Any) -> ReducedRows:
    """Return the reduction of some rows.

    Parameters
    ----------
    Z, Y : arrays of shape (n, m) and (n, n_targets)
        Features and targets, centred and multiplied by the roots of weights.

    Examples
    --------
    >>> found = reduced_rows(np.asarray([[3.0], [4.0]]), np.asarray([[5.0], [0.0]]))
    >>> abs(found.triangle), abs(found.rotated), found.beyond
    (array([[5.]]), array([[3.]]), array([16.]))
    """
    if not is_numpy(Z):
        xp = namespace(Z)
        Q, triangle = xp.linalg.qr(Z, mode="reduced")
        rotated = Q.T @ Y
        rest = Y - Q @ rotated
        return ReducedRows(triangle, rotated, xp.sum(rest * rest, axis=0))
    if not len(Z):
        return ReducedRows(Z, Y, np.zeros(Y.shape[1]))
    reflectors, scales, _, _ = lapack.dgeqrf(Z)
    size = len(scales)
    room = 64 * max(64, Y.shape[1])
    turned = lapack.dormqr("L", "T", reflectors[:, :size], scales, Y, lwork=room)[0]
    rest = turned[size:]
    return ReducedRows(np.triu(reflectors[:size]), turned[:size], np.sum(rest * rest, axis=0))


def reduced_blocks(blocks: Iterable[tuple[Any, Any, Any]], z_mean: Any, y_mean: Any) -> ReducedRows:
    """Return the reduction of all rows, a few blocks at a time.

    Parameters
    ----------
    blocks : iterable of (Z, Y, weights)
        Features, targets and weights.
    z_mean, y_mean : arrays of shape (n_features,) and (n_targets,)
        Where to centre them.

    Examples
    --------
    >>> Z, Y = np.asarray([[3.0], [4.0]]), np.asarray([[5.0], [0.0]])
    >>> halves = [(Z[:1], Y[:1], None), (Z[1:], Y[1:], None)]
    >>> abs(reduced_blocks(halves, np.zeros(1), np.zeros(1)).rotated).round(6)
    array([[3.]])
    """
    m, n_targets = z_mean.shape[0], y_mean.shape[0]
    none = (zeros_beside(z_mean, shape) for shape in ((0, m), (0, n_targets), (n_targets,)))
    found = ReducedRows(*none)
    waiting: list[tuple[Any, Any]] = []
    for Z, Y, weights in blocks:
        roots = 1.0 if weights is None else namespace(weights).sqrt(weights)[:, None]
        waiting.append(((Z - z_mean) * roots, (Y - y_mean) * roots))
        # The triangle is reduced again every time: not before as many rows wait as it has.
        if sum(part[0].shape[0] for part in waiting) >= m:
            found, waiting = _with_rows(found, waiting), []
    return _with_rows(found, waiting)


def _with_rows(found: ReducedRows, rows: list[tuple[Any, Any]]) -> ReducedRows:
    """Return the reduction of what is reduced already, and of further rows."""
    if not rows:
        return found
    Z = joined_rows([found.triangle, *(part[0] for part in rows)])
    more = reduced_rows(Z, joined_rows([found.rotated, *(part[1] for part in rows)]))
    return more._replace(beyond=found.beyond + more.beyond)
