"""The triangular factor of all rows, for ridge parameters too small for the normal equations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._array import is_numpy, joined_rows, namespace, zeros_beside


def triangular_factor(
    blocks: Iterable[tuple[Any, Any, Any]],
    z_mean: Any,
    y_mean: Any,
) -> Any:
    """Return the factor R of the QR decomposition of the centred [Z, Y], a block at a time.

    Parameters
    ----------
    blocks : iterable of (Z, Y, weights)
        Features, targets and weights.
    z_mean, y_mean : arrays of shape (n_features,) and (n_targets,)
        Where to centre them.

    Returns
    -------
    R : array of shape (n_features + n_targets, n_features + n_targets)

    Examples
    --------
    >>> Z, Y = np.asarray([[3.0], [4.0]]), np.asarray([[0.0], [0.0]])
    >>> abs(triangular_factor([(Z, Y, None)], np.zeros(1), np.zeros(1))).round(6)
    array([[5., 0.],
           [0., 0.]])
    """
    width = z_mean.shape[0] + y_mean.shape[0]
    triangle = zeros_beside(z_mean, (0, width))
    waiting: list[Any] = []
    for Z, Y, weights in blocks:
        rows = namespace(Z).concat([Z - z_mean, Y - y_mean], axis=1)
        if weights is not None:
            rows *= namespace(weights).sqrt(weights)[:, None]
        waiting.append(rows)
        # The triangle is reduced again every time: not before as many rows wait as it has.
        if sum(part.shape[0] for part in waiting) >= width:
            triangle = _reduced([triangle, *waiting])
            waiting = []
    triangle = _reduced([triangle, *waiting])
    missing = zeros_beside(z_mean, (max(0, width - triangle.shape[0]), width))
    return joined_rows([triangle, missing])


def _reduced(parts: list[Any]) -> Any:
    rows = joined_rows(parts)
    if is_numpy(rows):
        return np.asarray(np.linalg.qr(rows, mode="r"))
    return namespace(rows).linalg.qr(rows, mode="reduced")[1]
