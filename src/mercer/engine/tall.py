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
#: Columns up to which products with them one by one are faster: matrix products copy F first.
FEW = 4
#: Bytes of rows that stay in the cache from one column to the next.
CACHED = 2**19


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
    few = np.ascontiguousarray(V.T) if V.shape[1] <= FEW else None
    size = max(1, CACHED // max(1, F.shape[1] * F.itemsize))

    def work(span: tuple[int, int]) -> None:
        if few is None:
            np.matmul(F[span[0] : span[1]], V, out=out[span[0] : span[1]])
            return
        for start in range(*span, size):
            rows = slice(start, min(start + size, span[1]))
            for number, column in enumerate(few):
                out[rows, number] = F[rows] @ column

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
