"""What a part of the rows adds to a ridge machine: sums, a sample, and how many rows they were."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from ..engine.sample import RowSample
from ..solvers import Accumulator, ReducedRows


@dataclass
class RidgeSums:
    """What was gathered of some rows, to be merged with that of others.

    Attributes
    ----------
    gathered : Accumulator or None
        The sums of their features; ``None`` of no rows.
    sample : RowSample or None
        Some of the rows, where the machine keeps them.
    n_rows : int
        How many rows there were.
    """

    gathered: Accumulator | None
    sample: RowSample | None
    n_rows: int

    def merge(self, other: RidgeSums) -> None:
        """Add the sums of rows that stand below."""
        if self.gathered is None:
            self.gathered = copy.deepcopy(other.gathered)
        elif other.gathered is not None:
            self.gathered.merge(other.gathered)
        if self.sample is not None and other.sample is not None:
            self.sample.merge(other.sample)
        self.n_rows += other.n_rows


@dataclass
class Triangle:
    """Rows reduced by orthogonal transforms, to be merged with others.

    Attributes
    ----------
    rows : ReducedRows
        Their triangular factor, and the targets in its coordinates.
    """

    rows: ReducedRows

    def merge(self, other: Triangle) -> None:
        """Add the rows of another triangle."""
        self.rows = self.rows.merged(other.rows)
