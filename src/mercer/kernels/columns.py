"""A kernel of some of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import is_sparse
from .._registry import storable
from .base import Kernel
from .lengthscale import RowSummary


@storable
class OnColumns(Kernel):
    r"""A kernel that looks at some columns only: :math:`k(x_S, y_S)`.

    Products of such kernels are kernels of things of different kinds, a place and a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    columns : sequence of int
        Which columns it gets.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, Laplace, OnColumns
    >>> kernel = OnColumns(Gaussian(), [0, 1]) * OnColumns(Laplace(), [2])
    >>> kernel(np.asarray([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    _parameter_constraints: dict[str, Any] = {"kernel": [Kernel], "columns": ["array-like"]}

    def __init__(self, kernel: Kernel, columns: Sequence[int]) -> None:
        self.kernel = kernel
        self.columns = columns

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        left, right = (columns_of(rows, self.columns, xp) for rows in (X, Y))
        return self.kernel._tile(left, right, xp, out)

    def _diag(self, X: Any, xp: Any) -> Any:
        return self.kernel._diag(columns_of(X, self.columns, xp), xp)

    def from_summary(self, summary: RowSummary) -> Kernel:
        rows = columns_of(summary.sample, self.columns, np)
        return OnColumns(self.kernel.fitted_to(rows), self.columns)


def columns_of(X: Any, columns: Sequence[int], xp: Any) -> Any:
    """Return some columns of rows of any library, or say which is not there.

    Examples
    --------
    >>> columns_of(np.asarray([[1.0, 2.0, 3.0]]), [2, 0], np)
    array([[3., 1.]])
    """
    chosen = np.asarray(columns)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ValueError(f"columns must list numbers of columns, but it is {columns!r}.")
    if chosen.min() < 0 or chosen.max() >= X.shape[1]:
        raise ValueError(
            f"columns={list(columns)!r} does not fit rows of {X.shape[1]} columns, whose numbers "
            f"go from 0 to {X.shape[1] - 1}."
        )
    if is_sparse(X):
        return X[:, chosen]
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X[:, chosen])
    return xp.stack([X[:, int(k)] for k in chosen], axis=1)
