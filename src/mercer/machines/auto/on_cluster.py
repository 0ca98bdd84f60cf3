"""What the front door learns in passes over blocks of a cluster: the columns, and a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.cluster import Partitions
from ...engine.sample import RowSample
from ...engine.streams import Block
from ..cluster_targets import observed
from ..targets import Targets
from .pilot import Columns


def columns_on_cluster(parts: Partitions, encoder: Any, free: bool, targets: Targets) -> Columns:
    """Return what the columns hold, and let targets be observed; see ``learn_columns``."""
    known, _ = observed(targets, parts)
    if known is not targets:
        targets.merge(known)
    return Columns(encoder.fit(parts), parts.n_rows, free)


def sample_on_cluster(
    parts: Partitions, gathered: Callable[[Any, Block, RowSample], None], shared: Any, n_rows: int
) -> RowSample:
    """Return a sample of the rows of a cluster: those that one machine would draw.

    Parameters
    ----------
    parts : Partitions
        The rows.
    gathered : callable
        Called as ``gathered(shared, block, sample)``, adds the rows of a block to the sample.
    shared : object
        What it reads.
    n_rows : int
        Rows of the sample, at most.
    """
    found = parts.total(_sample, (gathered, shared, n_rows), "sample", parts.begins())
    if found is None:
        raise ValueError("All blocks of X are empty: at least one row is needed.")
    return found


def _sample(shared: Any, block: Block, n_before: int) -> RowSample:
    gathered, about, n_rows = shared
    sample = RowSample(n_rows)
    sample.skip(n_before)
    gathered(about, block, sample)
    return sample
