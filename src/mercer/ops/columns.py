"""Columns of a block: some of them, or groups of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import is_sparse, starts_there


def join(parts: Sequence[Any], xp: Any, out: Any = None) -> Any:
    """Return the groups of columns side by side, in ``out`` if given.

    A part that already lies in ``out`` is left where it is.
    """
    if out is None:
        return xp.concat(list(parts), axis=1)
    start = 0
    for part in parts:
        target = out[:, start : start + part.shape[1]]
        if not starts_there(part, target):
            target[...] = part
        start += part.shape[1]
    return out


def join_times(parts: Sequence[Any], factors: Any, xp: Any, out: Any = None) -> Any:
    """Return the groups of columns side by side, times a factor of each row, in ``out`` if given.

    Examples
    --------
    >>> parts = [np.asarray([[1.0], [2.0]]), np.asarray([[3.0], [4.0]])]
    >>> join_times(parts, np.asarray([1.0, 10.0]), np)
    array([[ 1.,  3.],
           [20., 40.]])
    """
    if out is None:
        return xp.concat(list(parts), axis=1) * factors[:, None]
    start = 0
    for part in parts:
        xp.multiply(part, factors[:, None], out=out[:, start : start + part.shape[1]])
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


def add_columns(total: Any, part: Any, columns: Sequence[int]) -> None:
    """Add the columns of ``part`` to some columns of ``total``, in place.

    Examples
    --------
    >>> total = np.zeros((1, 3))
    >>> add_columns(total, np.asarray([[1.0, 2.0]]), [2, 0])
    >>> total
    array([[2., 0., 1.]])
    """
    for position, column in enumerate(columns):
        total[:, int(column)] += part[:, position]


def columns_of(X: Any, columns: Sequence[int], xp: Any) -> Any:
    """Return some columns of rows of any library, or say which is not there.

    Examples
    --------
    >>> columns_of(np.asarray([[1.0, 2.0, 3.0]]), [2, 0], np)
    array([[3., 1.]])
    """
    chosen = np.asarray(columns)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ValueError(f"columns must list numbers of columns, got {columns!r}.")
    if chosen.min() < 0 or chosen.max() >= X.shape[1]:
        raise ValueError(
            f"columns must be numbers from 0 to {X.shape[1] - 1} for rows of {X.shape[1]} columns, "
            f"got {list(columns)!r}."
        )
    if is_sparse(X):
        return X[:, chosen]
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X[:, chosen])
    return xp.stack([X[:, int(k)] for k in chosen], axis=1)
