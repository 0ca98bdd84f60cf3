"""The triangular factor of all rows, for ridge parameters too small for the normal equations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def triangular_factor(
    blocks: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    z_mean: np.ndarray,
    y_mean: np.ndarray,
) -> np.ndarray:
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
    width = z_mean.size + y_mean.size
    triangle = np.zeros((0, width))
    waiting: list[np.ndarray] = []
    for Z, Y, weights in blocks:
        rows = np.concatenate([Z - z_mean, Y - y_mean], axis=1)
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        waiting.append(rows)
        # The triangle is reduced again every time: not before as many rows wait as it has.
        if sum(map(len, waiting)) >= width:
            triangle = _reduced([triangle, *waiting])
            waiting = []
    triangle = _reduced([triangle, *waiting])
    missing = np.zeros((max(0, width - len(triangle)), width))
    return np.concatenate([triangle, missing])


def _reduced(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))
