"""Products with a tall matrix, a block of rows at a time on threads of our own.

Threads of BLAS spin for a while after each product: where products alternate with other threaded
work, they hold the cores that it needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_numpy
from .blocks import cut
from .sums import OrderedSum
from .threads import run_tasks

#: Blocks of rows; as many for any number of threads, so that sums do not depend on it.
BLOCKS = 16


def tall_times(F: Any, V: Any) -> Any:
    """Return ``F @ V`` for a tall F.

    Examples
    --------
    >>> tall_times(np.ones((3, 2)), np.ones((2, 1))).ravel()
    array([2., 2., 2.])
    """
    if not is_numpy(F):
        return F @ V
    out = np.empty((len(F), V.shape[1]))

    def work(span: tuple[int, int]) -> None:
        np.matmul(F[span[0] : span[1]], V, out=out[span[0] : span[1]])

    run_tasks(work, _spans(F), lambda span: 1, "factor")
    return out


def tall_transposed_times(F: Any, V: Any) -> Any:
    """Return ``F.T @ V`` for tall F and V; partial sums are added in the order of the rows.

    Examples
    --------
    >>> tall_transposed_times(np.ones((3, 2)), np.ones((3, 1))).ravel()
    array([3., 3.])
    """
    if not is_numpy(F):
        return F.T @ V
    spans, total = _spans(F), OrderedSum()

    def work(number: int) -> None:
        start, stop = spans[number]
        total.add(number, F[start:stop].T @ V[start:stop])

    run_tasks(work, range(len(spans)), lambda number: 1, "factor")
    return np.asarray(total.values[0])


def _spans(F: np.ndarray) -> list[tuple[int, int]]:
    return list(cut(len(F), max(1, -(-len(F) // BLOCKS))))
