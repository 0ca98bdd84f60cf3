"""Who loops over rows: a function of one block becomes a function of all rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._array import all_finite, floating_name, is_numpy, is_sparse
from .._deferred import asked_at_the_end
from .._devices import has_fused_kernels, has_recordings, recorder
from .blocks import DEVICE_SHARE, cut, plan_rows, row_width, take
from .memory import allocate
from .threads import run_tasks

#: Bytes of blocks on a device that need not be a small share of their output.
SMALL_OUTPUT = 32 * 2**20
#: Bytes of blocks whose steps are recorded: larger ones are hardly faster, and less often the same.
RECORDED = 256 * 2**20


def map_rows(
    function: Callable[..., Any],
    X: Any,
    n_columns: int,
    *,
    scratch: int = 0,
    device_scratch: int | None = None,
    replays: bool = False,
    name: str = "X",
    label: str,
) -> Any:
    """Return the rows ``function(X)``, computed block by block into one output.

    Parameters
    ----------
    function : callable
        Called as ``function(block, out=None)`` with rows in floating dtype. Of NumPy, and of
        libraries that have fused kernels, ``out`` is where the block's result belongs; the
        function may write there and return it, or return an array of its own, which is then
        copied.
    X : array of shape (n_samples, n_features)
        Rows of any library, or CSR.
    n_columns : int
        Columns of the result.
    scratch : int, default=0
        Further numbers that the function holds for each row while it works.
    device_scratch : int, default=None
        The same on an accelerator, if it is another number there.
    replays : bool, default=False
        Whether an accelerator may record the steps of a block, and replay them for the others.
    name, label : str
        What to call the input in errors, and the work in the progress bar.
    """
    n_rows = X.shape[0]
    dtype = floating_name(X)
    on_cpu = is_numpy(X)
    in_place = on_cpu or has_fused_kernels(X)
    # On a device that is written in place blocks take no output of their own.
    held = scratch if on_cpu or device_scratch is None else device_scratch
    width = row_width(X) + held + (n_columns if on_cpu or not in_place else 0)
    item = np.dtype(dtype).itemsize
    share = max(SMALL_OUTPUT, DEVICE_SHARE * item * n_rows * n_columns)
    recorded = replays and has_recordings(X)
    plan = plan_rows(
        n_rows, item * width, on_cpu, most_bytes=min(share, RECORDED) if recorded else share
    )
    recording = recorder(X)(function) if recorded else function
    out = allocate(X, (n_rows, n_columns), dtype)
    # To look at every block would be to wait for every block.
    check = on_cpu or not all_finite(X)

    def work(span: tuple[int, int]) -> None:
        start, stop = span
        block = take(X, start, stop, dtype, name, check=check)
        if in_place:
            target = out[start:stop]
            result = recording(block, out=target)
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
