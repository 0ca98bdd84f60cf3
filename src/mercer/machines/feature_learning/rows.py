"""Rows with their targets and weights, checked, dense, and where they are learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..._array import as_floating, beside, floating_name, is_numpy, moved, to_numpy
from ..._random import Stream, skip_doubles
from ..._sklearn import check_rows
from ...engine.blocks import take
from ...engine.streams import (
    LOOK_ENTRIES,
    Block,
    as_weights,
    device_rows,
    learning_rows,
    rows_at,
    rows_between,
)
from ...ops.products import dense
from ..device_rows import learns_on_device, sent_blocks
from ..targets import Targets


class Rows(NamedTuple):
    """Rows with expanded targets, and their weights.

    ``weights`` are those that the machine learns with, class weights included; ``counts`` are
    the sample weights alone, by which it is scored. ``None`` means one each. As they are checked
    the weights are on the host, which picks rows; as they are learnt all are beside ``X``.
    """

    X: Any
    Y: Any
    weights: Any = None
    counts: Any = None

    def pieces(self, size: int) -> Iterator[Rows]:
        """Yield at most ``size`` rows at a time."""
        for start in range(0, self.X.shape[0], size):
            stop = min(start + size, self.X.shape[0])
            yield Rows(
                rows_between(self.X, start, stop),
                rows_between(self.Y, start, stop),
                None if self.weights is None else self.weights[start:stop],
                None if self.counts is None else self.counts[start:stop],
            )

    def picked(self, chosen: np.ndarray) -> Rows:
        """Return the rows of some places."""
        return Rows(
            rows_at(self.X, chosen),
            rows_at(self.Y, chosen),
            None if self.weights is None else self.weights[chosen],
            None if self.counts is None else self.counts[chosen],
        )

    def with_weight(self) -> Rows:
        """Return the rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.picked(np.flatnonzero(self.weights > 0))


#: Called for a new iterator over blocks of checked rows.
BlockSource = Callable[[], Iterator[Rows]]


@dataclass(frozen=True)
class Drawn:
    """Which rows are held out: each row draws a number, in order, however they are cut.

    Attributes
    ----------
    share : float
        The share that is held out.
    stream : Stream
        Where numbers come from.
    held_out : bool
        Whether these rows are wanted, or the others.
    """

    share: float
    stream: Stream
    held_out: bool

    def of(self, blocks: Iterable[Rows], n_above: int = 0) -> Iterator[Rows]:
        """Yield the rows of some blocks, that stand below so many other rows."""
        generator = self.stream.generator()
        skip_doubles(generator, n_above)
        for block in blocks:
            for piece in block.pieces(max(1, LOOK_ENTRIES // block.X.shape[1])):
                chosen = (generator.random(piece.Y.shape[0]) < self.share) == self.held_out
                if chosen.any():
                    yield piece.picked(np.flatnonzero(chosen))


def checked_block(block: Block, owner: Any, targets: Targets, first: bool, streaming: bool) -> Rows:
    """Return a block checked, with expanded targets and its weights.

    Parameters
    ----------
    block : Block
        Rows, targets and sample weights.
    owner : estimator
        Whose columns the rows must have.
    targets : Targets
        What is known of the targets.
    first : bool
        Whether columns and targets are new, and not to be compared with those before.
    streaming : bool
        Whether more rows may follow.
    """
    X = check_rows(block.X, owner=owner, reset=first)
    checked = targets.check(block.y, X.shape[0], beside=X)
    if first:
        targets.observe(checked)
    encoded = targets.encode(checked, beside=X)
    counts = as_weights(block.weights, X.shape[0])
    weights = targets.weights(encoded, counts, whole=not streaming)
    Y = as_floating(targets.expand(encoded), "float64")
    return Rows(X, Y, None if weights is None else moved(weights), counts)


def dense_rows(blocks: Iterable[Rows], width: int, check: bool = True) -> Iterator[Rows]:
    """Yield the rows that have weight, dense and floating, in blocks for ``width`` numbers each."""
    for block in blocks:
        numbers = width + block.X.shape[1]
        # A device wants large blocks: what each of them costs does not depend on its size.
        large = learns_on_device(block.X)
        size = device_rows(numbers, 8, block.X) if large else learning_rows(numbers, 8)
        for piece in block.pieces(size):
            kept = piece.with_weight()
            if kept.Y.shape[0]:
                yield kept._replace(X=dense_block(kept.X, check=check))


def where_learnt(blocks: Iterator[Rows]) -> Iterator[Rows]:
    """Yield blocks on the device where they are learnt, weights and all.

    That is where their rows are, but for rows on the host if ``mercer.config`` names a device.
    """
    first = next(blocks, None)
    if first is None:
        return
    blocks = chain([first], blocks)
    if is_numpy(first.X):
        yield from (Rows(*block) for block in sent_blocks(blocks, None))
        return
    for block in blocks:
        weights, counts = (
            None if given is None else beside(block.X, given)
            for given in (block.weights, block.counts)
        )
        yield block._replace(weights=weights, counts=counts)


def size_of(blocks: Iterable[Rows]) -> tuple[int, float]:
    """Return how many rows of blocks have weight, and their weight.

    Examples
    --------
    >>> size_of([Rows(np.eye(2), np.ones((2, 1))), Rows(np.eye(2), np.ones((2, 1)), np.eye(2)[0])])
    (3, 3.0)
    """
    n_rows, weight = 0, 0.0
    for block in blocks:
        own = block.weights
        n_rows += block.Y.shape[0] if own is None else int((own > 0).sum())
        weight += block.Y.shape[0] if own is None else float(own.sum())
    return n_rows, weight


def known(block: Rows) -> BlockSource:
    """Return a source of one block.

    Examples
    --------
    >>> len(list(known(Rows(np.eye(2), np.ones((2, 1))))()))
    1
    """
    return lambda: iter([block])


def where_computed(X: Any, size: int) -> Iterator[Any]:
    """Yield rows to predict for, dense and floating, in blocks where they are computed."""
    pieces = Rows(X, np.empty((X.shape[0], 0))).pieces(size)
    dense_pieces = (piece._replace(X=dense_block(piece.X)) for piece in pieces)
    for block in where_learnt(dense_pieces):
        yield block.X


def where_given(X: Any, found: Any) -> Any:
    """Return what was computed for rows: on the host if that is where they are."""
    return to_numpy(found) if is_numpy(X) else found


def dense_block(X: Any, *, check: bool = True) -> Any:
    """Return a block of rows as a dense array of floats, where it is.

    With ``check=False`` the rows are known to be finite: they were read before.

    Examples
    --------
    >>> dense_block(np.asarray([[1]], dtype="int8"))
    array([[1.]], dtype=float32)
    """
    return dense(take(X, 0, X.shape[0], floating_name(X), check=check))
