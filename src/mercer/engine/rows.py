"""Who loops over rows: a function of one block becomes a function of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import floating_name, is_numpy
from .blocks import block_rows, cut, take
from .memory import allocate
from .threads import run_tasks


def map_rows(
    function: Callable[..., Any], X: Any, n_columns: int, *, name: str = "X", label: str
) -> Any:
    """Return the rows ``function(X)``, computed block by block into one output.

    Parameters
    ----------
    function : callable
        Called as ``function(block, out=None)`` with rows in floating dtype. On the CPU
        ``out`` is where the block's result belongs; the function may write there and
        return it, or return an array of its own, which is then copied.
    X : array of shape (n_samples, n_features)
        Rows of any library, or CSR.
    n_columns : int
        Columns of the result.
    name, label : str
        What to call the input in errors, and the work in the progress bar.
    """
    n_rows = X.shape[0]
    dtype = floating_name(X)
    itemsize = np.dtype(dtype).itemsize
    on_cpu = is_numpy(X)
    rows = block_rows(n_rows, itemsize * (X.shape[1] + n_columns), on_cpu)
    out = allocate(X, (n_rows, n_columns), dtype)

    def work(span: tuple[int, int]) -> None:
        start, stop = span
        block = take(X, start, stop, dtype, name)
        if on_cpu:
            target = out[start:stop]
            result = function(block, out=target)
            if result is not target:
                target[...] = result
        else:
            out[start:stop, :] = function(block)

    if on_cpu:
        run_tasks(work, cut(n_rows, rows), lambda span: span[1] - span[0], label)
    else:
        for span in cut(n_rows, rows):
            work(span)
    return out


def visit_rows(function: Callable[[Any], object], X: Any, *, name: str = "X") -> None:
    """Call ``function`` on the blocks of ``X`` one after the other, in order."""
    dtype = floating_name(X)
    row_bytes = np.dtype(dtype).itemsize * X.shape[1]
    for start, stop in cut(X.shape[0], block_rows(X.shape[0], row_bytes, is_numpy(X))):
        function(take(X, start, stop, dtype, name))
