"""How rows are cut: blocks that fit the processor's cache and the memory budget."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._array import (
    all_finite,
    as_floating,
    dtype_name,
    is_numpy,
    is_sparse,
    namespace,
    to_numpy,
)
from .._settings import settings
from ..ops.products import DENSE_ENOUGH

#: Bytes of input and output that a block should span on a CPU: a few times its L2 cache, where
#: one thread's matrix product runs at full speed and the next pass still finds it in L3.
CPU_BLOCK_BYTES = 4 * 2**20
#: The same on an accelerator, where a launch must be worth its while, and the share of the output.
DEVICE_BLOCK_BYTES, DEVICE_SHARE = 1024 * 2**20, 1 / 12
#: Rows below which a matrix product loses its speed.
FEWEST_ROWS = 64
#: Bytes of input and output below which a second thread costs more than it brings.
WORTH_A_THREAD = 2 * 2**20


class Plan(NamedTuple):
    """How work is cut: rows in a block, and threads that take blocks."""

    rows: int
    workers: int


def plan_rows(
    n_rows: int,
    row_bytes: int,
    on_cpu: bool = True,
    copies: int = 3,
    most_bytes: float = DEVICE_BLOCK_BYTES,
) -> Plan:
    """Return how many rows a block should have, and how many threads to use.

    Parameters
    ----------
    n_rows : int
        Rows there are.
    row_bytes : int
        Bytes of one row of input, output and scratch together.
    on_cpu : bool, default=True
        Whether threads share the budget and the cache sets the pace.
    copies : int, default=3
        How many times ``row_bytes`` a row in flight may take, temporaries included.
    most_bytes : float, default=1 GiB
        What a block may span on an accelerator.
    """
    memory = settings().memory
    affordable = memory // (copies * row_bytes)
    if affordable < 1:
        raise ValueError(
            f"memory={memory} bytes is too small: one row in flight needs {copies * row_bytes} "
            f"bytes; raise the budget with mercer.set_config(memory={copies * row_bytes}) or use "
            "fewer components."
        )
    workers = min(settings().workers(), affordable) if on_cpu else 1
    asked = settings().block_rows
    if asked is None:
        if n_rows * row_bytes < WORTH_A_THREAD:
            workers = 1
        span = CPU_BLOCK_BYTES if on_cpu else min(most_bytes, DEVICE_BLOCK_BYTES)
        asked = max(FEWEST_ROWS, int(span) // row_bytes)
        # Matrix products are a fifth faster for whole multiples of their inner blocks.
        asked = -(-asked // FEWEST_ROWS) * FEWEST_ROWS
        if workers > 1:
            asked = min(asked, max(FEWEST_ROWS, math.ceil(n_rows / workers)))
    return Plan(max(1, min(asked, affordable // workers, n_rows)), workers)


def row_width(X: Any) -> int:
    """Return how many numbers a row of ``X`` takes: its non-zeros, where it stays sparse."""
    if not is_sparse(X):
        return int(X.shape[1])
    mean = X.nnz / max(1, X.shape[0])
    if mean > DENSE_ENOUGH * X.shape[1]:
        return int(X.shape[1])
    # Values and indices, and rows that are longer than the mean.
    return min(int(X.shape[1]), 4 * math.ceil(mean + 1))


def cut(n_rows: int, rows: int) -> list[tuple[int, int]]:
    """Return the (start, stop) pairs of blocks of ``rows`` rows, the last one shorter.

    Examples
    --------
    >>> cut(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


class NonFiniteError(ValueError):
    """NaN or infinity in rows that must be finite; it knows where, and can be told more.

    Parameters
    ----------
    what, name : str
        ``"NaN"`` or ``"infinity"``, and what the rows are called.
    row, column : int
        Where the first one is.

    Examples
    --------
    >>> print(NonFiniteError("NaN", "X", 3, 1).below(100))
    X contains NaN at row 103, column 1 (counted from 0); ...
    """

    what: str
    name: str
    row: int
    column: int

    def __init__(self, what: str, name: str, row: int, column: int) -> None:
        self.what, self.name, self.row, self.column = what, name, row, column
        super().__init__(
            f"{name} contains {what} at row {row}, column {column} (counted from 0); {name} must "
            "not contain NaN or inf: impute or drop such rows first, for example with "
            "sklearn.impute.SimpleImputer."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again in another process."""
        return type(self), (self.what, self.name, self.row, self.column)

    def below(self, n_rows: int) -> NonFiniteError:
        """Return the same for rows that stand below others."""
        return NonFiniteError(self.what, self.name, n_rows + self.row, self.column)


def take(X: Any, start: int, stop: int, dtype: str, name: str = "X", *, check: bool = True) -> Any:
    """Return rows of ``X`` in floating ``dtype``, or say where a value is not finite."""
    block = X[start:stop] if is_numpy(X) else X[start:stop, :]
    if check and "float" in dtype_name(block):
        _refuse_non_finite(block, start, name)
    return as_floating(block, dtype)


def _refuse_non_finite(block: Any, start: int, name: str) -> None:
    """Raise an error that names the first NaN or infinity of the block."""
    if all_finite(block):
        return
    if is_numpy(block):
        wrong = np.argwhere(~np.isfinite(to_numpy(block)))
        row, column = int(wrong[0, 0]), int(wrong[0, 1])
    else:
        xp = namespace(block)
        wrong = xp.astype(xp.reshape(~xp.isfinite(block), (-1,)), xp.int32)
        row, column = divmod(int(xp.argmax(wrong)), block.shape[1])
    what = "NaN" if math.isnan(float(block[row, column])) else "infinity"
    raise NonFiniteError(what, name, start + row, column)
