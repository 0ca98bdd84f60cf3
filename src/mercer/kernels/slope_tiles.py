"""The pairs of rows of two sets, cut into tiles, with the slopes of a kernel on each."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._array import as_floating, is_numpy, namespace
from ..engine.blocks import Plan, cut, row_width, take
from ..engine.config import settings
from ..engine.threads import run_tasks
from ..engine.tiles import plan_tiles, tile_rows
from ..ops.products import dense
from .base import Kernel
from .slopes import Slopes, is_radial, slopes, slopes_of_values

#: Tiles that slopes hold at once; measured at most 27, for a sum with a tangent kernel whose
#: tile is one strip.
SLOPE_COPIES = 30

Span = tuple[int, int]


class Pairs:
    """The pairs of rows of ``X`` and ``Y``, cut into tiles, with their slopes."""

    def __init__(
        self, kernel: Kernel, X: Any, Y: Any, n_targets: int, held: int = 0, values: Any = None
    ) -> None:
        self._kernel, self._X, self._Y, self._values = kernel, X, Y, values
        self.xp = namespace(X)
        self.plan = _plan(X, Y, n_targets, held)
        # A kernel of x - z does not see a shift of all rows, but the difference of two large
        # products does: it has lost the digits that they share.
        self._centre: Any = None
        if is_radial(kernel):
            sample = self.other_rows((0, min(Y.shape[0], self.plan.rows)))
            self._centre = self.xp.mean(sample, axis=0, keepdims=True)

    def rows(self, span: Span) -> Any:
        """Return rows of ``X``, dense, in float64 and about the origin."""
        return self._about_origin(take(self._X, *span, "float64"))

    def other_rows(self, span: Span) -> Any:
        """Return such rows of ``Y``."""
        return self._about_origin(take(self._Y, *span, "float64", "Y"))

    def _about_origin(self, block: Any) -> Any:
        block = dense(block)
        return block if self._centre is None else block - self._centre

    def tiles(self, rows: Any, span: Span) -> Iterator[tuple[Span, Any, Slopes]]:
        """Yield the blocks of ``Y``, as span and rows, with their slopes to ``rows``."""
        for columns in cut(self._Y.shape[0], self.plan.rows):
            other_rows = self.other_rows(columns)
            yield columns, other_rows, self._slopes(rows, other_rows, span, columns)

    def _slopes(self, rows: Any, other_rows: Any, span: Span, columns: Span) -> Slopes:
        if self._values is not None:
            tile = self._values[span[0] : span[1], columns[0] : columns[1]]
            found = slopes_of_values(self._kernel, as_floating(tile, "float64"))
            if found is not None:
                return found
        return slopes(self._kernel, rows, other_rows, self.xp)

    def run(self, work: Callable[[tuple[int, Span]], None]) -> None:
        """Call ``work`` on all blocks of ``X``, each with its number."""
        n_rows = self._X.shape[0]
        # Every task runs through all of Y, so there should be one for every thread at least.
        rows_each = min(self.plan.rows, max(1, math.ceil(n_rows / self.plan.workers)))
        tasks = list(enumerate(cut(n_rows, rows_each)))

        def quiet(task: tuple[int, Span]) -> None:
            # What overflows is refused when the sums are done.
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                work(task)

        label, on_cpu = "kernel derivatives", is_numpy(self._X)
        run_tasks(quiet, tasks, lambda task: 1, label, self.plan.workers, on_cpu)


class OrderedSum:
    """Sums of what tasks return, added in the order of the tasks whichever is done first.

    So that the last digits do not depend on which thread was faster.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._waiting: dict[int, tuple[Any, ...]] = {}
        self._next = 0
        self._lock = threading.Lock()

    def add(self, number: int, *values: Any) -> None:
        """Add the results of a task, or keep them until those before it are there."""
        with self._lock:
            self._waiting[number] = values
            while self._next in self._waiting:
                ready = self._waiting.pop(self._next)
                totals = self.values or [0.0] * len(ready)
                self.values = [a + b for a, b in zip(totals, ready, strict=True)]
                self._next += 1


def _plan(X: Any, Y: Any, n_targets: int, held: int) -> Plan:
    """Return the engine's plan for tiles, with room for slopes and for ``held`` numbers a thread.

    Rows are held dense, as they are and about the origin, and their gradients beside them.
    """
    vectors = (n_targets + 2) * X.shape[1]
    plan = plan_tiles(X, Y, vectors)
    width = 2 * (row_width(X) + row_width(Y)) + 2 * vectors
    numbers = settings().memory / 8
    workers = max(1, min(plan.workers, int(numbers / 2 / (1 + held))))
    affordable = tile_rows(max(0.0, numbers / workers - held), width, SLOPE_COPIES)
    return Plan(max(1, min(plan.rows, affordable)), workers)
