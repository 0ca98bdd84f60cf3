"""Rows with targets, standardised, as often as a machine asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..._array import as_floating, joined_rows, like, namespace, ones_for_rows
from ..._random import Stream
from ..._registry import storable
from ...engine.moments import ColumnMoments
from ...engine.sample import RowSample
from .rows import BlockSource, Drawn, Rows, dense_rows, known, size_of, where_learnt


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
        self.center: np.ndarray = columns.mean if standardize else zeros
        self.scale: np.ndarray = np.where(deviation > 0, deviation, 1.0) if standardize else ones
        #: Standard deviations of the columns once scaled.
        self.deviation: np.ndarray = deviation / self.scale
        #: What a typical row is, far from the origin or not.
        shift = (columns.mean - self.center) / self.scale
        self.typical: np.ndarray = np.sqrt(self.deviation**2 + shift**2)
        self.target_center: np.ndarray = targets.mean
        deviation = targets.deviation()
        self.n_varying: int = int(np.sum(deviation > 0))
        self.target_scale: np.ndarray = np.where(deviation > 0, deviation, 1.0)

    def variance(self) -> float:
        """Return the variance of all targets, once scaled."""
        return float(max(self.n_varying, 1))

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


class Pass(Protocol):
    """A pass over rows: blocks are added to sums, which merge with those of rows below."""

    @property
    def label(self) -> str:
        """What it is called, in letters and hyphens."""
        ...

    @property
    def width(self) -> int:
        """Numbers that it makes of a row."""
        ...

    def begin(self, n_above: int) -> Any:
        """Return sums of no rows, that stand below others; they have a method ``merge``."""
        ...

    def add(self, sums: Any, block: Rows) -> None:
        """Add a block; nothing but the sums changes."""
        ...


class Data(Protocol):
    """Standardised rows to learn from, wherever they are."""

    n_rows: int
    weight: float

    def parts(self, share: float, stream: Stream) -> tuple[Data, Data]:
        """Return most of the rows, and a share of them that is held out."""
        ...

    def variance(self) -> float:
        """Return the variance of all targets, once standardised."""
        ...

    def total(self, work: Pass) -> Any:
        """Return the sums of a pass over all rows."""
        ...

    def place(self) -> Any:
        """Return a row where rows are learnt."""
        ...

    def whole(self) -> Rows:
        """Return all rows as one block, in float64."""
        ...


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

    n_rows: int
    weight: float

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
        self._place: Any = None

    def parts(self, share: float, stream: Stream) -> tuple[Standardized, Standardized]:
        """Return most of the rows, and a share of them that is held out."""

        def made(drawn: Drawn) -> Standardized:
            size = size_of(drawn.of(self._source()))
            return Standardized(lambda: drawn.of(self._source()), self._scales, *size)

        return made(Drawn(share, stream, False)), made(Drawn(share, stream, True))

    def variance(self) -> float:
        """Return the variance of all targets, once standardised."""
        return self._scales.variance()

    def blocks(self, width: int) -> Iterator[Rows]:
        """Yield blocks whose features, ``width`` numbers a row, are a handful."""
        return standardized(self._source(), self._scales, width, check=self._check)

    def total(self, work: Pass) -> Any:
        """Return the sums of a pass over all rows."""
        return added(work, self.blocks(work.width))

    def place(self) -> Any:
        """Return a row where rows are learnt."""
        if self._place is None:
            row = next(self.blocks(1)).X[:1, :]
            # A view would keep the whole block.
            self._place = namespace(row).asarray(row, copy=True)
        return self._place

    def whole(self) -> Rows:
        """Return all rows as one block, in float64."""
        parts = list(self.blocks(1))
        X = as_floating(joined_rows([part.X for part in parts]), "float64")
        Y = joined_rows([part.Y for part in parts])
        weights = _joined([part.weights for part in parts], parts)
        return Rows(X, Y, weights, _joined([part.counts for part in parts], parts))


def standardized(
    blocks: Iterable[Rows], scales: Scales, width: int, *, check: bool = False
) -> Iterator[Rows]:
    """Yield blocks of standardised rows where they are learnt, without rows of weight 0.

    Parameters
    ----------
    blocks : iterable of Rows
        Checked rows.
    scales : Scales
        How to standardise them.
    width : int
        Numbers that are made of a row, of which a block makes a handful.
    check : bool, default=False
        Whether the rows may not be finite.
    """
    for block in where_learnt(dense_rows(blocks, width, check)):
        yield block._replace(X=scales.rows(block.X), Y=scales.targets(block.Y))


def added(work: Pass, blocks: Iterable[Rows], n_above: int = 0) -> Any:
    """Return the sums of a pass over some blocks, below so many rows; ``None`` of no blocks."""
    sums = None
    for block in blocks:
        if sums is None:
            sums = work.begin(n_above)
        work.add(sums, block)
    return sums


def _joined(given: list[Any], parts: list[Rows]) -> Any:
    """Return weights of all parts, one each where a part has none; ``None`` if all have none."""
    if all(weights is None for weights in given):
        return None
    pairs = zip(given, parts, strict=True)
    return joined_rows([ones_for_rows(part.X) if w is None else w for w, part in pairs])


@dataclass
class ColumnSums:
    """Moments of columns and targets, and a sample of the rows that have weight.

    Attributes
    ----------
    sample : RowSample
        Gets the rows.
    columns, targets : ColumnMoments
        Of the rows and of their targets.
    n_rows : int
        How many rows have weight.
    """

    sample: RowSample
    columns: ColumnMoments = field(default_factory=ColumnMoments)
    targets: ColumnMoments = field(default_factory=ColumnMoments)
    n_rows: int = 0

    def add(self, blocks: Iterable[Rows]) -> None:
        """Add checked rows."""
        for kept in dense_rows(blocks, 0):
            self.columns.add(as_floating(kept.X, "float64"), kept.weights)
            self.targets.add(kept.Y, kept.weights)
            self.sample.add(kept.X)
            self.n_rows += kept.X.shape[0]

    def merge(self, other: ColumnSums) -> None:
        """Add rows that stand below."""
        self.columns.merge(other.columns)
        self.targets.merge(other.targets)
        self.sample.merge(other.sample)
        self.n_rows += other.n_rows

    def scales(self, standardize: bool) -> tuple[Scales, int, float]:
        """Return the scales, how many rows have weight, and their weight."""
        if not self.n_rows:
            raise ValueError(
                "sample_weight is zero for every row; at least one weight must be positive."
            )
        scales = Scales(self.columns, self.targets, standardize)
        return scales, self.n_rows, float(np.max(self.columns.weight))


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
    sums = ColumnSums(sample)
    sums.add(blocks)
    return sums.scales(standardize)


def standardized_batches(first: Data, source: Iterator[Rows], scales: Scales) -> Iterator[Data]:
    """Yield the rows of every iteration, the first of which are standardised already.

    Parameters
    ----------
    first : Data
        The rows of the first iteration.
    source : iterator of Rows
        Those of the others.
    scales : Scales
        How to standardise them.
    """
    yield first
    for block in source:
        yield Standardized(known(block), scales, *size_of([block]), check=True)
