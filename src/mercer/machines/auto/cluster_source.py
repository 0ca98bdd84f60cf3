"""The front door on a cluster: rows that one machine can search, or passes over blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine.cluster import Partitions
from ...engine.config import matrix_memory
from ...engine.streams import Block
from ...preprocessing import TableEncoder
from ..cluster_rows import rows_with_weight
from ..targets import Targets
from .learnt import ROW_COPIES, is_searchable
from .plan import choose_method
from .source import RowsAtHand, brought


class RowsOnCluster:
    """Rows on a cluster that are too many to be brought together.

    Parameters
    ----------
    parts : Partitions
        Rows of positive weight.
    """

    def __init__(self, parts: Partitions) -> None:
        self.parts = parts

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.parts.n_rows

    @property
    def near(self) -> None:
        """Nothing: rows of a cluster are on hosts."""

    @property
    def whole(self) -> None:
        """Nothing: they are too many."""

    def preview(self) -> tuple[Any, Any, bool]:
        """Return the rows, twice."""
        return self.parts, self.parts, True

    def bring(self, rows: np.ndarray) -> Any:
        """Return rows of the host where trials are computed: on the client."""
        return brought(rows, None)

    def __iter__(self) -> Iterator[Block]:
        """Yield all rows as one block, on this machine."""
        return iter([self.parts.whole()])


def source_on_cluster(
    parts: Partitions, targets: Targets, front_door: Any, encoder: Any, featured: bool
) -> RowsAtHand | RowsOnCluster:
    """Return the rows where one machine would choose the exact kernel, and their blocks otherwise.

    Parameters
    ----------
    parts : Partitions
        Rows with their targets.
    targets : Targets
        Who checks them.
    front_door : estimator
        Its parameters say what is asked.
    encoder : estimator
        Whose columns to set.
    featured : bool
        Whether there are random features for the kernel.
    """
    parts = rows_with_weight(parts)
    n_rows, width = parts.n_rows, int(parts.example.X.shape[1])
    asked = front_door.kernel is not None or front_door.n_components != "auto"
    free = front_door.encoder is None and not asked and front_door.approximation == "auto"
    method = choose_method(n_rows, front_door.n_components, front_door.approximation, featured)
    searched = free and is_searchable(n_rows, width)
    fits = ROW_COPIES * 8 * n_rows * width <= matrix_memory()
    if searched or (method.name == "exact" and (fits or front_door.approximation == "exact")):
        return RowsAtHand(*parts.whole(), targets, encoder)
    if not isinstance(encoder, TableEncoder):
        raise TypeError(
            f"encoder={type(front_door.encoder).__name__}(...) cannot be fitted on a cluster, as "
            "only TableEncoder can; encode the rows first, and pass encoder=TableEncoder(...) or "
            "None."
        )
    return RowsOnCluster(parts)
