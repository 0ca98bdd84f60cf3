"""A kernel of some of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import namespace
from .._registry import storable
from ..ops.columns import columns_of
from .base import Kernel, diag_of, tile_of
from .lengthscale import FewRows, RowSummary


@storable
class OnColumns(Kernel):
    r"""A kernel that looks at some columns only: :math:`k(x_S, y_S)`.

    Products of such kernels are kernels of columns of different kinds, coordinates and a time.

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
        return tile_of(self.kernel, left, right, xp, out)

    def _diag(self, X: Any, xp: Any) -> Any:
        return diag_of(self.kernel, columns_of(X, self.columns, xp), xp)

    def from_summary(self, summary: RowSummary | FewRows) -> Kernel:
        """Return a copy whose kernel takes what it needs from its own columns of a sample."""
        rows = columns_of(summary.sample, self.columns, namespace(summary.sample))
        return OnColumns(self.kernel.fitted_to(rows), self.columns)
