"""Kernels with known derivatives, and the parts of a sum that are differentiated one by one.

A part is a kernel of some columns. It is either a function of norms and inner products, with
the tiles of :mod:`mercer.kernels.slopes`, or one of the sum of absolute differences, with those
of :mod:`mercer.kernels.falls`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..ops.angles import STEP
from ..ops.columns import columns_of
from .algebra import Scaled, Sum
from .base import Kernel
from .columns import OnColumns
from .falls import falls, is_manhattan
from .relu import ArcCosine
from .slopes import slopes


class Part(NamedTuple):
    """A kernel of some columns, with slopes or with falls."""

    kernel: Kernel
    columns: np.ndarray


def has_slopes(kernel: Kernel, matrix: bool = False) -> bool:
    """Return whether the derivatives of a kernel are known here.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    matrix : bool, default=False
        Whether they are wanted by a matrix of weights. Kernels that depend on the choice of
        axes, :class:`~mercer.ProductLaplace` and :class:`~mercer.OnColumns`, have derivatives
        by weights of columns only.

    Examples
    --------
    >>> from mercer.kernels import NTK, Gaussian, Polynomial, ProductLaplace
    >>> has_slopes(Gaussian() + 0.5 * NTK(depth=2)), has_slopes(Gaussian() * Polynomial())
    (True, False)
    >>> has_slopes(ProductLaplace()), has_slopes(ProductLaplace(), matrix=True)
    (True, False)
    """
    return _without_formula(kernel) is None and not (matrix and axes_part(kernel) is not None)


def refuse_unknown(kernel: Kernel, matrix: bool = False) -> None:
    """Raise an error if the derivatives of a kernel, or of a part of it, are not known."""
    part = _without_formula(kernel)
    if part is not None:
        raise TypeError(
            f"The derivatives of {part!r} are not known, but those of Gaussian, Laplace, Matern, "
            "PoweredExponential, ProductLaplace, Exponential, Polynomial, PowerSeries, "
            "ArcCosine(order=1), NNGP, NTK, and of their sums, multiples and OnColumns are: use "
            "one of these."
        )
    part = axes_part(kernel) if matrix else None
    if part is not None:
        raise ValueError(
            f"matrix=True does not suit {part!r}, which depends on the choice of axes: its metric "
            "is a weight for each column (matrix=False)."
        )


def axes_part(kernel: Kernel) -> Kernel | None:
    """Return the first part of a kernel that depends on the choice of axes, if there is one."""
    return _first(kernel, lambda part: isinstance(part, OnColumns) or is_manhattan(part))


@singledispatch
def parts_of(kernel: Kernel, columns: np.ndarray) -> list[Part]:
    """Return the parts of a kernel of rows with some columns, whose sum it is.

    Kernels of the same kind on the same columns are one part where they stand together in a
    sum: their tiles are added before anything is multiplied with them.

    Parameters
    ----------
    kernel : Kernel
        A kernel for which :func:`has_slopes` holds.
    columns : array of int
        Numbers of the columns that it gets.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Laplace, ProductLaplace
    >>> kernel = 2.0 * (OnColumns(Gaussian(), [1]) + ProductLaplace())
    >>> [(part.columns.tolist(), part.kernel.kernel) for part in parts_of(kernel, np.arange(3))]
    [([1], Gaussian()), ([0, 1, 2], ProductLaplace())]
    >>> len(parts_of(Gaussian() + Laplace(), np.arange(3)))
    1
    """
    return [Part(kernel, columns)]


@parts_of.register
def _sum(kernel: Sum, columns: np.ndarray) -> list[Part]:
    if axes_part(kernel) is None or is_manhattan(kernel):
        return [Part(kernel, columns)]
    return parts_of(kernel.left, columns) + parts_of(kernel.right, columns)


@parts_of.register
def _scaled(kernel: Scaled, columns: np.ndarray) -> list[Part]:
    parts = parts_of(kernel.kernel, columns)
    return [Part(Scaled(part.kernel, kernel.scale), part.columns) for part in parts]


@parts_of.register
def _on_columns(kernel: OnColumns, columns: np.ndarray) -> list[Part]:
    return parts_of(kernel.kernel, columns_of(columns[None, :], kernel.columns, np)[0])


@singledispatch
def _knows(kernel: Kernel) -> bool:
    """Return whether there is a formula for a kernel, apart from the parts inside it."""
    return any(
        known.dispatch(type(kernel)) is not known.dispatch(object) for known in (slopes, falls)
    )


@_knows.register
def _knows_relu(kernel: ArcCosine) -> bool:
    # The step function is flat wherever it has a derivative.
    return kernel.layers()[1] != STEP


@_knows.register
def _knows_columns(kernel: OnColumns) -> bool:
    return True


def _without_formula(kernel: Kernel) -> Kernel | None:
    """Return the first part of a kernel whose derivatives are not known."""
    return _first(kernel, lambda part: not _knows(part))


def _first(kernel: Kernel, wanted: Callable[[Kernel], bool]) -> Kernel | None:
    """Return a kernel, or the first kernel inside it, for which something holds."""
    if wanted(kernel):
        return kernel
    parts = kernel.get_params(deep=False).values()
    found = (_first(part, wanted) for part in parts if isinstance(part, Kernel))
    return next((part for part in found if part is not None), None)
