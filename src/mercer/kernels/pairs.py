"""The pairs of rows of two sets, for all parts of a kernel together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._array import namespace
from .._settings import settings
from ..engine.blocks import Plan, row_width
from ..engine.tiles import plan_tiles, tile_rows
from ..ops.columns import add_columns
from .base import Kernel
from .fall_tiles import FallPairs
from .falls import is_manhattan
from .part_pairs import PartPairs, Span, run_blocks
from .parts import parts_of
from .slope_tiles import SlopePairs

#: Tiles that slopes hold at once; measured at most 27, for a sum with a tangent kernel whose
#: tile is one strip.
SLOPE_COPIES = 30


class Pairs:
    """The pairs of rows of ``X`` and ``Y``, and the parts of a kernel on them.

    Parameters
    ----------
    kernel : Kernel
        The kernel, whose derivatives are known.
    X, Y : arrays of shape (n, d) and (m, d)
        Checked rows.
    n_targets : int
        How many gradients are held for a row.
    held : int, default=0
        Further numbers that are held on each thread.
    values : array of shape (n, m), default=None
        The kernel matrix, if it is at hand.
    """

    xp: Any

    def __init__(
        self, kernel: Kernel, X: Any, Y: Any, n_targets: int, held: int = 0, values: Any = None
    ) -> None:
        self.xp, self._X = namespace(X), X
        parts = parts_of(kernel, np.arange(X.shape[1]))
        single = len(parts) == 1
        # The gradients of a part are held beside their sum.
        self._plan = _plan(X, Y, n_targets if single else 2 * n_targets, held)
        self.parts: list[PartPairs] = [
            (FallPairs if is_manhattan(part.kernel) else SlopePairs)(
                part, X, Y, self._plan, values if single else None
            )
            for part in parts
        ]

    def gradients(self, span: Span, coefficients: Any) -> list[Any]:
        """Return the gradients at a block of ``X``, an array of its shape for each target."""
        totals: list[Any] = [None] * coefficients.shape[1]
        for part, _, gradients in self.by_part(span, coefficients):
            totals = [
                self.added(total, gradient, part)
                for total, gradient in zip(totals, gradients, strict=True)
            ]
        return totals

    def by_part(self, span: Span, coefficients: Any) -> Iterator[tuple[PartPairs, Any, list[Any]]]:
        """Yield each part with a block of its rows, and its gradients there."""
        for part in self.parts:
            rows = part.rows(span)
            yield part, rows, part.gradients(rows, span, coefficients)

    def added(self, total: Any, value: Any, part: PartPairs) -> Any:
        """Return ``total`` (``None`` is 0) with what a part has in its columns added to it."""
        if part.columns is None:
            return value if total is None else total + value
        if total is None:
            shape = (value.shape[0], self._X.shape[1])
            total = self.xp.zeros(shape, dtype=value.dtype, device=value.device)
        add_columns(total, value, part.columns.tolist())
        return total

    def run(self, work: Callable[[tuple[int, Span]], None]) -> None:
        """Call ``work`` on all blocks of ``X``, each with its number."""
        run_blocks(work, self._X, self._plan)


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
