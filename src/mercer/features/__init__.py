"""Feature maps: scikit-learn transformers whose inner products approximate a kernel."""

from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .choosing import MapChoice, choose_map
from .cntk import CNTKSketch
from .fourier import RandomFourier
from .ntk import GradientFeatures, NNGPFeatures, NTKFeatures, TensorNTKFeatures
from .nystrom import NystromFeatures
from .packed import PackedFeatures, QuantizedFourier, TernaryFeatures, WaveFeatures
from .polynomial import DotProductSketch, PolynomialSketch
from .product import ProductFeatures
from .zonal import GegenbauerFeatures

__all__ = [
    "ArcCosineFeatures",
    "CNTKSketch",
    "DotProductSketch",
    "FeatureMap",
    "GegenbauerFeatures",
    "GradientFeatures",
    "MapChoice",
    "NNGPFeatures",
    "NTKFeatures",
    "NystromFeatures",
    "PackedFeatures",
    "PolynomialSketch",
    "ProductFeatures",
    "QuantizedFourier",
    "RandomFourier",
    "TensorNTKFeatures",
    "TernaryFeatures",
    "WaveFeatures",
    "choose_map",
]
