"""What a map learns from rows: a summary that grows block by block, and who looks at it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from .._registry import storable
from .._sklearn import check_rows
from ..engine.cluster import Partitions
from ..engine.rows import visit_rows
from ..engine.streams import Block
from ..kernels import Kernel
from ..kernels.lengthscale import RowSummary


@storable
@dataclass(frozen=True)
class RowsSeen:
    """The rows that a map has been fitted on, as far as it must know them.

    Attributes
    ----------
    summary : RowSummary or None
        Of the rows of a stream so far; ``None`` where they do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> RowsSeen().with_rows(np.eye(3)).with_rows(np.eye(3)).summary.n_rows
    6
    """

    summary: RowSummary | None = None

    def with_rows(self, X: Any, fresh: RowSummary | None = None) -> RowsSeen:
        """Return what is known after more rows; a block that is refused changes nothing.

        ``fresh`` is the empty summary to begin with, where it must keep more than usual.
        """
        begun = self.summary or fresh
        summary = RowSummary() if begun is None else copy.deepcopy(begun)
        visit_rows(summary.update, X, label="lengthscale")
        return RowsSeen(summary)

    def with_partitions(self, parts: Partitions, fresh: RowSummary | None = None) -> RowsSeen:
        """Return what is known after all rows of a cluster, each summarised where it is."""
        empty = self.summary or fresh or RowSummary()
        found = parts.total(_summarised, empty, "row-summary", parts.begins())
        return RowsSeen(empty if found is None else found)

    def known(self) -> RowSummary:
        """Return the summary of rows that matter."""
        if self.summary is None:
            raise ValueError("No rows have been summarised; call fit or partial_fit first.")
        return self.summary

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return the attributes to store: rows of the data must not be stored in a file."""
        return {"summary": None}


def _summarised(empty: RowSummary, block: Block, n_before: int) -> RowSummary:
    """Return the summary of a block of a cluster, below which others stand."""
    summary = copy.deepcopy(empty)
    summary.skip(n_before)
    visit_rows(summary.update, check_rows(block.X), label="lengthscale")
    return summary


class LearnsFromRows(ABC):
    """Mixed into a map that takes more from the rows than its kernel does: norms, a center.

    It learns through a summary of the rows, so that it can be fitted on a stream.
    """

    #: The fitted attributes that it learns; a compact model file holds them.
    learned: ClassVar[tuple[str, ...]] = ()

    def looks_at_rows(self, kernel: Kernel) -> bool:
        """Return whether the rows matter for a kernel."""
        return True

    def new_summary(self, seed: int) -> RowSummary:
        """Return an empty summary that keeps what this map learns from."""
        return RowSummary()

    @abstractmethod
    def learn_from(self, summary: RowSummary) -> dict[str, Any]:
        """Return the fitted attributes of ``learned``; ``kernel_`` and ``seed_`` are known."""
