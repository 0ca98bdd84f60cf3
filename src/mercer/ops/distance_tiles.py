"""Kernels of a distance as float32 tiles of any array library: few passes over each tile.

What :mod:`mercer.ops.fused` does on a CPU with compiled code. On an accelerator products of
float64 rows are fast, and so squared distances come out of one product of rows that two columns
were added to, with digits to spare for float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import as_floating, namespace
from .fused import Form, SliceTile

#: Entries of a tile that are computed at once where every column of the rows takes passes of its
#: own: they stay in the cache of an accelerator.
STRIP = 2**22


def distance_slices(X: Any, Y: Any, form: Form) -> SliceTile:
    """Return a function that fills float32 tiles of a kernel matrix of rows of any library.

    Distances below the rounding errors of a product of the rows count as 0, so that a row and its
    copies have the kernel 1.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
        Dense rows of one library.
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
    >>> distance_slices(rows, rows, Form("exponential", 1.0))(slice(0, 1), slice(1, 2), out)
    >>> out.round(4)
    array([[0.1353]], dtype=float32)
    """
    xp, same = namespace(X), Y is X
    wide = as_floating(Y, "float64")
    centre = xp.mean(wide, axis=0, keepdims=True)
    right = (wide - centre) / form.lengthscale
    left = right if same else (as_floating(X, "float64") - centre) / form.lengthscale
    if form.manhattan:
        return _by_columns(left, right, form)
    # |x|² + |y|² - 2<x, y> as one product; the norms are a little short, by what rounding may add.
    short = 1 - (X.shape[1] + 4) * float(np.finfo(float).eps)
    left, right = (
        xp.concat([-2 * left, short * _squares(left, xp), xp.ones_like(left[:, :1])], axis=1),
        xp.concat([right, xp.ones_like(right[:, :1]), short * _squares(right, xp)], axis=1),
    )

    def tile(rows: slice, columns: slice, out: Any) -> None:
        squared = as_floating(left[rows, :] @ right[columns, :].T, "float32")
        out[...] = _of_squares(xp.clip(squared, 0, None), form, xp)

    return tile


def _by_columns(left: Any, right: Any, form: Form) -> SliceTile:
    """Return what fills tiles of a kernel of the sum of absolute differences."""
    xp = namespace(left)
    left, right = as_floating(left, "float32"), as_floating(right, "float32").T

    def tile(rows: slice, columns: slice, out: Any) -> None:
        some, others = left[rows, :], right[:, columns]
        step = max(1, STRIP // max(1, others.shape[1]))
        for start in range(0, some.shape[0], step):
            stop = min(start + step, some.shape[0])
            strip, total = some[start:stop, :], xp.zeros_like(out[start:stop, :])
            for column in range(strip.shape[1]):
                total += xp.abs(strip[:, column][:, None] - others[column, :][None, :])
            out[start:stop, :] = _of_distances(total, form, xp)

    return tile


def _squares(rows: Any, xp: Any) -> Any:
    """Return the squared norms of rows as a column."""
    return xp.sum(rows * rows, axis=1, keepdims=True)


def _of_squares(squared: Any, form: Form, xp: Any) -> Any:
    """Return a kernel of squared Euclidean distances in units of its lengthscale."""
    if form.function == "gaussian":
        return xp.exp(-0.5 * squared)
    if form.function == "powered":
        return xp.exp(-(squared ** (form.power / 2)))
    return _of_distances(xp.sqrt(squared), form, xp)


def _of_distances(t: Any, form: Form, xp: Any) -> Any:
    """Return a kernel of distances in units of its lengthscale."""
    if form.function == "gaussian":
        return xp.exp(-0.5 * t * t)
    if form.function == "powered":
        return xp.exp(-(t**form.power))
    if form.function == "matern32":
        scaled = 3**0.5 * t
        return (1 + scaled) * xp.exp(-scaled)
    if form.function == "matern52":
        scaled = 5**0.5 * t
        return (1 + scaled + scaled * scaled / 3) * xp.exp(-scaled)
    return xp.exp(-t)
