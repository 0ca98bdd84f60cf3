"""Rows on a Dask cluster: the only folder that imports Dask, and only once it is needed."""

from .lazy import answered
from .partitions import Partitions, on_cluster

__all__ = ["Partitions", "answered", "on_cluster"]
