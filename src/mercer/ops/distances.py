"""Distances between rows that keep their digits where rows almost coincide."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._array import has_values, is_numpy, is_sparse
from .norms import unit_rows
from .products import dense, inner_products

#: Pairs closer than this, relative to their norms, are measured from their difference: in
#: |x|² + |y|² - 2<x, y> the digits that matter have cancelled there.
NEAR = 1e-4
#: The same where pairs cannot be measured again: what is closer is taken as equal, as rounding may
#: have made it so.
RESOLVED = 1e-14
#: Numbers that are held at a time while pairs are measured again.
CHUNK = 2**17


def squared_distances(X: Any, Y: Any, xp: Any) -> Any:
    """Return the matrix of squared Euclidean distances of two float64 blocks.

    Dense rows are centred first, which changes no distance but removes most of the
    cancellation; pairs that are still close for their norms are recomputed from their
    difference, so that equal rows are at distance exactly 0.
    """
    left, right = X, Y
    if not is_sparse(X) and not is_sparse(Y):
        centre = xp.mean(Y, axis=0, keepdims=True)
        left = X - centre
        right = left if X is Y else Y - centre
    squares_x, squares_y = _squares(left, xp), _squares(right, xp)
    known = has_values(X)
    if known and not bool(xp.isfinite(xp.max(squares_x) + xp.max(squares_y))):
        raise ValueError("Squared distances of rows this long overflow float64; scale X down.")
    products = inner_products(left, right)
    if is_numpy(X) and not is_sparse(X) and not is_sparse(Y):
        from ._jit import distances as jit

        jit.finish_distances(products, X, Y, squares_x, squares_y, NEAR)
        return products
    total = squares_x[:, None] + squares_y[None, :]
    distances = total - 2 * products
    if not known:
        return xp.where(distances > RESOLVED * total, distances, xp.zeros_like(distances))
    return _recompute(distances, distances < NEAR * total, X, Y, xp, 1.0)


def signed_half_chords(X: Any, Y: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Return the angles between rows, coded without loss, and the norms of the rows.

    The code ``s`` of an angle θ is sin²(θ/2) up to 90 degrees and -cos²(θ/2) beyond: small
    angles and small supplements both keep their relative precision, where the cosine has
    lost it. An angle of exactly 180 degrees is coded by the tiny number -1e-300.

    Returns
    -------
    code, norms_x, norms_y : arrays of shape (n, m), (n,) and (m,)
    """
    unit_x, norms_x = unit_rows(X, xp)
    unit_y, norms_y = (unit_x, norms_x) if X is Y else unit_rows(Y, xp)
    cosines = inner_products(unit_x, unit_y)
    if is_numpy(X) and not is_sparse(X) and not is_sparse(Y):
        from ._jit import distances as jit

        jit.finish_chords(cosines, unit_x, unit_y, NEAR)
        return cosines, norms_x, norms_y
    near, far = (1 - cosines) / 2, (1 + cosines) / 2
    near = _recompute(4 * near, near < NEAR, unit_x, unit_y, xp, 1.0) / 4
    far = _recompute(4 * far, far < NEAR, unit_x, unit_y, xp, -1.0) / 4
    tiny = xp.full_like(far, 1e-300)
    return xp.where(cosines < 0, -xp.where(far > tiny, far, tiny), near), norms_x, norms_y


def manhattan_distances(X: Any, Y: Any, xp: Any) -> Any:
    """Return the matrix of sums of absolute differences of the rows of two blocks."""
    if is_numpy(X):
        from scipy.spatial.distance import cdist

        return cdist(dense(X), dense(Y), metric="cityblock")
    total = xp.zeros((X.shape[0], Y.shape[0]), dtype=X.dtype, device=X.device)
    for column in range(X.shape[1]):
        total = total + xp.abs(X[:, column][:, None] - Y[:, column][None, :])
    return total


def _squares(X: Any, xp: Any) -> Any:
    """Return the squared norms of the rows."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()
    return xp.sum(X * X, axis=1)


def _recompute(distances: Any, close: Any, X: Any, Y: Any, xp: Any, sign: float) -> Any:
    """Return ``distances`` with the close pairs measured as |x - sign y|², none negative."""
    if not has_values(close):
        return xp.where(distances > 0, distances, xp.zeros_like(distances))
    rows, columns = xp.nonzero(close)
    if rows.shape[0] == 0:
        return xp.where(distances > 0, distances, xp.zeros_like(distances))
    # Some pairs at a time: there may be as many as there are entries.
    step = max(1, CHUNK // X.shape[1])
    exact = []
    for start in range(0, rows.shape[0], step):
        stop = min(start + step, rows.shape[0])
        i, j = rows[start:stop], columns[start:stop]
        if is_sparse(X) or is_sparse(Y):
            exact.append(_squares(_chosen(X, i) - sign * _chosen(Y, j), xp))
        else:
            exact.append(_squares(xp.take(X, i, axis=0) - sign * xp.take(Y, j, axis=0), xp))
    distances[close] = xp.concat(exact)
    return xp.where(distances > 0, distances, xp.zeros_like(distances))


def _chosen(X: Any, rows: Any) -> Any:
    """Return some rows of a block as CSR rows."""
    return scipy.sparse.csr_array(X[rows])
