"""Rows with targets, standardised, as often as a machine asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._array import floating_name, to_numpy
from ..._random import Stream
from ..._registry import storable
from ...engine.blocks import take
from ...engine.moments import ColumnMoments
from ...engine.sample import RowSample, rows_of
from ...engine.streams import LOOK_ENTRIES, learning_rows, rows_between
from ...ops.products import dense


class Rows(NamedTuple):
    """Rows with expanded targets, and their weights.

    ``weights`` are those that the machine learns with, class weights included; ``counts`` are
    the sample weights alone, by which it is scored. ``None`` means one each.
    """

    X: Any
    Y: np.ndarray
    weights: np.ndarray | None = None
    counts: np.ndarray | None = None

    def pieces(self, size: int) -> Iterator[Rows]:
        """Yield at most ``size`` rows at a time."""
        for start in range(0, self.X.shape[0], size):
            stop = min(start + size, self.X.shape[0])
            yield Rows(
                rows_between(self.X, start, stop),
                self.Y[start:stop],
                None if self.weights is None else self.weights[start:stop],
                None if self.counts is None else self.counts[start:stop],
            )

    def picked(self, chosen: np.ndarray) -> Rows:
        """Return the rows of some places."""
        return Rows(
            rows_of(self.X, chosen),
            self.Y[chosen],
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

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return rows of mean 0 and standard deviation 1."""
        return np.asarray((X - self.center.astype(X.dtype)) / self.scale.astype(X.dtype))

    def targets(self, Y: np.ndarray) -> np.ndarray:
        """Return targets of mean 0 and standard deviation 1."""
        return np.asarray((Y - self.target_center) / self.target_scale)

    def original(self, predicted: np.ndarray) -> np.ndarray:
        """Return predictions in the unit of the targets."""
        return np.asarray(predicted * self.target_scale + self.target_center)


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
                    chosen = (generator.random(len(piece.Y)) < share) == held_out
                    if chosen.any():
                        yield piece.picked(chosen.nonzero()[0])

        def made(held_out: bool) -> Standardized:
            size = size_of(part(held_out))
            return Standardized(lambda: part(held_out), self._scales, *size)

        return made(False), made(True)

    def variance(self) -> float:
        """Return the variance of all targets, once standardised."""
        return float(max(self._scales.n_varying, 1))

    def blocks(self, width: int) -> Iterator[Rows]:
        """Yield blocks whose features, ``width`` numbers a row, are a handful."""
        for block in self._source():
            for piece in block.pieces(learning_rows(width + block.X.shape[1], 8)):
                kept = piece.with_weight()
                if len(kept.Y):
                    X = self._scales.rows(dense_block(kept.X, check=self._check))
                    yield kept._replace(X=X, Y=self._scales.targets(kept.Y))

    def whole(self) -> Rows:
        """Return all rows as one block, in float64."""
        parts = list(self.blocks(1))
        X = np.concatenate([part.X for part in parts]).astype(float, copy=False)
        Y = np.concatenate([part.Y for part in parts])
        weights = _joined([part.weights for part in parts], parts)
        return Rows(X, Y, weights, _joined([part.counts for part in parts], parts))


def _joined(given: list[np.ndarray | None], parts: list[Rows]) -> np.ndarray | None:
    """Return weights of all parts, one each where a part has none; ``None`` if all have none."""
    if all(weights is None for weights in given):
        return None
    pairs = zip(given, parts, strict=True)
    return np.concatenate([np.ones(len(p.Y)) if w is None else w for w, p in pairs])


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
    for block in blocks:
        for piece in block.pieces(learning_rows(block.X.shape[1], 8)):
            kept = piece.with_weight()
            if not len(kept.Y):
                continue
            rows = dense_block(kept.X)
            columns.add(rows.astype(float), kept.weights)
            targets.add(kept.Y, kept.weights)
            sample.add(rows)
            n_rows += len(rows)
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
        n_rows += len(block.Y) if own is None else int((own > 0).sum())
        weight += len(block.Y) if own is None else float(own.sum())
    return n_rows, weight


def dense_block(X: Any, *, check: bool = True) -> np.ndarray:
    """Return a block of rows of any library as a dense NumPy array of floats.

    With ``check=False`` the rows are known to be finite: they were read before.

    Examples
    --------
    >>> dense_block(np.asarray([[1]], dtype="int8"))
    array([[1.]], dtype=float32)
    """
    return to_numpy(dense(take(X, 0, X.shape[0], floating_name(X), check=check)))
