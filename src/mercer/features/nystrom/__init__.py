"""Nyström features: a kernel seen through some of the rows, the landmarks."""

from .maps import NystromFeatures

__all__ = ["NystromFeatures"]
