"""Outliers brought near, smoothly."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import has_values

#: Entries beyond this many limits are clipped hard: there the formula gives the limit exactly, in
#: float32 as in float64, and far beyond its square would overflow.
SATURATED = 2.0**27


def soft_clipped(rows: Any, limits: Any, xp: Any) -> Any:
    r"""Return :math:`z / \sqrt{1 + (z / c)^2}` for entries z of columns with limits c.

    Small entries hardly change, and none gets beyond the limit of its column, not even the
    largest float or infinity. Up to rounding, larger entries stay larger.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        Of any library.
    limits : array of shape (n_columns,)
        In the same library; infinite for columns that are not clipped.
    xp : namespace
        The Array API functions of the library.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.asarray([[0.01, 4.0], [1e38, -1e38]], dtype="float32")
    >>> soft_clipped(rows, np.asarray([3.0, 3.0], dtype="float32"), np).round(2)
    array([[ 0.01,  2.4 ],
           [ 3.  , -3.  ]], dtype=float32)
    """
    if rows.shape[0] == 0:
        return rows
    with np.errstate(over="ignore"):
        most = limits * SATURATED
    far = not has_values(rows)
    far = far or bool(xp.any(xp.max(rows, axis=0) > most))
    if far or bool(xp.any(xp.min(rows, axis=0) < -most)):
        rows = xp.minimum(xp.maximum(rows, -most), most)
    share = rows / limits
    return rows / xp.sqrt(1 + share * share)
