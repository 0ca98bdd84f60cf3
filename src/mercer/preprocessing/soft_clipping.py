"""Outliers brought near, smoothly."""

from __future__ import annotations

from typing import Any


def soft_clipped(rows: Any, limits: Any, xp: Any) -> Any:
    r"""Return :math:`z / \sqrt{1 + (z / c)^2}` for entries z of columns with limits c.

    Small entries stay as they are, and none gets beyond the limit of its column. Up to the
    limit the formula is used as it stands; beyond it, as :math:`c / \sqrt{1 + (c / z)^2}`, so
    that nothing overflows, in float32 neither: the largest float becomes the limit. There, larger
    entries never become smaller, not even by rounding.

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
    share = xp.abs(rows / limits)
    one = xp.ones_like(share)
    inside = xp.minimum(share, one)
    beyond = one / xp.maximum(share, one)
    near = xp.minimum(xp.maximum(rows, -limits), limits)
    return near / xp.sqrt(beyond * beyond + inside * inside)
