"""The seam to Dask's types: asks whether something is a Dask collection, without importing Dask."""

from __future__ import annotations

from typing import Any

#: Where Dask's collections live; data frames had a package of their own for some time.
ROOTS = ("dask", "dask_expr")


def is_dask(X: Any) -> bool:
    """Return whether rows are a Dask array or frame, a delayed block, or a list of such blocks.

    Examples
    --------
    >>> is_dask([[1.0, 2.0]])
    False
    """
    if isinstance(X, list):
        first = X[0] if X else None
        if isinstance(first, tuple) and first:
            first = first[0]
        return is_dask_object(first)
    return is_dask_object(X)


def is_dask_object(item: Any) -> bool:
    """Return whether one thing is a Dask array, data frame, series or delayed value.

    Examples
    --------
    >>> is_dask_object(1.0)
    False
    """
    return type(item).__module__.partition(".")[0] in ROOTS
