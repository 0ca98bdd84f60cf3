"""The pairs of rows of two sets in the columns of one part of a kernel, cut into blocks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._array import as_floating, is_numpy, namespace
from ..engine.blocks import Plan, cut, take
from ..engine.threads import run_tasks
from ..ops.columns import columns_of
from ..ops.products import dense
from .base import Kernel
from .parts import Part
from .slopes import is_radial

Span = tuple[int, int]


class PartPairs(ABC):
    """The pairs of rows of ``X`` and ``Y`` in the columns of a part of a kernel.

    Parameters
    ----------
    part : Part
        The part.
    X, Y : arrays of shape (n, d) and (m, d)
        Rows with all columns.
    plan : Plan
        How many rows a block has, and how many threads there are.
    values : array of shape (n, m) or None
        The values of the part for all pairs, if they are at hand.
    """

    kernel: Kernel
    plan: Plan
    xp: Any

    def __init__(self, part: Part, X: Any, Y: Any, plan: Plan, values: Any = None) -> None:
        self.kernel, self.plan, self.xp = part.kernel, plan, namespace(X)
        #: Numbers of the part's columns, or ``None`` for all.
        self.columns: np.ndarray | None = None
        if not np.array_equal(part.columns, np.arange(X.shape[1])):
            self.columns = part.columns
        self._X, self._Y, self._values = X, Y, values
        # A kernel of x - z does not see a shift of all rows, but the difference of two large
        # products does: it has lost the digits that they share.
        self._centre: Any = None
        if is_radial(part.kernel):
            sample = self.other_rows((0, min(Y.shape[0], plan.rows)))
            self._centre = self.xp.mean(sample, axis=0, keepdims=True)

    def rows(self, span: Span) -> Any:
        """Return rows of ``X`` in these columns, dense, in float64 and about the origin."""
        return self._about_origin(take(self._X, *span, "float64"))

    def other_rows(self, span: Span) -> Any:
        """Return such rows of ``Y``."""
        return self._about_origin(take(self._Y, *span, "float64", "Y"))

    def other_blocks(self) -> Iterator[tuple[Span, Any]]:
        """Yield the blocks of ``Y``, as span and rows."""
        for span in cut(self._Y.shape[0], self.plan.rows):
            yield span, self.other_rows(span)

    def values(self, span: Span, columns: Span) -> Any:
        """Return values of the part in float64, or ``None`` if they are not at hand."""
        if self._values is None:
            return None
        return as_floating(self._values[span[0] : span[1], columns[0] : columns[1]], "float64")

    def run(self, work: Callable[[tuple[int, Span]], None]) -> None:
        """Call ``work`` on all blocks of ``X``, each with its number."""
        run_blocks(work, self._X, self.plan)

    @abstractmethod
    def gradients(self, rows: Any, span: Span, coefficients: Any) -> list[Any]:
        """Return the gradients at some rows, an array of their shape for each target."""

    @abstractmethod
    def norm(self, left: Any, right: Any, matrix: bool) -> Any:
        """Return the bilinear form of the derivative by weights of these columns."""

    def _about_origin(self, block: Any) -> Any:
        if self.columns is not None:
            block = columns_of(block, self.columns.tolist(), self.xp)
        block = dense(block)
        return block if self._centre is None else block - self._centre


def run_blocks(work: Callable[[tuple[int, Span]], None], X: Any, plan: Plan) -> None:
    """Call ``work`` on all blocks of ``X``, each with its number."""
    # Every task runs through all of Y, so there should be one for every thread at least.
    rows_each = min(plan.rows, max(1, math.ceil(X.shape[0] / plan.workers)))
    tasks = list(enumerate(cut(X.shape[0], rows_each)))

    def quiet(task: tuple[int, Span]) -> None:
        # What overflows is refused when the sums are done.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            work(task)

    label, on_cpu = "kernel derivatives", is_numpy(X)
    run_tasks(quiet, tasks, lambda task: 1, label, plan.workers, on_cpu)


def coefficients_of(columns: Any, span: Span) -> Any:
    """Return rows of coefficients in float64."""
    return as_floating(columns[span[0] : span[1], :], "float64")


def summed(one: Any, two: Any, matrix: bool, xp: Any) -> Any:
    """Return Σᵢ uᵢ vᵢᵀ over the rows of two blocks, or its diagonal."""
    return one.T @ two if matrix else xp.sum(one * two, axis=0)
