"""Putting groups of columns side by side, in place where there is a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def join(parts: Sequence[Any], xp: Any, out: Any = None) -> Any:
    """Return the groups of columns side by side, in ``out`` if given (NumPy only).

    A part that already lies in ``out`` is left where it is.
    """
    if out is None:
        return xp.concat(list(parts), axis=1)
    start = 0
    for part in parts:
        target = out[:, start : start + part.shape[1]]
        if not np.may_share_memory(part, target):
            target[...] = part
        start += part.shape[1]
    return out


def column_products(left: Any, right: Any, xp: Any) -> Any:
    """Return, for every row, the products of all columns of the one with all of the other.

    Examples
    --------
    >>> column_products(np.asarray([[1.0, 2.0]]), np.asarray([[3.0, 4.0]]), np)
    array([[3., 4., 6., 8.]])
    """
    shape = (left.shape[0], left.shape[1] * right.shape[1])
    return xp.reshape(left[:, :, None] * right[:, None, :], shape)
