"""Kernel tiles in float32 for iterative solvers: fused where a kernel has such a form."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from .._array import as_floating, dtype_name, empty_like_library, is_numpy
from ..ops.distance_tiles import distance_slices
from ..ops.fused import Form, SliceTile, fused_slices
from .base import Kernel
from .gaussian import Gaussian
from .laplace import Laplace, ProductLaplace
from .matern import Matern
from .powered import PoweredExponential

_MATERN = {0.5: "exponential", 1.5: "matern32", 2.5: "matern52"}


@singledispatch
def fused_form(kernel: Kernel) -> Form | None:
    """Return the kernel as a function of one distance, or ``None`` if it has no such form.

    Examples
    --------
    >>> from mercer.kernels import NTK, Laplace
    >>> fused_form(Laplace(2.0)).function, fused_form(NTK())
    ('exponential', None)
    """
    return None


@fused_form.register
def _gaussian(kernel: Gaussian) -> Form:
    return Form("gaussian", float(kernel.lengthscale))


@fused_form.register
def _laplace(kernel: Laplace) -> Form:
    return Form("exponential", float(kernel.lengthscale))


@fused_form.register
def _product_laplace(kernel: ProductLaplace) -> Form:
    return Form("exponential", float(kernel.lengthscale), manhattan=True)


@fused_form.register
def _matern(kernel: Matern) -> Form | None:
    name = _MATERN.get(float(kernel.nu))
    return None if name is None else Form(name, float(kernel.lengthscale))


@fused_form.register
def _powered(kernel: PoweredExponential) -> Form:
    manhattan = kernel.norm == "manhattan"
    return Form("powered", float(kernel.lengthscale), manhattan, float(kernel.power))


def float32_tiles(kernel: Kernel, X: Any, Y: Any = None) -> SliceTile:
    """Return a function that fills float32 tiles of a kernel matrix.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with numbers for parameters.
    X : array of shape (n, d)
        The rows.
    Y : array of shape (m, d), default=None
        The other rows; ``None`` means ``X``.

    Returns
    -------
    tile : callable
        ``tile(rows, columns, out)`` fills ``out`` with the kernel of two slices of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Laplace
    >>> X, out = np.asarray([[0.0], [1.0]]), np.empty((2, 2), dtype=np.float32)
    >>> float32_tiles(Laplace(), X)(slice(0, 2), slice(0, 2), out)
    >>> out.round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]], dtype=float32)
    """
    form, Y = fused_form(kernel), X if Y is None else Y
    if form is None:
        return plain_tiles(kernel, X, Y)
    return (fused_slices if is_numpy(X) else distance_slices)(X, Y, form)


def plain_tiles(kernel: Kernel, X: Any, Y: Any = None) -> SliceTile:
    """Return a function that fills tiles of a kernel matrix as the kernel computes them.

    Parameters
    ----------
    kernel, X, Y
        As in :func:`float32_tiles`; rows of any array library.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Laplace
    >>> X, out = np.asarray([[0.0], [1.0]]), np.empty((1, 2))
    >>> plain_tiles(Laplace(), X)(slice(0, 1), slice(0, 2), out)
    >>> out.round(3)
    array([[1.   , 0.368]])
    """
    other = X if Y is None else Y

    def plain(rows: slice, columns: slice, out: Any) -> None:
        values = kernel(X[rows, :], other[columns, :])
        out[:, :] = as_floating(values, dtype_name(out))

    return plain


def float32_matrix(kernel: Kernel, X: Any, Y: Any = None) -> Any:
    """Return a kernel matrix in float32, on all threads.

    Parameters
    ----------
    kernel, X, Y
        As in :func:`float32_tiles`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Laplace
    >>> float32_matrix(Laplace(), np.asarray([[0.0]]), np.asarray([[1.0]])).round(3)
    array([[0.368]], dtype=float32)
    """
    from ..engine.blocks import cut
    from ..engine.threads import run_tasks
    from ..engine.tiles import CPU_TILE, DEVICE_TILE

    other, on_cpu = X if Y is None else Y, is_numpy(X)
    side = CPU_TILE if on_cpu else DEVICE_TILE // 2
    tile = float32_tiles(kernel, X, Y)
    out = empty_like_library(X, (X.shape[0], other.shape[0]), "float32")
    tasks = [
        (slice(*rows), slice(*columns))
        for rows in cut(X.shape[0], side)
        for columns in cut(other.shape[0], side)
        if Y is not None or rows[0] <= columns[0]
    ]

    def work(task: tuple[slice, slice]) -> None:
        rows, columns = task
        tile(rows, columns, out[rows, columns])
        if Y is None and rows != columns:
            out[columns, rows] = out[rows, columns].T

    run_tasks(work, tasks, lambda task: 1, "kernel", None if on_cpu else 1, on_cpu)
    return out
