"""Who loops over pairs of rows: a kernel of two blocks becomes a matrix, or a product."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import all_finite, as_floating, common_floating_name, is_numpy, is_sparse
from .._devices import has_fused_kernels
from .._settings import settings
from .blocks import FEWEST_ROWS, Plan, cut, row_width, take
from .memory import allocate
from .threads import run_tasks

#: Rows and columns of a tile: 2 MiB in float64, two of which share the cache with their rows.
CPU_TILE = 512
DEVICE_TILE = 8192
#: Tiles in flight at once on a thread: inner products, the result, and the temporaries of a
#: formula; measured at most five in float64, for a sum of kernels.
TILE_COPIES = 8
#: Multiplications below which a second thread costs more than it brings.
WORTH_A_THREAD = 2**24

#: Multiplications of a tile beyond which it is made smaller, so that threads share the work.
MOST_WORK, DEVICE_WORK = 2**28, 2**36


@dataclass(frozen=True)
class Effort:
    """What a pair of rows takes beyond the inner product of the two.

    Parameters
    ----------
    work : int, default=0
        Multiplications of a pair.
    numbers : int, default=0
        Scratch numbers for each row of a tile.

    Examples
    --------
    >>> Effort(100) + Effort(1, 5)
    Effort(work=101, numbers=5)
    """

    work: int = 0
    numbers: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.work + other.work, self.numbers + other.numbers)


_NONE = Effort()


#: Called as ``tile(X, Y, out=None)`` on float64 blocks.
Tile = Callable[..., Any]


def pairwise(
    tile: Tile,
    X: Any,
    Y: Any,
    fill: Callable[..., None] | None = None,
    effort: Effort = _NONE,
) -> Any:
    """Return the matrix of ``tile`` over all pairs of rows; only half of it if ``Y`` is ``None``.

    Where ``fill`` is given, called as ``fill(rows, columns, out)`` with two slices, it computes
    the tiles instead, and they are finite.

    Blocks are handed over in float64 whatever the input: a float32 inner product of two
    almost equal rows has lost the digits that their distance and angle are made of. The
    result has the input's floating dtype.
    """
    symmetric = Y is None
    other = X if symmetric else Y
    dtype = common_floating_name(X, other)
    out = allocate(X, (X.shape[0], other.shape[0]), dtype)
    on_cpu = is_numpy(X)
    in_place = on_cpu or has_fused_kernels(X)
    plan = plan_tiles(X, other, effort=effort)
    tasks = [
        (rows, columns)
        for rows in cut(X.shape[0], plan.rows)
        for columns in cut(other.shape[0], plan.rows)
        if not symmetric or rows[0] <= columns[0]
    ]
    name = "X" if symmetric else "Y"

    def work(task: tuple[tuple[int, int], tuple[int, int]]) -> None:
        rows, columns = task
        target = out[rows[0] : rows[1], columns[0] : columns[1]]
        if fill is not None:
            fill(slice(*rows), slice(*columns), target)
            result = target
        else:
            left = take(X, *rows, "float64")
            own = symmetric and rows == columns
            right = left if own else take(other, *columns, "float64", name)
            result = tile(left, right, out=target if in_place else None)
            if result is not target:
                with np.errstate(over="ignore"):
                    result = as_floating(result.toarray() if is_sparse(result) else result, dtype)
                out[rows[0] : rows[1], columns[0] : columns[1]] = result
            refuse_overflow(result, dtype)
        if symmetric and rows != columns:
            out[columns[0] : columns[1], rows[0] : rows[1]] = result.T

    run_tasks(work, tasks, lambda task: 1, "kernel", plan.workers, on_cpu)
    return out


def pairwise_matvec(tile: Tile, X: Any, Y: Any, vectors: Any, effort: Effort = _NONE) -> Any:
    """Return the product of the matrix of ``tile`` with ``vectors``, a tile at a time."""
    dtype = common_floating_name(X, Y)
    out = allocate(X, (X.shape[0], vectors.shape[1]), dtype)
    on_cpu = is_numpy(X)
    plan = plan_tiles(X, Y, vectors.shape[1], effort)
    # Every task runs through all of Y, so there should be one for every thread at least.
    rows_each = min(plan.rows, max(1, math.ceil(X.shape[0] / plan.workers)))

    def work(rows: tuple[int, int]) -> None:
        left = take(X, *rows, "float64")
        total: Any = 0.0
        for start, stop in cut(Y.shape[0], plan.rows):
            right = take(Y, start, stop, "float64", "Y")
            shape = (left.shape[0], right.shape[0])
            values = tile(left, right, out=np.empty(shape, dtype) if on_cpu else None)
            # The sum runs in float64, where a million small terms do not vanish in rounding.
            weights = as_floating(vectors[start:stop, :], "float64")
            total = total + as_floating(values, "float64") @ weights
        with np.errstate(over="ignore"):
            result = as_floating(total, dtype)
        refuse_overflow(result, dtype)
        out[rows[0] : rows[1], :] = result

    spans = cut(X.shape[0], rows_each)
    run_tasks(work, spans, lambda task: 1, "kernel product", plan.workers, on_cpu)
    return out


def plan_tiles(X: Any, Y: Any, n_vectors: int = 0, effort: Effort = _NONE) -> Plan:
    """Return the rows of a square tile that fits the budget, and the threads to use."""
    on_cpu = is_numpy(X)
    # Four blocks of rows: both sides, as given and scaled.
    width = 2 * (row_width(X) + row_width(Y)) + 2 * n_vectors + effort.numbers
    one = 8 * (width + TILE_COPIES)
    if settings().memory < one:
        raise ValueError(
            f"memory={settings().memory} bytes is too small: a pair of rows of {X.shape[1]} "
            f"columns takes {one}; raise the budget with mercer.set_config(memory={one})."
        )
    workers = min(settings().workers(), settings().memory // one) if on_cpu else 1
    work = max(row_width(X), effort.work)
    if X.shape[0] * Y.shape[0] * work < WORTH_A_THREAD and not settings().block_rows:
        workers = 1
    affordable = tile_rows(settings().memory / (8 * workers), width, TILE_COPIES)
    wanted = settings().block_rows
    if wanted is None:
        wanted = CPU_TILE if on_cpu else DEVICE_TILE
        fewest = FEWEST_ROWS
        if effort.work:
            # Pairs are not products of matrices, and a single one may be a tile.
            most = math.isqrt((MOST_WORK if on_cpu else DEVICE_WORK) // effort.work)
            wanted, fewest = max(1, min(wanted, most)), 1
        if workers > 1:
            # Few rows make few tiles: smaller ones, so that every thread has some.
            share = -(-max(X.shape[0], Y.shape[0]) // (2 * workers))
            wanted = max(fewest, min(wanted, share))
    return Plan(max(1, min(wanted, affordable)), workers)


def tile_rows(numbers: float, width: int, copies: int) -> int:
    """Return the rows of a square tile of which some copies, and its rows, fill ``numbers``.

    Examples
    --------
    >>> tile_rows(1000, width=10, copies=2)
    20
    """
    return int((math.sqrt(width**2 + 4 * copies * numbers) - width) / (2 * copies))


def refuse_overflow(values: Any, dtype: str) -> None:
    """Raise an error if kernel values do not fit their dtype."""
    if all_finite(values):
        return
    remedy = " or pass X in float64" if dtype == "float32" else ""
    raise ValueError(
        f"Kernel values overflow {dtype}: scale X down, use a larger lengthscale or a smaller "
        f"gamma or degree{remedy}."
    )
