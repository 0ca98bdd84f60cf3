"""Rows with targets, standardised, as often as a machine asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..._array import (
    as_floating,
    beside,
    floating_name,
    is_numpy,
    joined_rows,
    like,
    ones_for_rows,
    to_numpy,
)
from ..._random import Stream
from ..._registry import storable
from ...engine.blocks import take
from ...engine.moments import ColumnMoments
from ...engine.sample import RowSample
from ...engine.streams import LOOK_ENTRIES, device_rows, learning_rows, rows_at, rows_between
from ...ops.products import dense
from ..device_rows import learns_on_device, sent_blocks


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


@storable
class Scales:
    """Means and standard deviations of columns and targets.

    Parameters
    ----------
    columns, targets : ColumnMoments
        Of the rows and of their targets.
    standardize : bool
        Whether columns are scaled; targets always are.

    Examples
    --------
    >>> columns, targets = ColumnMoments(), ColumnMoments()
    >>> columns.add(np.asarray([[1.0], [3.0]]))
    >>> targets.add(np.asarray([[0.0], [4.0]]))
    >>> Scales(columns, targets, True).rows(np.asarray([[3.0]]))
    array([[1.]])
    """

    def __init__(self, columns: ColumnMoments, targets: ColumnMoments, standardize: bool) -> None:
        deviation = columns.deviation()
        ones, zeros = np.ones_like(deviation), np.zeros_like(deviation)
        self.center = columns.mean if standardize else zeros
        self.scale = np.where(deviation > 0, deviation, 1.0) if standardize else ones
        #: Standard deviations of the columns once scaled.
        self.deviation = deviation / self.scale
        #: What a typical row is, far from the origin or not.
        shift = (columns.mean - self.center) / self.scale
        self.typical = np.sqrt(self.deviation**2 + shift**2)
        self.target_center = targets.mean
        deviation = targets.deviation()
        self.n_varying = int(np.sum(deviation > 0))
        self.target_scale = np.where(deviation > 0, deviation, 1.0)

    def keep_columns(self, other: Scales) -> None:
        """Scale columns as others do."""
        for name in ("center", "scale", "deviation", "typical"):
            setattr(self, name, getattr(other, name))

    def rows(self, X: Any) -> Any:
        """Return rows of mean 0 and standard deviation 1."""
        return (X - like(X, self.center)) / like(X, self.scale)

    def targets(self, Y: Any) -> Any:
        """Return targets of mean 0 and standard deviation 1."""
        return (Y - like(Y, self.target_center)) / like(Y, self.target_scale)

    def original(self, predicted: Any) -> Any:
        """Return predictions in the unit of the targets."""
        return predicted * like(predicted, self.target_scale) + like(predicted, self.target_center)


class Standardized:
    """Rows, targets and weights in blocks of any size, again and again.

    Parameters
    ----------
    source : callable
        Called for a new iterator over blocks of checked rows.
    scales : Scales
        How to standardise them.
    n_rows, weight : int, float
        How many rows have weight, and their weight.
    check : bool, default=False
        Whether the rows have not been read before, and may not be finite.
    """

    def __init__(
        self,
        source: BlockSource,
        scales: Scales,
        n_rows: int,
        weight: float,
        *,
        check: bool = False,
    ) -> None:
        self._source, self._scales, self._check = source, scales, check
        self.n_rows, self.weight = n_rows, weight

    def parts(self, share: float, stream: Stream) -> tuple[Standardized, Standardized]:
        """Return most of the rows, and a share of them that is held out.

        Each row draws a number, in order: however they are cut into blocks, the same are held out.
        """

        def part(held_out: bool) -> Iterator[Rows]:
            generator = stream.generator()
            for block in self._source():
                for piece in block.pieces(max(1, LOOK_ENTRIES // block.X.shape[1])):
                    chosen = (generator.random(piece.Y.shape[0]) < share) == held_out
                    if chosen.any():
                        yield piece.picked(np.flatnonzero(chosen))

        def made(held_out: bool) -> Standardized:
            size = size_of(part(held_out))
            return Standardized(lambda: part(held_out), self._scales, *size)

        return made(False), made(True)

    def variance(self) -> float:
        """Return the variance of all targets, once standardised."""
        return float(max(self._scales.n_varying, 1))

    def blocks(self, width: int) -> Iterator[Rows]:
        """Yield blocks whose features, ``width`` numbers a row, are a handful."""
        for block in _where_learnt(_dense(self._source(), width, self._check)):
            yield block._replace(X=self._scales.rows(block.X), Y=self._scales.targets(block.Y))

    def place(self) -> Any:
        """Return a row where rows are learnt."""
        return next(self.blocks(1)).X[:1, :]

    def whole(self) -> Rows:
        """Return all rows as one block, in float64."""
        parts = list(self.blocks(1))
        X = as_floating(joined_rows([part.X for part in parts]), "float64")
        Y = joined_rows([part.Y for part in parts])
        weights = _joined([part.weights for part in parts], parts)
        return Rows(X, Y, weights, _joined([part.counts for part in parts], parts))


def _joined(given: list[Any], parts: list[Rows]) -> Any:
    """Return weights of all parts, one each where a part has none; ``None`` if all have none."""
    if all(weights is None for weights in given):
        return None
    pairs = zip(given, parts, strict=True)
    return joined_rows([ones_for_rows(part.X) if w is None else w for w, part in pairs])


def _dense(blocks: Iterable[Rows], width: int, check: bool = True) -> Iterator[Rows]:
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


def _where_learnt(blocks: Iterator[Rows]) -> Iterator[Rows]:
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


def scales_of(
    blocks: Iterable[Rows], standardize: bool, sample: RowSample
) -> tuple[Scales, int, float]:
    """Return the scales of blocks of rows, how many rows have weight, and their weight.

    Parameters
    ----------
    blocks : iterable of Rows
        The rows.
    standardize : bool
        Whether columns are to be scaled.
    sample : RowSample
        Gets the rows that have weight.

    Examples
    --------
    >>> scales_of([Rows(np.eye(2), np.ones((2, 1)))], True, RowSample(1))[1]
    2
    """
    columns, targets, n_rows = ColumnMoments(), ColumnMoments(), 0
    for kept in _dense(blocks, 0):
        columns.add(as_floating(kept.X, "float64"), kept.weights)
        targets.add(kept.Y, kept.weights)
        sample.add(kept.X)
        n_rows += kept.X.shape[0]
    if not n_rows:
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive."
        )
    return Scales(columns, targets, standardize), n_rows, float(np.max(columns.weight))


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


def standardized_batches(
    first: Standardized, source: Iterator[Rows], scales: Scales
) -> Iterator[Standardized]:
    """Yield the rows of every iteration, the first of which are standardised already.

    Parameters
    ----------
    first : Standardized
        The rows of the first iteration.
    source : iterator of Rows
        Those of the others.
    scales : Scales
        How to standardise them.
    """
    yield first
    for block in source:
        yield Standardized(known(block), scales, *size_of([block]), check=True)


def where_computed(X: Any, size: int) -> Iterator[Any]:
    """Yield rows to predict for, dense and floating, in blocks where they are computed."""
    pieces = Rows(X, np.empty((X.shape[0], 0))).pieces(size)
    dense_pieces = (piece._replace(X=dense_block(piece.X)) for piece in pieces)
    for block in _where_learnt(dense_pieces):
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
