"""Rows of a cluster for feature-learning machines: learnt where they are, or brought together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..._random import Stream
from ..._sklearn import check_rows
from ...engine.cluster import Partitions
from ...engine.sample import RowSample
from ...engine.streams import Block
from ..cluster_targets import observed
from .choices import ITERATIVE_ROWS
from .data import ColumnSums, Pass, Scales, added, standardized
from .rows import Drawn, Rows, checked_block, dense_block, size_of

#: Called with a block; returns it checked.
Check = Callable[[Block], Rows]


def rows_of_cluster(parts: Partitions, owner: Any) -> Block:
    """Return few rows of a cluster on this machine, or their partitions in place of the rows.

    Parameters
    ----------
    parts : Partitions
        The rows.
    owner : estimator
        Who learns from them.
    """
    if owner.fresh:
        raise ValueError(
            "fresh=True takes a sampler, blocks or an array, not a Dask collection; give a list of "
            "blocks, or fresh=False."
        )
    if owner.solver in ("features", "nystrom"):
        return Block(parts, None, None)
    few = parts.n_rows <= ITERATIVE_ROWS
    if owner.solver != "auto" and not few:
        raise ValueError(_too_many(parts.n_rows, owner.solver))
    return parts.whole() if few else Block(parts, None, None)


def rows_on_cluster(
    parts: Partitions, owner: Any, targets: Any, sample: RowSample
) -> tuple[Any, Scales, RowsOnCluster]:
    """Return targets that know all rows, scales, and standardised rows where they are.

    Parameters
    ----------
    parts : Partitions
        The rows.
    owner : estimator
        Who learns from them; learns their columns.
    targets : Targets
        Of which nothing is known yet.
    sample : RowSample
        Gets the rows that have weight.
    """
    targets, learning = observed(targets, parts)
    check = partial(checked_block, owner=owner, targets=learning, first=False, streaming=True)

    def tried(row: Block) -> Rows:
        check_rows(row.X, owner=owner, reset=True)
        return check(row)

    example = parts.tried(tried)
    # Rows are counted by a look at their weights, where they have any.
    if example.weights is None:
        size = Size(dict(enumerate(parts.lengths())), float(parts.n_rows))
    else:
        (size,) = _sizes(parts, check, [None])
    starts = size.above(len(parts.blocks))
    sums = parts.total(_columns, (check, copy.deepcopy(sample)), "columns", starts)
    if sums is None:
        raise ValueError("All blocks of X are empty: at least one row is needed.")
    sample.merge(sums.sample)
    scales, _, size.weight = sums.scales(owner.standardize)
    return targets, scales, RowsOnCluster(parts, check, scales, size)


@dataclass
class Size:
    """How many rows have weight.

    Attributes
    ----------
    n_rows : dict of int
        Those of each partition, by its number.
    weight : float
        The weight of all.
    """

    n_rows: dict[int, int] = field(default_factory=dict)
    weight: float = 0.0

    def above(self, n_partitions: int) -> list[int]:
        """Return how many stand above each partition."""
        found, above = [], 0
        for number in range(n_partitions):
            found.append(above)
            above += self.n_rows.get(number, 0)
        return found


@dataclass
class Sizes:
    """Sizes of several choices of the same rows.

    Attributes
    ----------
    each : list of Size
        One for each choice.
    """

    each: list[Size]

    def merge(self, other: Sizes) -> None:
        """Add other partitions."""
        for mine, theirs in zip(self.each, other.each, strict=True):
            mine.n_rows = {**mine.n_rows, **theirs.n_rows}
            mine.weight += theirs.weight


class RowsOnCluster:
    """Standardised rows of a cluster, or some of them: passes go where they are.

    Parameters
    ----------
    partitions : Partitions
        The rows.
    check : callable
        Called with a block; returns it checked.
    scales : Scales
        How to standardise them.
    size : Size
        How many have weight.
    drawn : Drawn, default=None
        Which of the rows; ``None`` means all.
    """

    n_rows: int
    weight: float

    def __init__(
        self,
        partitions: Partitions,
        check: Check,
        scales: Scales,
        size: Size,
        drawn: Drawn | None = None,
    ) -> None:
        self._partitions, self._check, self._scales = partitions, check, scales
        self._size, self._drawn = size, drawn
        self.n_rows, self.weight = sum(size.n_rows.values()), size.weight

    def parts(self, share: float, stream: Stream) -> tuple[RowsOnCluster, RowsOnCluster]:
        """Return most of the rows, and a share of them that is held out."""
        choices = [Drawn(share, stream, held_out) for held_out in (False, True)]
        sizes = _sizes(self._partitions, self._check, choices)
        data, held = (
            RowsOnCluster(self._partitions, self._check, self._scales, size, drawn)
            for size, drawn in zip(sizes, choices, strict=True)
        )
        return data, held

    def variance(self) -> float:
        """Return the variance of all targets, once standardised."""
        return self._scales.variance()

    def total(self, work: Pass) -> Any:
        """Return the sums of a pass over all rows."""
        parts = self._partitions
        above = self._size.above(len(parts.blocks))
        shared = (self._check, self._scales, self._drawn, work)
        starts = list(zip(parts.begins(), above, strict=True))
        return parts.total(_added, shared, work.label, starts)

    def place(self) -> Any:
        """Return a row of the dtype in which rows are learnt."""
        return self._scales.rows(dense_block(self._check(self._partitions.example).X))

    def whole(self) -> Rows:
        """Say that there are too many rows to bring them together."""
        raise ValueError(_too_many(self._partitions.n_rows, "exact"))


def _too_many(n_rows: int, solver: str) -> str:
    return (
        f"solver={solver!r} needs the rows on one machine, and up to {ITERATIVE_ROWS:,} of a "
        f"cluster are brought together, but there are {n_rows:,}: use solver='features' (for a "
        "Gaussian kernel) or 'nystrom', which learn where the rows are, or fit on X.compute()."
    )


def _sizes(parts: Partitions, check: Check, choices: Sequence[Drawn | None]) -> list[Size]:
    """Return the sizes of choices of rows."""
    starts = list(enumerate(parts.begins()))
    found = parts.total(_sized, (check, choices), "sizes", starts)
    return [Size() for _ in choices] if found is None else found.each


def _chosen(check: Check, block: Block, drawn: Drawn | None, n_above: int) -> Iterator[Rows]:
    rows = check(block)
    return iter([rows]) if drawn is None else drawn.of([rows], n_above)


def _sized(shared: Any, block: Block, start: Any) -> Sizes:
    check, choices = shared
    number, n_above = start
    sizes = [size_of(_chosen(check, block, drawn, n_above)) for drawn in choices]
    return Sizes([Size({number: n_rows}, weight) for n_rows, weight in sizes])


def _columns(shared: Any, block: Block, n_above: int) -> ColumnSums:
    check, empty = shared
    sums = ColumnSums(copy.deepcopy(empty))
    sums.sample.skip(n_above)
    sums.add([check(block)])
    return sums


def _added(shared: Any, block: Block, start: Any) -> Any:
    check, scales, drawn, work = shared
    begin, n_above = start
    rows = _chosen(check, block, drawn, begin)
    return added(work, standardized(rows, scales, work.width), n_above)
