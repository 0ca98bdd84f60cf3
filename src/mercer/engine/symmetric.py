"""A symmetric matrix in tiles: kept as far as memory allows, recomputed beyond, multiplied."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import as_floating, dtype_name, empty_like_library, is_numpy, namespace, zeros_beside
from .._devices import algebra_of
from .blocks import cut
from .threads import run_tasks

#: Rows and columns of a tile: 1 MiB in float32, which a core's cache holds while it is used twice.
TILE, DEVICE_TILE = 512, 4096
#: Partial sums of a product, at most, and the bytes that they may take. Each has tiles of its own,
#: whatever the number of threads, so that sums do not depend on it.
STRIPS, STRIP_BYTES = 16, 2**28
#: Columns up to which products of a matrix with vectors are faster than a product of matrices.
VECTORS = 2

#: Called as ``tile(rows, columns, out)`` with two slices; fills an array with entries.
Fill = Callable[[slice, slice, Any], None]


class SymmetricTiles:
    """A symmetric matrix of which only the tiles on and above the diagonal are computed.

    Each tile is used for its own rows and, transposed, for its columns: memory, and the traffic
    from memory in a product, are half of those of the whole matrix. Tiles are kept as long as
    there is room, and computed again in every product where there is none. An accelerator that
    has the room keeps the whole matrix, tiles and their mirror images: few large products take
    less time there than many small ones.

    Parameters
    ----------
    tile : callable
        ``tile(rows, columns, out)`` fills an array with the entries of two slices.
    n_rows : int
        Rows and columns of the matrix.
    room : int
        Bytes that kept tiles may take.
    beside : array, default=None
        Names the array library and device of the tiles; ``None`` means NumPy.
    dtype : {"float32", "float64"}
        Of the tiles.

    Examples
    --------
    >>> matrix = np.asarray([[2.0, 1.0], [1.0, 3.0]])
    >>> def tile(rows, columns, out):
    ...     out[:] = matrix[rows, columns]
    >>> tiles = SymmetricTiles(tile, 2, room=10**6)
    >>> tiles.product(np.ones((2, 1))).ravel(), tiles.kept_share
    (array([3., 4.]), 1.0)
    """

    n_rows: int

    def __init__(
        self,
        tile: Fill,
        n_rows: int,
        room: int,
        beside: Any = None,
        dtype: str = "float32",
    ) -> None:
        self._tile, self.n_rows, self._dtype = tile, n_rows, dtype
        self._beside = np.empty(0) if beside is None else beside
        self._side = TILE if is_numpy(self._beside) else DEVICE_TILE
        self._spans = [slice(*span) for span in cut(n_rows, self._side)]
        count = len(self._spans)
        self._tasks = [(i, j) for i in range(count) for j in range(i, count)]
        self._kept: dict[tuple[int, int], Any] = {}
        self._planned: set[tuple[int, int]] = set()
        used, item = 0, np.dtype(dtype).itemsize
        #: The whole matrix, where it is kept as one, once it is computed.
        self._square: Any = None
        self._as_square = not is_numpy(self._beside) and item * n_rows**2 <= room
        if self._as_square:
            used, share = item * n_rows**2, 1.0
        else:
            for task in self._tasks:
                size = item * self._size(task)
                if used + size > room:
                    break
                used += size
                self._planned.add(task)
            share = len(self._planned) / len(self._tasks)
        #: Bytes of the tiles that are kept.
        self.kept_bytes: int = used
        #: Share of the tiles that are kept.
        self.kept_share: float = share
        #: Products so far.
        self.n_products: int = 0

    def _size(self, task: tuple[int, int]) -> int:
        rows, columns = self._spans[task[0]], self._spans[task[1]]
        return (rows.stop - rows.start) * (columns.stop - columns.start)

    def product(self, V: Any, label: str = "kernel product") -> Any:
        """Return the matrix times float64 columns; tiles are multiplied in their dtype.

        Parameters
        ----------
        V : array of shape (n_rows, n_columns)
            What to multiply with.
        label : str
            The name in a progress bar.
        """
        xp, on_cpu = namespace(V), is_numpy(V)
        # By columns: BLAS multiplies a few rows with a tile twice as fast as a tile with columns.
        flat = as_floating(xp.asarray(V.T, copy=True), self._dtype)
        if self._as_square:
            self.n_products += 1
            return self._square_product(flat).T
        n_strips = int(np.clip(STRIP_BYTES // (8 * V.shape[0] * V.shape[1]), 2, STRIPS))
        strips = [self._tasks[k::n_strips] for k in range(n_strips if on_cpu else 1)]
        if not on_cpu:
            strips = [self._tasks]
        totals: list[Any] = [None] * len(strips)
        local = threading.local()

        def work(strip: int) -> None:
            total = zeros_beside(V, (V.shape[1], V.shape[0]))
            for task in strips[strip]:
                block = self._block(task, local)
                rows, columns = self._spans[task[0]], self._spans[task[1]]
                _add(total, rows, flat[:, columns], block.T)
                if rows != columns:
                    _add(total, columns, flat[:, rows], block)
            totals[strip] = total

        workers = None if on_cpu else 1
        sizes = [sum(self._size(task) for task in strip) for strip in strips]
        run_tasks(work, range(len(strips)), lambda strip: sizes[strip], label, workers, on_cpu)
        self.n_products += 1
        found = totals[0]
        for total in totals[1:]:
            found += total
        return found.T

    def forget(self) -> None:
        """Free the tiles that are kept; the next product computes them again."""
        self._kept.clear()
        self._square = None

    def _square_product(self, flat: Any) -> Any:
        """Return columns, given as rows, times the whole matrix; sums of panels are in float64."""
        if self._square is None:
            self._square = self._filled()
        total, algebra = zeros_beside(flat, tuple(flat.shape)), algebra_of(flat)
        for span in self._spans:
            part = algebra.product(flat[:, span], self._square[span, :])
            total += as_floating(part, "float64")
        return total

    def _filled(self) -> Any:
        """Return the whole matrix."""
        square = empty_like_library(self._beside, (self.n_rows, self.n_rows), self._dtype)
        for task in self._tasks:
            rows, columns = self._spans[task[0]], self._spans[task[1]]
            self._tile(rows, columns, square[rows, columns])
            if rows != columns:
                square[columns, rows] = square[rows, columns].T
        return square

    def _block(self, task: tuple[int, int], local: Any) -> Any:
        """Return a tile: the kept one, or one in a buffer of the thread."""
        found = self._kept.get(task)
        if found is not None:
            return found
        rows, columns = self._spans[task[0]], self._spans[task[1]]
        shape = rows.stop - rows.start, columns.stop - columns.start
        if task in self._planned:
            block = empty_like_library(self._beside, shape, self._dtype)
            self._tile(rows, columns, block)
            self._kept[task] = block
            return block
        if getattr(local, "buffer", None) is None:
            local.buffer = empty_like_library(self._beside, (self._side, self._side), self._dtype)
        block = local.buffer[: shape[0], : shape[1]]
        self._tile(rows, columns, block)
        return block


def _add(total: Any, place: slice, few: Any, block: Any) -> None:
    """Add rows times a tile to the sums."""
    if is_numpy(few) and len(few) <= VECTORS:
        for k in range(len(few)):
            total[k, place] += few[k] @ block
        return
    total[:, place] += as_floating(few @ block, dtype_name(total))
