"""Kernels of a distance as float32 tiles, several times faster than in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._array import is_numpy, is_sparse

#: The functions of the distance t in units of the lengthscale: exp(-t²/2), exp(-t), the Matérn
#: kernels of 3/2 and 5/2, and exp(-tᵖ).
FUNCTIONS = ("gaussian", "exponential", "matern32", "matern52", "powered")
#: How many times larger than the rows a kernel matrix is where copies of them do not count.
COPIES = 8
#: Called as ``tile(rows, columns, out)`` with two slices; fills an array with entries.
SliceTile = Callable[[slice, slice, Any], None]


@dataclass(frozen=True)
class Form:
    """A kernel of a distance.

    Attributes
    ----------
    function : str
        One of ``FUNCTIONS``.
    lengthscale : float
        The unit of the distance.
    manhattan : bool
        Whether the distance is the sum of absolute differences, instead of the Euclidean one.
    power : float
        The exponent of the distance, for ``"powered"``.

    Examples
    --------
    >>> Form("exponential", 2.0).power
    1.0
    """

    function: str
    lengthscale: float
    manhattan: bool = False
    power: float = 1.0


def fused_tile(X: np.ndarray, columns: np.ndarray, form: Form, out: np.ndarray) -> None:
    """Fill ``out`` with a kernel of rows in units of its lengthscale.

    Parameters
    ----------
    X : float32 array of shape (n, d)
        Rows over the lengthscale.
    columns : float32 array of shape (d, m)
        The other rows over the lengthscale, transposed.
    form : Form
        The kernel.
    out : float32 array of shape (n, m)
        Where the result goes; errors are at most 3e-7.

    Examples
    --------
    >>> out = np.empty((1, 1), dtype=np.float32)
    >>> X, columns = np.zeros((1, 2), np.float32), np.asarray([[3.0], [4.0]], np.float32)
    >>> fused_tile(X, columns, Form("exponential", 1.0), out)
    >>> out.round(4)
    array([[0.0067]], dtype=float32)
    """
    from ._jit import fused as jit

    # What the compiled code raises to a power is the squared distance, unless it is Manhattan's.
    power = form.power if form.function == "powered" else 1.0
    power = power if form.manhattan else power / 2
    if not out.size:
        return
    in_rows = out.strides[1] == out.itemsize and out.strides[0] >= out.itemsize * out.shape[1]
    target = out if in_rows else np.empty(out.shape, dtype=np.float32)
    n, m = target.shape
    stride = target.strides[0] // target.itemsize if n > 1 else m
    # The tile may be a part of a matrix: all from its first entry to its last as one vector.
    flat = as_strided(target, ((n - 1) * stride + m,), (target.itemsize,))
    code = FUNCTIONS.index(form.function)
    jit.fused_tile(X, columns, flat, stride, form.manhattan, code, power)
    if target is not out:
        out[:] = target


def is_fused(X: Any, Y: Any, out: Any) -> bool:
    """Return whether a tile of two blocks of rows can be filled by :func:`fused_rows`.

    Examples
    --------
    >>> is_fused(np.eye(2), np.eye(2), np.empty((2, 2), dtype=np.float32))
    True
    >>> is_fused(np.eye(2), np.eye(2), None)
    False
    """
    if out is None or not is_numpy(out) or is_sparse(X) or is_sparse(Y):
        return False
    return bool(out.dtype == np.float32)


def fused_rows(X: np.ndarray, Y: np.ndarray, form: Form, out: np.ndarray) -> None:
    """Fill ``out`` with a kernel of two blocks of rows, centred together so that they keep digits.

    Parameters
    ----------
    X, Y : float64 arrays of shape (n, d) and (m, d)
        Rows.
    form : Form
        The kernel.
    out : float32 array of shape (n, m)
        Where the result goes.

    Examples
    --------
    >>> out = np.empty((1, 1), dtype=np.float32)
    >>> fused_rows(np.asarray([[1e9]]), np.asarray([[1e9 + 2]]), Form("exponential", 1.0), out)
    >>> out.round(4)
    array([[0.1353]], dtype=float32)
    """
    center = Y.mean(axis=0)
    left = np.ascontiguousarray((X - center) / form.lengthscale, dtype=np.float32)
    right = np.ascontiguousarray(((Y - center) / form.lengthscale).T, dtype=np.float32)
    fused_tile(left, right, form, out)


def fused_slices(X: np.ndarray, Y: np.ndarray, form: Form) -> SliceTile:
    """Return a function that fills float32 tiles of a kernel matrix, whose rows are scaled once.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
        Rows.
    form : Form
        The kernel.

    Returns
    -------
    tile : callable
        ``tile(rows, columns, out)`` fills ``out`` with the kernel of two slices of the rows.

    Examples
    --------
    >>> out = np.empty((1, 1), dtype=np.float32)
    >>> rows = np.asarray([[0.0], [2.0]])
    >>> fused_slices(rows, rows, Form("exponential", 1.0))(slice(0, 1), slice(1, 2), out)
    >>> out.round(4)
    array([[0.1353]], dtype=float32)
    """
    # Differences of rows near a common centre keep their digits in float32.
    center = Y.mean(axis=0, dtype=float)
    left = np.ascontiguousarray((X - center) / form.lengthscale, dtype=np.float32)
    right = left if Y is X else ((Y - center) / form.lengthscale).astype(np.float32)
    transposed = np.ascontiguousarray(right.T)

    def tile(rows: slice, columns: slice, out: np.ndarray) -> None:
        fused_tile(left[rows], np.ascontiguousarray(transposed[:, columns]), form, out)

    return tile


def finite_slices(X: Any, Y: Any, form: Form) -> SliceTile | None:
    """Return :func:`fused_slices` where rows are float32 and finite, and copies of them small.

    Examples
    --------
    >>> rows = np.zeros((100, 2), dtype=np.float32)
    >>> form = Form("exponential", 1.0)
    >>> finite_slices(rows, rows[:4], form) is None, finite_slices(rows, rows, form) is None
    (True, False)
    """
    if not (is_numpy(X) and is_numpy(Y)) or is_sparse(X) or is_sparse(Y):
        return None
    small = COPIES * (len(X) + len(Y)) * X.shape[1] <= len(X) * len(Y)
    if not small or X.dtype != np.float32 or Y.dtype != np.float32:
        return None
    # Scaled rows are finite where the largest entries are.
    largest = max(float(np.abs(X).max()), float(np.abs(Y).max()))
    if not 2 * largest / form.lengthscale < np.finfo(np.float32).max:
        return None
    return fused_slices(X, Y, form)


def plain_tile(X: np.ndarray, Y: np.ndarray, form: Form) -> np.ndarray:
    """Return the same kernel of two blocks of rows in float64, pair by pair.

    Examples
    --------
    >>> plain_tile(np.zeros((1, 2)), np.asarray([[3.0, 4.0]]), Form("exponential", 1.0)).round(4)
    array([[0.0067]])
    """
    gaps = (X[:, None, :].astype(float) - Y[None, :, :]) / form.lengthscale
    t = np.abs(gaps).sum(axis=2) if form.manhattan else np.sqrt((gaps**2).sum(axis=2))
    if form.function == "gaussian":
        return np.exp(-(t**2) / 2)
    if form.function == "matern32":
        return (1 + np.sqrt(3) * t) * np.exp(-np.sqrt(3) * t)
    if form.function == "matern52":
        return (1 + np.sqrt(5) * t + 5 * t**2 / 3) * np.exp(-np.sqrt(5) * t)
    return np.exp(-(t ** (form.power if form.function == "powered" else 1.0)))
