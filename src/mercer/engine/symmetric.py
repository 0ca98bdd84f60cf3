"""A symmetric matrix in tiles: kept as far as memory allows, recomputed beyond, multiplied."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .blocks import cut
from .threads import run_tasks

#: Rows and columns of a tile: 1 MiB in float32, which a core's cache holds while it is used twice.
TILE = 512


class SymmetricTiles:
    """A symmetric matrix of which only the tiles on and above the diagonal are computed.

    Each tile is used for its own rows and, transposed, for its columns: memory, and the traffic
    from memory in a product, are half of those of the whole matrix. Tiles are kept in float32 as
    long as there is room, and computed again in every product where there is none.

    Parameters
    ----------
    tile : callable
        ``tile(rows, columns, out)`` fills a float32 array with the entries of two slices.
    n_rows : int
        Rows and columns of the matrix.
    room : int
        Bytes that kept tiles may take.

    Examples
    --------
    >>> matrix = np.asarray([[2.0, 1.0], [1.0, 3.0]])
    >>> def tile(rows, columns, out):
    ...     out[:] = matrix[rows, columns]
    >>> tiles = SymmetricTiles(tile, 2, room=10**6)
    >>> tiles.product(np.ones((2, 1))).ravel(), tiles.kept_share
    (array([3., 4.]), 1.0)
    """

    def __init__(self, tile: Callable[..., None], n_rows: int, room: int) -> None:
        self._tile, self.n_rows, self._room = tile, n_rows, room
        spans = [slice(*span) for span in cut(n_rows, TILE)]
        self._tasks = [(i, j) for i in range(len(spans)) for j in range(i, len(spans))]
        self._spans = spans
        self._kept: dict[tuple[int, int], np.ndarray] = {}
        self._planned: set[tuple[int, int]] = set()
        used = 0
        for task in self._tasks:
            size = 4 * self._size(task)
            if used + size > room:
                break
            used += size
            self._planned.add(task)
        #: Bytes of the tiles that are kept.
        self.kept_bytes = used
        #: Share of the tiles that are kept.
        self.kept_share = len(self._planned) / len(self._tasks)
        self.n_products = 0

    def _size(self, task: tuple[int, int]) -> int:
        rows, columns = self._spans[task[0]], self._spans[task[1]]
        return (rows.stop - rows.start) * (columns.stop - columns.start)

    def product(self, V: np.ndarray, label: str = "kernel product") -> np.ndarray:
        """Return the matrix times float64 columns, summed in float64.

        Parameters
        ----------
        V : array of shape (n_rows, n_columns)
            What to multiply with.
        label : str
            The name in a progress bar.
        """
        single = np.ascontiguousarray(V, dtype=np.float32)
        local = threading.local()
        parts: list[np.ndarray] = []

        def work(task: tuple[int, int]) -> None:
            if not hasattr(local, "total"):
                local.total = np.zeros(V.shape)
                parts.append(local.total)
            block = self._block(task, local)
            rows, columns = self._spans[task[0]], self._spans[task[1]]
            local.total[rows] += block @ single[columns]
            if rows != columns:
                local.total[columns] += block.T @ single[rows]

        run_tasks(work, self._tasks, self._size, label)
        self.n_products += 1
        return np.sum(parts, axis=0)

    def _block(self, task: tuple[int, int], local: Any) -> np.ndarray:
        """Return a tile: the kept one, or one in a buffer of the thread."""
        found = self._kept.get(task)
        if found is not None:
            return found
        rows, columns = self._spans[task[0]], self._spans[task[1]]
        shape = rows.stop - rows.start, columns.stop - columns.start
        if task in self._planned:
            block = np.empty(shape, dtype=np.float32)
            self._tile(rows, columns, block)
            self._kept[task] = block
            return block
        if not hasattr(local, "buffer"):
            local.buffer = np.empty(TILE * TILE, dtype=np.float32)
        block = local.buffer[: shape[0] * shape[1]].reshape(shape)
        self._tile(rows, columns, block)
        return block
