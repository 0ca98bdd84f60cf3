"""Transforms and predictions of Dask's collections, computed when they are asked for."""

from __future__ import annotations

import math
import warnings
from typing import Any
from uuid import uuid4

import numpy as np

from ..._frame import is_frame
from ..._optional import require
from ..streams import Block
from .kinds import example_rows
from .partitions import Partitions
from .run import slots_here
from .tasks import Budget, Shared, block_of, n_rows_of, named


class _Answer:
    """A method of an estimator with its further arguments, for one block after the other."""

    def __init__(self, owner: Any, method: str, parameters: dict[str, Any]) -> None:
        self._owner, self._method, self._parameters = owner, method, parameters
        #: What an answer is like, one row of it.
        self.like: Any = None

    def __call__(self, X: Any) -> Any:
        """Return the answer for a block; several arrays as one, behind each other."""
        return self.with_number(X)[0]

    def with_number(self, X: Any) -> tuple[Any, bool]:
        """Return the answer for a block, and whether it has several arrays."""
        found = getattr(self._owner, self._method)(X, **self._parameters)
        several = isinstance(found, tuple)
        return (np.stack(found, axis=-1) if several else found), several

    def tried(self, X: Any) -> tuple[Any, bool]:
        """Return the same for a row that is made up: what is strange about it tells nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, several = self.with_number(X)
        if is_frame(found):
            raise TypeError(
                f"set_output asks {type(self._owner).__name__} for data frames, but on a cluster "
                "it gives Dask arrays; use set_output(transform='default')."
            )
        return found, several

    def tried_block(self, block: Block) -> tuple[Any, bool]:
        """Return the same for the rows of a block."""
        return self.tried(block.X)

    @property
    def label(self) -> str:
        """What its tasks are called."""
        return self._method.replace("_", "-")


def answered(owner: Any, method: str, X: Any, **parameters: Any) -> Any:
    """Return what a method of a fitted estimator answers for rows on a cluster, not computed yet.

    It is a Dask array with a block for each block of rows, or several for a method that gives
    several arrays of one shape. The estimator travels to every worker once.

    Parameters
    ----------
    owner : estimator
        Must not change while answers are computed.
    method : str
        The name of the method; it gives an array with a row for each row.
    X : Dask array or data frame, list of delayed blocks, or Partitions
        The rows; of Partitions the answer is Partitions, too.
    **parameters
        Further arguments.
    """
    answer = _Answer(owner, method, parameters)
    if isinstance(X, Partitions):
        return X.mapped(_replaced, answer, answer.label)
    array = require("dask.array", "dask", "Answers for rows on a cluster")
    delayed = require("dask", "dask", "Answers for rows on a cluster").delayed
    made = example_rows(X) if hasattr(X, "ndim") else None
    parts = Partitions.of(X) if made is None or not hasattr(X, "chunks") else None
    try:
        like, several = answer.tried(made) if parts is None else parts.tried(answer.tried_block)
    except ValueError:
        # Made-up rows are refused; real ones will do.
        like, several = Partitions.of(X).tried(answer.tried_block)
    answer.like = like
    budget = Budget.here(slots_here(_some_block(X)))
    label = f"mercer-{type(owner).__name__.lower()}-{answer.label}"
    shared = delayed(Shared((answer, budget)), traverse=False, name=f"{label}-map-{uuid4().hex}")
    if hasattr(X, "chunks"):
        rows = X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        result = rows.map_blocks(
            _answered,
            shared,
            dtype=like.dtype,
            chunks=(rows.chunks[0], *((length,) for length in like.shape[1:])),
            drop_axis=[1],
            new_axis=list(range(1, like.ndim)) or None,
            meta=like[:0],
            name=f"{label}-{uuid4().hex}",
        )
    else:
        tasks = [
            delayed(_of_block, pure=False)(
                block, shared, number, dask_key_name=f"{label}-{uuid4().hex}-{number}"
            )
            for number, block in enumerate(parts.blocks if parts else [])
        ]
        shape = (math.nan, *like.shape[1:])
        result = array.concatenate(
            [array.from_delayed(task, shape, dtype=like.dtype, meta=like[:0]) for task in tasks],
            allow_unknown_chunksizes=True,
        )
    if not several:
        return result
    return tuple(result[..., place] for place in range(like.shape[-1]))


def _replaced(answer: _Answer, block: Block, start: None) -> Block:
    """Return a block whose rows are the answers for them."""
    return block._replace(X=answer(block.X))


def _some_block(X: Any) -> Any:
    """Return something that is computed where the blocks are."""
    return X[0] if isinstance(X, list) else X


def _answered(X: Any, shared: Shared, block_info: Any = None) -> Any:
    """Return the answer for a block of an array."""
    place = (block_info or {}).get(0) or {}
    start = place.get("array-location", [(None,)])[0][0]
    known = isinstance(start, (int, np.integer))
    number = int(place.get("chunk-location", (0,))[0])
    return _answer_for(X, shared, number, int(start) if known else None)


def _of_block(block: Any, shared: Shared, number: int) -> Any:
    """Return the answer for a delayed block, with or without targets."""
    return _answer_for(block_of(block).X, shared, number, None)


def _answer_for(X: Any, shared: Shared, number: int, n_before: int | None) -> Any:
    answer, budget = shared.value
    if not n_rows_of(X):
        return np.empty((0, *answer.like.shape[1:]), dtype=answer.like.dtype)
    with budget.in_force(), named(number, n_before):
        return answer(X)
