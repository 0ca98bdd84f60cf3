"""The front door: data in, everything else chosen and reported."""

from .estimators import KernelClassifier, KernelRegressor

__all__ = ["KernelClassifier", "KernelRegressor"]
