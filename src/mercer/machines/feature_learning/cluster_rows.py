"""Rows of a cluster for feature-learning machines: brought together, if they are few."""

from __future__ import annotations

from typing import Any

from ...engine.cluster import Partitions
from ...engine.streams import Block
from .choices import ITERATIVE_ROWS


def rows_of_cluster(parts: Partitions, owner: Any) -> Block:
    """Return the rows of a cluster on this machine, or say what to do with so many.

    Parameters
    ----------
    parts : Partitions
        The rows.
    owner : estimator
        Who learns from them.
    """
    name = type(owner).__name__
    if owner.fresh:
        raise ValueError(
            "fresh=True takes a sampler, blocks or an array, not a Dask collection; give a list of "
            "blocks, or fresh=False."
        )
    if owner.solver not in ("exact", "iterative") and parts.n_rows > ITERATIVE_ROWS:
        raise ValueError(
            f"{name} learns on a cluster from up to {ITERATIVE_ROWS:,} rows, which it brings "
            f"together, but there are {parts.n_rows:,}: fit it on a sample (X.compute() of some "
            "rows), and let FeatureRidge learn from model.transform(X) of all rows."
        )
    return parts.whole()
