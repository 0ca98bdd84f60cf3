"""A tall matrix in panels of rows: kept as far as memory allows, and used from both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import as_floating, empty_like_library, is_numpy, namespace, zeros_beside
from .blocks import cut
from .symmetric import DEVICE_TILE, STRIP_BYTES, STRIPS, TILE, Fill
from .threads import run_tasks

#: Columns of a panel that are computed at once, so that tiles stay in the cache.
COLUMNS = 2048


class RowPanels:
    """A tall matrix K of which A ↦ Kᵀ g(K A) is computed with one look at every panel.

    Parameters
    ----------
    tile : callable
        ``tile(rows, columns, out)`` fills an array with the entries of two slices.
    shape : tuple of int
        Rows and columns of the matrix.
    room : int
        Bytes that kept panels may take.
    beside : array, default=None
        Names the array library and device; ``None`` means NumPy.
    dtype : {"float32", "float64"}
        Of the panels.

    Examples
    --------
    >>> matrix = np.asarray([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]])
    >>> def tile(rows, columns, out):
    ...     out[:] = matrix[rows, columns]
    >>> panels = RowPanels(tile, matrix.shape, room=10**6)
    >>> panels.both_sides(np.ones((2, 1)), lambda rows, U: U).ravel()
    array([10., 16.])
    """

    shape: tuple[int, int]

    def __init__(
        self,
        tile: Fill,
        shape: tuple[int, int],
        room: int,
        beside: Any = None,
        dtype: str = "float32",
    ) -> None:
        self._tile, self.shape, self._dtype = tile, shape, dtype
        self._beside = np.empty(0) if beside is None else beside
        side = TILE if is_numpy(self._beside) else DEVICE_TILE
        self._spans = [slice(*span) for span in cut(shape[0], side)]
        self._columns = [slice(*span) for span in cut(shape[1], COLUMNS)]
        each = np.dtype(dtype).itemsize * side * shape[1]
        self._n_kept = min(len(self._spans), room // max(each, 1))
        self._kept: dict[int, Any] = {}
        #: Bytes of the panels that are kept.
        self.kept_bytes: int = self._n_kept * each
        #: Share of the panels that are kept.
        self.kept_share: float = self._n_kept / max(len(self._spans), 1)

    def both_sides(self, A: Any, function: Callable[[slice, Any], Any]) -> Any:
        """Return Kᵀ g(K A) for float64 columns A.

        Parameters
        ----------
        A : array of shape (n_columns, k)
            Coefficients.
        function : callable
            ``function(rows, U)`` gives g for the rows of a panel, from their rows of K A; it may
            look at U, and is called once for every panel.
        """
        on_cpu = is_numpy(A)
        # By columns: BLAS multiplies a few rows with a panel faster than a panel with columns.
        flat = namespace(A).asarray(A.T, copy=True)
        n_strips = int(np.clip(STRIP_BYTES // (8 * A.shape[0] * A.shape[1]), 2, STRIPS))
        numbers = list(range(len(self._spans)))
        strips = [numbers[k::n_strips] for k in range(n_strips)] if on_cpu else [numbers]
        totals: list[Any] = [None] * len(strips)

        def work(strip: int) -> None:
            total = zeros_beside(A, A.shape)
            for number in strips[strip]:
                # Entries are rounded, products are not: both sides see the same matrix, so that
                # what conjugate gradients make of it is symmetric.
                panel = as_floating(self._panel(number), "float64")
                U = (flat @ panel.T).T
                total += (function(self._spans[number], U).T @ panel).T
            totals[strip] = total

        workers = None if on_cpu else 1
        run_tasks(
            work, range(len(strips)), lambda k: len(strips[k]), "kernel product", workers, on_cpu
        )
        found = totals[0]
        for total in totals[1:]:
            found += total
        return found

    def forget(self) -> None:
        """Free the panels that are kept; the next product computes them again."""
        self._kept.clear()

    def _panel(self, number: int) -> Any:
        """Return the panel of a block of rows."""
        found = self._kept.get(number)
        if found is not None:
            return found
        rows = self._spans[number]
        shape = rows.stop - rows.start, self.shape[1]
        panel = empty_like_library(self._beside, shape, self._dtype)
        for columns in self._columns:
            self._tile(rows, columns, panel[:, columns])
        if number < self._n_kept:
            self._kept[number] = panel
        return panel
