"""What the columns of a table on a cluster hold: summaries of its blocks, brought together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._sklearn import check_columns
from ..engine.cluster import Partitions
from ..engine.streams import Block, pieces
from .columns import is_matrix
from .quantiles import MOST_PENDING
from .table_summary import TableSummary


@dataclass
class Kinds:
    """What each column holds, as the first block says that has an entry there.

    Examples
    --------
    >>> kinds = Kinds([None, "number"])
    >>> kinds.merge(Kinds(["date", "category"]))
    >>> kinds.found
    ['date', 'number']
    """

    found: list[str | None]

    def merge(self, other: Kinds) -> None:
        """Add what blocks further down say."""
        pairs = zip(self.found, other.found, strict=True)
        self.found = [mine or theirs for mine, theirs in pairs]


def table_summary(
    parts: Partitions, owner: Any, *, date_parts: bool, with_quantiles: bool
) -> TableSummary:
    """Return the summary of all rows of a cluster.

    Strings are read as in a stream: the first block that has any in a column decides whether they
    are dates. Distributions are those of one machine as long as these are exact; of more than
    2^23 entries each block groups its own neighbours.

    Parameters
    ----------
    parts : Partitions
        The rows.
    owner : estimator
        Whose columns they must have.
    date_parts, with_quantiles : bool
        As in :class:`TableSummary`.
    """
    n_columns = parts.example.X.shape[1]
    known: list[str | None] = []
    if not is_matrix(parts.example.X):
        for some in (parts.first(1), parts):
            kinds = some.total(_kinds, owner, "column-kinds")
            known = [None] * n_columns if kinds is None else kinds.found
            if all(known):
                break
    together = with_quantiles and parts.n_rows * n_columns < MOST_PENDING
    empty = TableSummary(date_parts, known, with_quantiles)
    summary = parts.total(_summary, (owner, empty, together), "column-summary")
    if summary is None:
        raise ValueError("All blocks of X are empty: at least one row is needed.")
    summary.flush()
    return summary


def _kinds(owner: Any, block: Block, start: None) -> Kinds:
    summary = TableSummary(with_quantiles=False)
    for piece in pieces(check_columns(block.X, owner=owner)):
        summary.update(piece)
    return Kinds(summary.known_kinds())


def _summary(shared: Any, block: Block, start: None) -> TableSummary:
    owner, empty, together = shared
    summary: TableSummary = empty.copy()
    for piece in pieces(check_columns(block.X, owner=owner)):
        summary.update(piece)
    if not together:
        summary.flush()
    return summary
