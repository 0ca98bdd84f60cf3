"""Transforms and predictions of Dask's collections, computed when they are asked for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from ..._dask import is_dask
from ..._optional import require
from ..streams import Block
from .kinds import blocks_of, example_rows, first_rows
from .partitions import Partitions
from .run import slots_here
from .tasks import Budget, Shared, block_of, n_rows_of, named

Method = TypeVar("Method", bound=Callable[..., Any])


def on_blocks(method: Method) -> Method:
    """Let a method of a fitted estimator take Dask's collections too, and answer lazily.

    The answer is a Dask array with a block for each block of rows. The estimator travels to every
    worker once.

    Parameters
    ----------
    method : callable
        Called as ``method(self, X, ...)``; gives an array with a row for each row of ``X``, or
        several of one shape.

    Examples
    --------
    >>> class Twice:
    ...     @on_blocks
    ...     def transform(self, X):
    ...         return 2 * X
    >>> Twice().transform(np.eye(1))
    array([[2.]])
    """

    @wraps(method)
    def taking_blocks(self: Any, X: Any, *args: Any, **parameters: Any) -> Any:
        if isinstance(X, Partitions):
            return X.mapped(_replaced, _Answer(method, self, args, parameters), _label(method))
        if is_dask(X):
            return lazily(method, self, X, *args, **parameters)
        return method(self, X, *args, **parameters)

    return taking_blocks  # type: ignore[return-value]


class _Answer:
    """A method of an estimator with its further arguments, for one block after the other."""

    def __init__(self, method: Callable[..., Any], owner: Any, args: Any, parameters: Any) -> None:
        self._call = method, owner, args, parameters
        #: What an answer is like, one row of it.
        self.like: Any = None

    def __call__(self, X: Any) -> np.ndarray:
        """Return the answer for a block; several arrays as one, behind each other."""
        method, owner, args, parameters = self._call
        found = method(owner, X, *args, **parameters)
        return np.stack(found, axis=-1) if isinstance(found, tuple) else found

    def is_several(self, X: Any) -> bool:
        """Return whether the answer has several arrays."""
        method, owner, args, parameters = self._call
        return isinstance(method(owner, X, *args, **parameters), tuple)


def lazily(method: Callable[..., Any], owner: Any, X: Any, *args: Any, **parameters: Any) -> Any:
    """Return what a method of a fitted estimator answers, as a Dask array that is not computed yet.

    Parameters
    ----------
    method : callable
        The method, not bound.
    owner : estimator
        Must not change while answers are computed.
    X : Dask array, data frame, or list of delayed blocks
        The rows.
    *args, **parameters
        Further arguments.
    """
    array = require("dask.array", "dask", "Answers for rows on a cluster")
    delayed = require("dask", "dask", "Answers for rows on a cluster").delayed
    answer = _Answer(method, owner, args, parameters)
    row = _example(X)
    try:
        with warnings.catch_warnings():
            # The row is made up: that its categories are unknown tells nothing.
            warnings.simplefilter("ignore")
            answer.like, several = answer(row), answer.is_several(row)
    except ValueError:
        # A category, or a string that should be a date, of which no example can be made up.
        row = first_rows(Partitions.of(X).whole()).X
        answer.like, several = answer(row), answer.is_several(row)
    like = answer.like
    budget = Budget.here(slots_here(_some_block(X)))
    label = f"mercer-{type(owner).__name__.lower()}-{_label(method)}"
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
            for number, block in enumerate(blocks_of(X, "X").blocks)
        ]
        shape = (math.nan, *like.shape[1:])
        result = array.concatenate(
            [array.from_delayed(task, shape, dtype=like.dtype, meta=like[:0]) for task in tasks],
            allow_unknown_chunksizes=True,
        )
    if not several:
        return result
    return tuple(result[..., place] for place in range(like.shape[-1]))


def _label(method: Callable[..., Any]) -> str:
    """Return what the tasks of a method are called."""
    return method.__name__.replace("_", "-")


def _replaced(answer: _Answer, block: Block, start: None) -> Block:
    """Return a block whose rows are the answers for them."""
    return block._replace(X=answer(block.X))


def _some_block(X: Any) -> Any:
    """Return something that is computed where the blocks are."""
    return X[0] if isinstance(X, list) else X


def _example(X: Any) -> Any:
    """Return a row of the kind of the blocks."""
    found = None if isinstance(X, list) or not hasattr(X, "ndim") else example_rows(X)
    return Partitions.of(X).example.X if found is None else found


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
