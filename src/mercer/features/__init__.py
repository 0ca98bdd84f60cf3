"""Feature maps: scikit-learn transformers whose inner products approximate a kernel."""

from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .encoder import TableEncoder
from .exact import KernelColumns
from .fourier import RandomFourier

__all__ = ["ArcCosineFeatures", "FeatureMap", "KernelColumns", "RandomFourier", "TableEncoder"]
