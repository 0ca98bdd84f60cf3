"""Who loops over rows: a function of one block becomes a function of all rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._array import all_finite, floating_name, is_numpy, is_sparse
from .._deferred import asked_at_the_end
from .blocks import cut, plan_rows, row_width, take
from .memory import allocate
from .threads import run_tasks


def map_rows(
    function: Callable[..., Any],
    X: Any,
    n_columns: int,
    *,
    scratch: int = 0,
    name: str = "X",
    label: str,
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
    scratch : int, default=0
        Further numbers that the function holds for each row while it works.
    name, label : str
        What to call the input in errors, and the work in the progress bar.
    """
    n_rows = X.shape[0]
    dtype = floating_name(X)
    on_cpu = is_numpy(X)
    width = row_width(X) + n_columns + scratch
    plan = plan_rows(n_rows, np.dtype(dtype).itemsize * width, on_cpu)
    out = allocate(X, (n_rows, n_columns), dtype)
    # To look at every block would be to wait for every block.
    check = on_cpu or not all_finite(X)

    def work(span: tuple[int, int]) -> None:
        start, stop = span
        block = take(X, start, stop, dtype, name, check=check)
        if on_cpu:
            target = out[start:stop]
            result = function(block, out=target)
            if result is not target:
                target[...] = result.toarray() if is_sparse(result) else result
        else:
            out[start:stop, :] = function(block)

    with nullcontext() if on_cpu else asked_at_the_end():
        run_tasks(work, cut(n_rows, plan.rows), _length, label, plan.workers, on_cpu)
    return out


def visit_rows(function: Callable[[Any], object], X: Any, *, name: str = "X", label: str) -> None:
    """Call ``function`` on the blocks of ``X`` one after the other, in order."""
    dtype = floating_name(X)
    plan = plan_rows(X.shape[0], np.dtype(dtype).itemsize * row_width(X), is_numpy(X))

    def work(span: tuple[int, int]) -> None:
        function(take(X, *span, dtype, name))

    run_tasks(work, cut(X.shape[0], plan.rows), _length, label, 1, is_numpy(X))


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]
