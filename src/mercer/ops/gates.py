"""A layer of ReLU features: rectified projections, and columns that step functions let through.

For directions w with :math:`E[w w^\\top] = I` and columns y that do not depend on them,
:math:`2\\, \\mathrm{Step}(w \\cdot s)\\, \\mathrm{Step}(w \\cdot s')\\, y y'` has the mean
:math:`\\kappa_0(\\cos) E[y y']`: the product of two kernels, without a sketch of tensor products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import is_numpy
from .._devices import has_fused_kernels
from .arccosine import antithetic


def n_directions(n_columns: int) -> int:
    """Return how many directions give so many columns: each one serves with both signs.

    Examples
    --------
    >>> n_directions(5)
    3
    """
    return -(-n_columns // 2)


def relu_and_gated(P: Any, Y: Any, n_relu: int, xp: Any, out: Any = None) -> Any:
    """Return antithetic ReLU features, and beside them columns times steps of projections.

    Parameters
    ----------
    P : array of shape (n, k)
        Projections; the first ``ceil(n_relu / 2)`` are rectified, and the first
        ``ceil(g / 2)`` are gates.
    Y : array of shape (n, g)
        The columns that gates let through, the second half by the gates with the other sign.
    n_relu : int
        Columns of ReLU features; may be 0.
    out : array of shape (n, n_relu + g), default=None
        Where the result belongs: of NumPy, and of libraries with fused kernels.

    Examples
    --------
    >>> P, Y = np.asarray([[0.5, -1.0]]), np.ones((1, 3))
    >>> relu_and_gated(P, Y, 2, np).round(2)
    array([[0.5 , 0.  , 1.41, 0.  , 0.  ]])
    """
    shape = P.shape[0], n_relu + Y.shape[1]
    if is_numpy(P):
        from ._jit import gates as jit

        out = np.empty(shape, dtype=P.dtype) if out is None else out
        jit.relu_and_gated(P, Y, n_relu, math.sqrt(2 / max(n_relu, 1)), out)
        return out
    if has_fused_kernels(P):
        from ._cuda import gates as cuda

        return cuda.relu_and_gated(P, Y, n_relu, out)
    size = n_directions(Y.shape[1])
    steps = xp.concat([P[:, :size] > 0, P[:, : Y.shape[1] - size] < 0], axis=1)
    passed = xp.astype(steps, Y.dtype) * Y * math.sqrt(2)
    if not n_relu:
        return passed
    return xp.concat([antithetic(P[:, : n_directions(n_relu)], 1, n_relu, xp), passed], axis=1)
