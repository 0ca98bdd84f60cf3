"""Rows of a cluster that have weight: the others count for nothing, and draw no random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.cluster import Partitions
from ..engine.streams import Block, as_weights, rows_at


def rows_with_weight(parts: Partitions) -> Partitions:
    """Return the rows of positive weight of all blocks; weights are checked.

    Parameters
    ----------
    parts : Partitions
        Rows, with or without weights.
    """
    if parts.example.weights is None:
        return parts
    row = parts.example._replace(weights=np.ones(1))
    made = parts.mapped(_with_weight, None, "rows-with-weight", keeps_rows=False)
    # The example may have had no weight.
    made.example = row
    return made


def _with_weight(shared: None, block: Block, start: None) -> Block:
    X, y, given = block
    weights = as_weights(given, X.shape[0])
    if weights is None or weights.all():
        return Block(X, y, weights)
    known = np.flatnonzero(weights)
    targets: Any = None if y is None else np.asarray(y)[known]
    return Block(rows_at(X, known), targets, weights[known])
