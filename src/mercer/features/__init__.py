"""Feature maps: scikit-learn transformers whose inner products approximate a kernel."""

from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .exact import KernelColumns
from .fourier import RandomFourier
from .ntk import GradientFeatures, NNGPFeatures, NTKFeatures, TensorNTKFeatures
from .polynomial import DotProductSketch, PolynomialSketch
from .product import ProductFeatures
from .zonal import GegenbauerFeatures

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
    "TensorNTKFeatures",
]
