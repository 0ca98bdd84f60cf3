"""Rows on a cluster, block by block: sums over all of them, as one machine would add them up."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from ..._dask import is_dask
from ..._optional import require
from ..streams import Block
from .kinds import blocks_of, first_rows
from .run import computed, slots_here
from .tasks import Budget, Shared, Work, block_of, merged, n_rows_of

#: Sums that one task adds up: as few as keep the tree low, as each is as large as the result.
FAN_IN = 4


def on_cluster(X: Any) -> bool:
    """Return whether rows are a Dask collection, or blocks that were made of one.

    Examples
    --------
    >>> on_cluster(np.eye(2))
    False
    """
    return isinstance(X, Partitions) or is_dask(X)


class Partitions:
    """Blocks of rows that lie on a cluster, or in threads of this machine.

    A block is computed when it is needed, on the worker that needs it, and again in every pass;
    Dask keeps what was persisted. Blocks may be empty, and differ in length.

    Parameters
    ----------
    blocks : list of Delayed
        Each gives a :class:`~mercer.engine.streams.Block`.
    example : Block
        One row of the kind that the blocks hold, with its target if there are any.
    lengths : sequence of int or None
        Rows of the blocks, where they are known.
    counts : list of Delayed or None
        What gives the lengths faster than the blocks themselves.
    """

    blocks: list[Any]
    example: Block

    def __init__(
        self,
        blocks: list[Any],
        example: Block,
        lengths: Sequence[int] | None = None,
        counts: list[Any] | None = None,
    ) -> None:
        self.blocks, self.example = blocks, example
        self._lengths = None if lengths is None else tuple(int(length) for length in lengths)
        self._counts = counts
        self._columns: list[list[Any]] | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None) -> Partitions:
        """Return the blocks of a Dask array or data frame, or of delayed blocks.

        Parameters
        ----------
        X : Dask array or data frame, a list of delayed blocks, or Partitions
            The rows; delayed blocks may bring their targets, as (X, y) or (X, y, sample_weight).
        y, sample_weight : Dask array, series or frame, list of delayed blocks, or None
            Targets and weights, cut as X is.
        """
        if isinstance(X, cls):
            return X
        delayed = require("dask", "dask", "Learning on a cluster").delayed
        rows = blocks_of(X, "X")
        others: list[Any] = []
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            others.append(None if values is None else blocks_of(values, name, beside=rows))
        columns = [[None] * len(rows.blocks) if p is None else p.blocks for p in others]
        token = uuid4().hex
        blocks = [
            delayed(block_of, pure=False)(*block, dask_key_name=f"mercer-block-{token}-{number}")
            for number, block in enumerate(zip(rows.blocks, *columns, strict=True))
        ]
        example: Any = rows.example
        if example is None:
            found = _first_row(blocks)
            example = found if not isinstance(found.X, tuple) else block_of(*found.X)
        else:
            example = Block(example, *(None if p is None else p.example for p in others))
        if others[0] is not None and example.y is None:
            # Of strings and objects no example can be made up.
            example = example._replace(y=_first_row(blocks).y)
        made = cls(blocks, example, rows.lengths, rows.counts)
        made._columns = None if others[0] is None else columns
        return made

    def first(self, n_blocks: int) -> Partitions:
        """Return the first blocks alone."""
        lengths = None if self._lengths is None else self._lengths[:n_blocks]
        return Partitions(self.blocks[:n_blocks], self.example, lengths)

    def tried(self, function: Callable[[Block], Any]) -> Any:
        """Return what a function makes of the example, or of the first row if that is refused.

        A made-up row may have a category that was not there before, or no date.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return function(self.example)
            except ValueError:
                self.example = _first_row(self.blocks)
                return function(self.example)

    def without_rows(self) -> Partitions:
        """Return blocks of targets and weights, with the targets in place of the rows.

        Where these lie apart from the rows, these need not be read.
        """
        if self._columns is None:
            return self.mapped(_targets_alone, None, "targets")
        delayed = require("dask", "dask", "Learning on a cluster").delayed
        y, weights = self._columns
        blocks = [
            delayed(block_of, pure=False)(one, one, own)
            for one, own in zip(y, weights, strict=True)
        ]
        return Partitions(blocks, self.example._replace(X=self.example.y), self._lengths)

    def lengths(self) -> tuple[int, ...]:
        """Return how many rows the blocks have; where that is not known they are counted, once."""
        if self._lengths is None:
            delayed = require("dask", "dask", "Learning on a cluster").delayed
            token = uuid4().hex
            counts = self._counts or [
                delayed(_rows_in, pure=False)(block, dask_key_name=f"mercer-count-{token}-{number}")
                for number, block in enumerate(self.blocks)
            ]
            found = computed(delayed(list)(counts), "counting rows", len(counts), "mercer-count-")
            self._lengths = tuple(int(length) for length in found)
        return self._lengths

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return sum(self.lengths())

    def begins(self) -> list[int]:
        """Return how many rows stand before each of the blocks."""
        return [0, *itertools.accumulate(self.lengths())][:-1]

    def mapped(
        self,
        function: Callable[[Any, Block, Any], Block],
        shared: Any,
        label: str,
        *,
        keeps_rows: bool = True,
    ) -> Partitions:
        """Return blocks that a function makes of these, where they are, when they are needed.

        Parameters
        ----------
        function : callable
            Called as ``function(shared, block, None)``; changes neither.
        shared : object
            Travels to every worker once.
        label : str
            What the tasks are called, in letters and hyphens.
        keeps_rows : bool, default=True
            Whether a block has as many rows as before.
        """
        tasks = self._tasks(function, shared, label, [None] * len(self.blocks), "")
        blocks = [_or_before(task, block) for task, block in zip(tasks, self.blocks, strict=True)]
        example = self.tried(lambda row: function(shared, row, None))
        lengths, counts = (self._lengths, self._counts) if keeps_rows else (None, None)
        return Partitions(blocks, example, lengths, counts)

    def total(
        self,
        function: Callable[[Any, Block, Any], Any],
        shared: Any,
        label: str,
        starts: Sequence[Any] | None = None,
    ) -> Any:
        """Return the sum of what a function makes of the blocks, ``None`` if all are empty.

        The sums are added up on the workers, some at a time and in the order of the blocks: the
        result does not depend on how many workers there are, or which of them was lost.

        Parameters
        ----------
        function : callable
            Called as ``function(shared, block, start)``; changes none of them, and returns an
            object with a method ``merge``.
        shared : object
            Travels to every worker once.
        label : str
            What the tasks are called, in letters and hyphens.
        starts : sequence, default=None
            What the function is told of each block.
        """
        delayed = require("dask", "dask", "Learning on a cluster").delayed
        topic = f"mercer-{uuid4().hex}"
        given = [None] * len(self.blocks) if starts is None else list(starts)
        level, height = self._tasks(function, shared, label, given, topic), 0
        while len(level) > 1:
            height += 1
            level = [
                delayed(merged, pure=False)(
                    level[start : start + FAN_IN],
                    dask_key_name=f"mercer-merge-{label}-{topic[7:]}-{height}-{number}",
                )
                for number, start in enumerate(range(0, len(level), FAN_IN))
            ]
        words, prefix = label.replace("-", " "), f"mercer-{label}-"
        return computed(level[0], words, len(self.blocks), prefix, topic)

    def whole(self) -> Block:
        """Return all rows as one block, on this machine."""
        delayed = require("dask", "dask", "Learning on a cluster").delayed
        found = computed(
            delayed(list)(self.blocks), "bringing rows", len(self.blocks), "mercer-block-"
        )
        blocks = [block for block in found if n_rows_of(block.X)] or found[:1]
        columns = zip(*blocks, strict=True)
        return Block(*(_joined(list(column)) for column in columns))

    def _tasks(
        self,
        function: Callable[[Any, Block, Any], Any],
        shared: Any,
        label: str,
        starts: Sequence[Any],
        topic: str,
    ) -> list[Any]:
        """Return a task for each block."""
        delayed = require("dask", "dask", "Learning on a cluster").delayed
        token = uuid4().hex
        # One key each: a worker asks for it once, and finds it at another one.
        work = delayed(
            Work(function, Budget.here(slots_here(self.blocks[0])), topic),
            traverse=False,
            name=f"mercer-work-{token}",
        )
        shared = delayed(Shared(shared), traverse=False, name=f"mercer-shared-{token}")
        begins = [None] * len(starts) if self._lengths is None else self.begins()
        return [
            delayed(_run, pure=False)(
                work,
                shared,
                block,
                number,
                begin,
                Shared(start),
                dask_key_name=f"mercer-{label}-{token}-{number}",
            )
            for number, (block, begin, start) in enumerate(
                zip(self.blocks, begins, starts, strict=True)
            )
        ]


def _run(work: Work, shared: Shared, block: Block, number: int, begin: Any, start: Shared) -> Any:
    return work(shared, block, number, begin, start.value)


def _targets_alone(shared: None, block: Block, start: None) -> Block:
    return block._replace(X=block.y)


def _or_before(task: Any, block: Any) -> Any:
    """Return a block that was made, or the one before where that has no rows."""
    delayed = require("dask", "dask", "Learning on a cluster").delayed
    return delayed(_made_or, pure=False)(task, block)


def _made_or(made: Block | None, before: Block) -> Block:
    return before if made is None else made


def _rows_in(block: Block) -> int:
    return n_rows_of(block.X)


def _first_row(blocks: list[Any]) -> Block:
    """Return the first row there is, with what belongs to it."""
    delayed = require("dask", "dask", "Learning on a cluster").delayed
    for block in blocks:
        found: Block = computed(delayed(first_rows, pure=False)(block), "first row", 1, "mercer-")
        if n_rows_of(found.X):
            return found
    raise ValueError("All blocks of X are empty: at least one row is needed.")


def _joined(parts: list[Any]) -> Any:
    """Return rows, targets or weights of several blocks as one."""
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    root = type(parts[0]).__module__.partition(".")[0]
    if root == "pandas":
        return require("pandas", "dask", "Bringing rows together").concat(parts, ignore_index=True)
    if hasattr(parts[0], "tocsr"):
        import scipy.sparse

        return scipy.sparse.csr_array(scipy.sparse.vstack(parts))
    return np.concatenate(parts)
