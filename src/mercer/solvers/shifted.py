"""Cholesky factors of S + α I, of any array library, with jitter where rounding needs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .._array import is_numpy, namespace, zeros_beside
from .._devices import algebra_of
from ..engine.blocks import cut

#: Columns of the inverse of a factor that are computed at once.
PANEL = 2048


def cholesky(S: Any, alpha: float, rounding: float) -> Any:
    """Return the lower Cholesky factor of S + α I, with jitter on the diagonal where it is needed.

    Rounding may have left S indefinite: jitter starts at the size of the rounding errors, and
    grows tenfold until the factorisation succeeds.

    Examples
    --------
    >>> cholesky(np.eye(2), 3.0, 1e-16)
    array([[2., 0.],
           [0., 2.]])
    """
    raised = 0.0
    while True:
        try:
            return cholesky_at(S, alpha + raised)
        except np.linalg.LinAlgError:
            size = float(namespace(S).linalg.trace(S)) / S.shape[0]
            raised = max(10 * raised, rounding * size)
            if not raised <= size:
                raise


def identity_beside(S: Any, n_rows: int) -> Any:
    """Return a float64 identity matrix in the library and on the device of an array.

    Examples
    --------
    >>> identity_beside(np.zeros(3), 1)
    array([[1.]])
    """
    if is_numpy(S):
        return np.eye(n_rows)
    xp = namespace(S)
    return xp.eye(n_rows, dtype=xp.float64, device=S.device)


def inverse_diagonal(L: Any) -> Any:
    """Return the diagonal of the inverse of L Lᵀ, from a lower triangular matrix on a device.

    It holds the squared norms of the columns of L⁻¹. Above the diagonal these are 0, so that a
    panel of them takes no more of L than the corner below it, and memory for no more than itself.

    Examples
    --------
    >>> inverse_diagonal(np.diag([2.0, 1.0]))
    array([0.25, 1.  ])
    """
    n_rows, xp, found = L.shape[0], namespace(L), []
    for start, stop in cut(n_rows, PANEL):
        right = zeros_beside(L, (n_rows - start, stop - start))
        right[: stop - start, :] = identity_beside(L, stop - start)
        columns = algebra_of(L).solve_triangular(L[start:, start:], right)
        found.append(xp.sum(columns * columns, axis=0))
    return xp.concat(found)


def cholesky_at(S: Any, shift: float) -> Any:
    """Return the lower factor of S + shift I, or raise ``numpy.linalg.LinAlgError``.

    Examples
    --------
    >>> cholesky_at(np.eye(2), 3.0)
    array([[2., 0.],
           [0., 2.]])
    """
    if is_numpy(S):
        A = S.copy()
        A[np.diag_indices_from(A)] += shift
        return scipy.linalg.cholesky(A, lower=True, overwrite_a=True)
    # By rows, so that the diagonal is every so many of the entries.
    A = zeros_beside(S, tuple(S.shape))
    A += S
    diagonal = namespace(A).reshape(A, (-1,))[:: A.shape[0] + 1]
    diagonal += float(shift)
    return algebra_of(A).cholesky(A)
