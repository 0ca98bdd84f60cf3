"""What Dask's collections are made of: blocks, their lengths, and a row as an example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import scipy.sparse

from ..._array import is_sparse
from ..._dask import is_dask_object
from ..._optional import require
from ..streams import Block, rows_between
from .tasks import n_rows_of


@dataclass(frozen=True)
class Blocks:
    """The blocks of a collection.

    Attributes
    ----------
    blocks : list of Delayed
        One for each block of rows.
    lengths : sequence of int or None
        Their rows, where these are known.
    counts : list of Delayed or None
        What gives their rows, where that is faster than the blocks.
    example : object
        A row of their kind; ``None`` where only a block can tell.
    """

    blocks: list[Any]
    lengths: Sequence[int] | None
    counts: list[Any] | None
    example: Any


def blocks_of(values: Any, name: str, beside: Blocks | None = None) -> Blocks:
    """Return the blocks of a collection, or say why it has none.

    Parameters
    ----------
    values : Dask array, data frame or series, or list of delayed blocks
        The collection.
    name : str
        What to call it in errors.
    beside : Blocks, default=None
        Those of the rows, which it must be cut as.
    """
    if isinstance(values, list):
        found = _of_list(values)
    elif not is_dask_object(values):
        raise TypeError(
            f"X is a Dask collection, so that {name} must be one too, but got a "
            f"{type(values).__name__}; make it one, for example with "
            f"dask.array.from_array({name}, chunks=X.chunks[0])."
        )
    elif hasattr(values, "npartitions") and hasattr(values, "map_partitions"):
        found = _of_frame(values)
    elif hasattr(values, "chunks"):
        found = _of_array(values, name, beside)
    elif hasattr(values, "key"):
        found = _of_list([values])
    else:
        raise TypeError(
            f"{name} is a {type(values).__name__}; Dask arrays, data frames and delayed blocks "
            "are supported."
        )
    if not found.blocks:
        raise ValueError(f"{name} has no blocks: at least one row is needed.")
    if beside is not None and len(found.blocks) != len(beside.blocks):
        raise ValueError(
            f"X has {len(beside.blocks)} blocks, but {name} has {len(found.blocks)}: cut both "
            f"alike, for example with {name}.rechunk(X.chunks[0]), or take both from one data "
            "frame."
        )
    return found


def _of_array(values: Any, name: str, beside: Blocks | None) -> Blocks:
    if values.ndim not in (1, 2) or (beside is None and values.ndim != 2):
        raise ValueError(
            f"{name} must have a row for each sample, but its shape is {values.shape}."
        )
    if values.ndim == 2 and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    rows = values.chunks[0]
    known = not any(math.isnan(length) for length in rows)
    wanted = None if beside is None else beside.lengths
    if known and wanted is not None and tuple(rows) != tuple(wanted):
        if sum(rows) != sum(wanted):
            raise ValueError(
                f"X and {name} have inconsistent numbers of samples: X has {sum(wanted)} rows, "
                f"{name} has {sum(rows)}; give one for each row."
            )
        values, rows = values.rechunk({0: tuple(wanted)}), wanted
    return Blocks(
        list(values.to_delayed().ravel()), rows if known else None, None, example_rows(values)
    )


def _of_frame(values: Any) -> Blocks:
    narrow = values[[values.columns[0]]] if values.ndim == 2 else values
    delayed = require("dask", "dask", "Learning on a cluster").delayed
    token = uuid4().hex
    counts = [
        delayed(n_rows_of, pure=False)(part, dask_key_name=f"mercer-count-{token}-{number}")
        for number, part in enumerate(_parts_of(narrow))
    ]
    return Blocks(_parts_of(values), None, counts, example_rows(values))


def _parts_of(values: Any) -> list[Any]:
    """Return the parts of a frame, of which only the columns are read that are wanted.

    The whole of Dask's optimisation would read several files at once where few columns are wanted:
    rows, targets and lengths would come in different parts.
    """
    return list(values.simplify().to_delayed(optimize_graph=False))


def _of_list(values: list[Any]) -> Blocks:
    delayed = require("dask", "dask", "Learning on a cluster").delayed
    blocks = [delayed(tuple)(list(item)) if isinstance(item, tuple) else item for item in values]
    if not all(is_dask_object(block) and hasattr(block, "key") for block in blocks):
        raise TypeError(
            "A list of blocks on a cluster must hold delayed values, or tuples of them, throughout."
        )
    return Blocks(blocks, None, None, None)


def example_rows(values: Any) -> Any:
    """Return a row of the kind that an array, frame or series holds, made up.

    Parameters
    ----------
    values : Dask array, data frame or series
        The collection.
    """
    if (
        hasattr(values, "map_partitions")
        and hasattr(values, "npartitions")
        and not hasattr(values, "chunks")
    ):
        dispatch = require("dask.dataframe.dispatch", "dask", "Learning on a cluster")
        made = require("dask.dataframe.utils", "dask", "Learning on a cluster")
        return made.meta_nonempty(dispatch.make_meta(values)).iloc[:1]
    meta = require("dask.array.utils", "dask", "Learning on a cluster").meta_from_array(values)
    shape = (1, *(int(length) for length in values.shape[1:]))
    if is_sparse(meta):
        return scipy.sparse.csr_array(shape, dtype=meta.dtype)
    if np.dtype(values.dtype).kind in "OUST":
        return None
    return np.zeros_like(meta, shape=shape, dtype=values.dtype)


def first_rows(block: Block) -> Block:
    """Return the first row of a block, with what belongs to it.

    Examples
    --------
    >>> first_rows(Block(np.eye(2), np.ones(2), None)).X
    array([[1., 0.]])
    """
    stop = min(1, n_rows_of(block.X))

    def some(values: Any) -> Any:
        if values is None:
            return None
        if hasattr(values, "iloc"):
            return values.iloc[:stop]
        return rows_between(values, 0, stop) if hasattr(values, "shape") else values[:stop]

    return Block(some(block.X), some(block.y), some(block.weights))
