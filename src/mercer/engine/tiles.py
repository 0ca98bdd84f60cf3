"""Who loops over pairs of rows: a kernel of two blocks becomes a matrix, or a product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import as_floating, floating_name, is_numpy
from .blocks import FEWEST_ROWS, cut, take
from .config import settings
from .memory import allocate
from .threads import run_tasks

#: Rows and columns of a tile: 2 MiB in float64, two of which share the cache with their rows.
CPU_TILE = 512
DEVICE_TILE = 8192
#: Tiles in flight at once on a thread: inner products, the result, and the temporaries of a
#: formula; measured at most five in float64, for a sum of kernels.
TILE_COPIES = 8

#: Called as ``tile(X, Y, out=None)`` on float64 blocks.
Tile = Callable[..., Any]


def pairwise(tile: Tile, X: Any, Y: Any) -> Any:
    """Return the matrix of ``tile`` over all pairs of rows; only half of it if ``Y`` is ``None``.

    Blocks are handed over in float64 whatever the input: a float32 inner product of two
    almost equal rows has lost the digits that their distance and angle are made of. The
    result has the input's floating dtype.
    """
    symmetric = Y is None
    other = X if symmetric else Y
    dtype = _common(X, other)
    out = allocate(X, (X.shape[0], other.shape[0]), dtype)
    on_cpu = is_numpy(X)
    size = tile_size(X, other)
    tasks = [
        (rows, columns)
        for rows in cut(X.shape[0], size)
        for columns in cut(other.shape[0], size)
        if not symmetric or rows[0] <= columns[0]
    ]
    name = "X" if symmetric else "Y"

    def work(task: tuple[tuple[int, int], tuple[int, int]]) -> None:
        rows, columns = task
        left = take(X, *rows, "float64")
        right = left if symmetric and rows == columns else take(other, *columns, "float64", name)
        target = out[rows[0] : rows[1], columns[0] : columns[1]]
        result = tile(left, right, out=target if on_cpu else None)
        if not on_cpu:
            result = as_floating(result, dtype)
            out[rows[0] : rows[1], columns[0] : columns[1]] = result
        elif result is not target:
            target[...] = result
        if symmetric and rows != columns:
            mirrored = target if on_cpu else result
            out[columns[0] : columns[1], rows[0] : rows[1]] = mirrored.T

    _run(work, tasks, on_cpu, "kernel")
    return out


def pairwise_matvec(tile: Tile, X: Any, Y: Any, vectors: Any) -> Any:
    """Return the product of the matrix of ``tile`` with ``vectors``, a tile at a time."""
    dtype = _common(X, Y)
    out = allocate(X, (X.shape[0], vectors.shape[1]), dtype)
    on_cpu = is_numpy(X)
    size = tile_size(X, Y)
    weights = as_floating(vectors, "float64")

    def work(rows: tuple[int, int]) -> None:
        left = take(X, *rows, "float64")
        total: Any = 0.0
        for start, stop in cut(Y.shape[0], size):
            right = take(Y, start, stop, "float64", "Y")
            shape = (left.shape[0], right.shape[0])
            values = tile(left, right, out=np.empty(shape, dtype) if on_cpu else None)
            # The sum runs in float64, where a million small terms do not eat each other.
            total = total + as_floating(values, "float64") @ weights[start:stop, :]
        out[rows[0] : rows[1], :] = as_floating(total, dtype)

    _run(work, cut(X.shape[0], size), on_cpu, "kernel product")
    return out


def tile_size(X: Any, Y: Any) -> int:
    """Return the rows of a square tile that fits the budget."""
    on_cpu = is_numpy(X)
    workers = settings().workers() if on_cpu else 1
    budget = settings().memory / (8 * workers)
    # size² entries, TILE_COPIES times, and four blocks of rows (both sides, as given and scaled).
    width = 4 * X.shape[1]
    affordable = int((np.sqrt(width**2 + 4 * TILE_COPIES * budget) - width) / (2 * TILE_COPIES))
    if affordable < 1:
        raise ValueError(
            f"memory={settings().memory} bytes is too small for rows of {X.shape[1]} columns on "
            f"{workers} thread(s); raise it with mercer.config(memory=...) or use fewer threads."
        )
    wanted = settings().block_rows
    if wanted is None:
        wanted = CPU_TILE if on_cpu else DEVICE_TILE
        if on_cpu:
            # Few rows make few tiles: smaller ones, so that every thread has some.
            share = -(-max(X.shape[0], Y.shape[0]) // (2 * workers))
            wanted = max(FEWEST_ROWS, min(wanted, share))
    return min(wanted, affordable)


def _run(work: Callable[[Any], None], tasks: list[Any], on_cpu: bool, label: str) -> None:
    if on_cpu:
        run_tasks(work, tasks, lambda task: 1, label)
    else:
        for task in tasks:
            work(task)


def _common(X: Any, Y: Any) -> str:
    """Return the floating dtype of a result of ``X`` and ``Y``: float64 if either is."""
    return "float64" if "float64" in (floating_name(X), floating_name(Y)) else "float32"
