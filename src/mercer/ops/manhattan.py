"""Sums over pairs of rows, column by column: of the signs and sizes of their differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_numpy


def signed_sums(weights: Any, X: Any, Y: Any, coefficients: Any, xp: Any) -> list[Any]:
    """Return Σⱼ wᵢⱼ cⱼₜ sign(xᵢ - yⱼ) for every row and column, an array for each target t.

    Parameters
    ----------
    weights : float64 array of shape (n, m)
        The numbers w.
    X, Y : float64 arrays of shape (n, d) and (m, d)
        Dense rows; entries that are equal have sign 0.
    coefficients : float64 array of shape (m, n_targets)
        The numbers c.
    xp : namespace
        The array library.

    Returns
    -------
    sums : list of arrays of shape (n, d)

    Examples
    --------
    >>> X, Y = np.asarray([[1.0, 5.0]]), np.asarray([[0.0, 5.0], [3.0, 6.0]])
    >>> signed_sums(np.asarray([[1.0, 2.0]]), X, Y, np.asarray([[1.0], [0.5]]), np)
    [array([[ 0., -1.]])]
    """
    if is_numpy(X):
        from ._jit import manhattan as jit

        sums = np.zeros((coefficients.shape[1], *X.shape))
        jit.add_signed(*_contiguous(weights, X, Y, coefficients), sums)
        return list(sums)
    return signed_sums_twin(weights, X, Y, coefficients, xp)


def signed_sums_twin(weights: Any, X: Any, Y: Any, coefficients: Any, xp: Any) -> list[Any]:
    """Return what :func:`signed_sums` does, a product with a tile of signs for each column."""
    columns = [(weights * xp.sign(_differences(X, Y, c))) @ coefficients for c in range(X.shape[1])]
    sums = xp.stack(columns, axis=1)
    return [sums[:, :, k] for k in range(coefficients.shape[1])]


def absolute_sums(weights: Any, X: Any, Y: Any, xp: Any) -> Any:
    """Return Σᵢⱼ wᵢⱼ |xᵢ - yⱼ| for every column.

    Parameters
    ----------
    weights, X, Y, xp
        As in :func:`signed_sums`.

    Returns
    -------
    sums : array of shape (d,)

    Examples
    --------
    >>> X, Y = np.asarray([[1.0, 5.0]]), np.asarray([[0.0, 5.0], [3.0, 6.0]])
    >>> absolute_sums(np.asarray([[1.0, 2.0]]), X, Y, np)
    array([5., 2.])
    """
    if is_numpy(X):
        from ._jit import manhattan as jit

        sums = np.zeros(X.shape[1])
        jit.add_absolute(*_contiguous(weights, X, Y), sums)
        return sums
    return absolute_sums_twin(weights, X, Y, xp)


def absolute_sums_twin(weights: Any, X: Any, Y: Any, xp: Any) -> Any:
    """Return what :func:`absolute_sums` does, with a tile of differences for each column."""
    return xp.stack([xp.sum(weights * xp.abs(_differences(X, Y, c))) for c in range(X.shape[1])])


def _contiguous(*arrays: Any) -> list[Any]:
    """Return arrays by rows: for other layouts the functions would be compiled again."""
    return [np.ascontiguousarray(array) for array in arrays]


def _differences(X: Any, Y: Any, column: int) -> Any:
    return X[:, column][:, None] - Y[:, column][None, :]
