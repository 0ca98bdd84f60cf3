"""Feature maps: scikit-learn transformers whose inner products approximate a kernel."""

from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .encoder import TableEncoder
from .exact import KernelColumns
from .fourier import RandomFourier
from .gegenbauer import GegenbauerFeatures
from .ntk import NNGPFeatures, NTKFeatures
from .ntk_baselines import GradientFeatures, TensorNTKFeatures
from .polynomial import DotProductSketch, PolynomialSketch
from .product import ProductFeatures
from .spherical import SphericalCoordinates

__all__ = [
    "ArcCosineFeatures",
    "DotProductSketch",
    "FeatureMap",
    "GegenbauerFeatures",
    "GradientFeatures",
    "KernelColumns",
    "NNGPFeatures",
    "NTKFeatures",
    "PolynomialSketch",
    "ProductFeatures",
    "RandomFourier",
    "SphericalCoordinates",
    "TableEncoder",
    "TensorNTKFeatures",
]
