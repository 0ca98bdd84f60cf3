"""How rows are cut: blocks that fit the processor's cache and the memory budget."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import as_floating, dtype_name, is_numpy, is_sparse, namespace, to_numpy
from .config import settings

#: Bytes of input and output that a block should span on a CPU: a few times its L2 cache, where
#: one thread's matrix product runs at full speed and the next pass still finds it in L3.
CPU_BLOCK_BYTES = 4 * 2**20
#: The same on an accelerator, where a launch must be worth its while.
DEVICE_BLOCK_BYTES = 256 * 2**20
#: Rows below which a matrix product loses its speed.
FEWEST_ROWS = 64


def block_rows(n_rows: int, row_bytes: int, on_cpu: bool = True, copies: int = 3) -> int:
    """Return how many rows a block should have.

    Parameters
    ----------
    n_rows : int
        Rows there are.
    row_bytes : int
        Bytes of one row of input and output together.
    on_cpu : bool, default=True
        Whether threads share the budget and the cache sets the pace.
    copies : int, default=3
        How many times ``row_bytes`` a row in flight may take, temporaries included.
    """
    workers = settings().workers() if on_cpu else 1
    affordable = settings().memory // (copies * row_bytes * workers)
    if affordable < 1:
        needed = copies * row_bytes * workers
        raise ValueError(
            f"memory={settings().memory} bytes is too small: one row in flight on {workers} "
            f"thread(s) needs {needed} bytes; raise the budget with "
            f"mercer.config(memory={needed}) or use fewer threads or components."
        )
    asked = settings().block_rows
    if asked is None:
        fitting = (CPU_BLOCK_BYTES if on_cpu else DEVICE_BLOCK_BYTES) // row_bytes
        asked = max(FEWEST_ROWS, fitting)
        if on_cpu and n_rows >= workers * FEWEST_ROWS:
            asked = min(asked, math.ceil(n_rows / workers))
    return max(1, min(asked, affordable, n_rows))


def cut(n_rows: int, rows: int) -> list[tuple[int, int]]:
    """Return the (start, stop) pairs of blocks of ``rows`` rows, the last one shorter.

    Examples
    --------
    >>> cut(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def take(X: Any, start: int, stop: int, dtype: str, name: str = "X") -> Any:
    """Return rows of ``X`` in floating ``dtype``, or say where a value is not finite."""
    block = X[start:stop] if is_numpy(X) else X[start:stop, :]
    if "float" in dtype_name(block):
        _refuse_non_finite(block, start, name)
    return as_floating(block, dtype)


def _refuse_non_finite(block: Any, start: int, name: str) -> None:
    """Raise an error that names the first NaN or infinity of the block."""
    if is_numpy(block):
        values = block.data if is_sparse(block) else block
        with np.errstate(over="ignore", invalid="ignore"):
            # A finite sum has finite terms; an infinite one may only have overflowed.
            if np.isfinite(values.sum()) or np.isfinite(values).all():
                return
        wrong = np.argwhere(~np.isfinite(to_numpy(block)))
        row, column = int(wrong[0, 0]), int(wrong[0, 1])
    else:
        xp = namespace(block)
        if bool(xp.all(xp.isfinite(block))):
            return
        wrong = xp.astype(xp.reshape(~xp.isfinite(block), (-1,)), xp.int32)
        row, column = divmod(int(xp.argmax(wrong)), block.shape[1])
    value = float(block[row, column])
    what = "NaN" if math.isnan(value) else "infinity"
    raise ValueError(
        f"{name} contains {what} at row {start + row}, column {column} (counted from 0); "
        f"{name} must not contain NaN or inf: impute or drop such rows first, for example with "
        "sklearn.impute.SimpleImputer."
    )
