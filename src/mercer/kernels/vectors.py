"""Vectors that belong to rows: coefficients and what a kernel matrix is multiplied with."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import all_finite, as_floating, is_numpy, is_real_number, namespace


def in_library_of(X: Any, array: Any, name: str) -> Any:
    """Return an argument as an array of the library of ``X``, or say that it is not one."""
    if is_numpy(X):
        return np.asarray(array)
    if namespace(array) is not namespace(X):
        raise TypeError(f"{name} must come from the library of X, got a {type(array)}.")
    return array


def as_columns(vectors: Any, n_rows: int, X: Any, name: str) -> tuple[Any, bool]:
    """Return vectors as columns in the library of ``X``, and whether they were given as such.

    Parameters
    ----------
    vectors : array of shape (n_rows,) or (n_rows, n_vectors)
        One vector, or several as columns.
    n_rows : int
        Rows that they belong to.
    X : array
        Rows of the library that they must come from.
    name : str
        What errors call them.

    Examples
    --------
    >>> as_columns([1.0, 2.0], 2, np.eye(2), "v")
    (array([[1.],
           [2.]]), False)
    """
    vectors = in_library_of(X, vectors, name)
    if not is_real_number(vectors) or not all_finite(as_floating(vectors, "float64")):
        raise ValueError(f"{name} must hold real numbers without NaN or infinity.")
    if vectors.ndim not in (1, 2) or vectors.shape[0] != n_rows:
        raise ValueError(
            f"{name} must have one entry (or row) for each of {n_rows} rows, got shape "
            f"{tuple(vectors.shape)}."
        )
    many = vectors.ndim == 2
    return (vectors if many else vectors[:, None]), many
