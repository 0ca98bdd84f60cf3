"""Feature maps: scikit-learn transformers whose inner products approximate a kernel."""

from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .fourier import RandomFourier

__all__ = ["ArcCosineFeatures", "FeatureMap", "RandomFourier"]
