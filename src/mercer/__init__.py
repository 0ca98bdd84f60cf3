"""mercer: kernel methods at any size.

A kernel gives accuracy without training a network; an exact kernel method costs n² memory
and n³ time. mercer replaces the kernel by explicit random features whose inner products
approximate it, and tells how good the approximation is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Folder: the public names that it gives to the front. They are imported on first use, so that
#: ``import mercer`` and ``mercer --help`` cost nothing.
_NAMES = {
    "diagnostics": ("approximation_error", "compare", "plan"),
    "engine.config": ("config", "set_config"),
    "features": (
        "ArcCosineFeatures",
        "CNTKSketch",
        "DotProductSketch",
        "FeatureMap",
        "GegenbauerFeatures",
        "GradientFeatures",
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
    ),
    "preprocessing": ("ImageWhitening", "SphericalCoordinates", "TableEncoder"),
    "io": ("load", "save"),
    "io.onnx": ("to_onnx",),
    "machines": (
        "FeatureRidge",
        "FeatureRidgeClassifier",
        "GreedyDesign",
        "IRKMClassifier",
        "IRKMRegressor",
        "KernelClassifier",
        "KernelKMeans",
        "KernelPCA",
        "KernelRegressor",
        "KernelRidge",
        "KernelRidgeClassifier",
        "RFMClassifier",
        "RFMRegressor",
    ),
    "kernels": (
        "CNTK",
        "NNGP",
        "NTK",
        "ArcCosine",
        "DotProduct",
        "Exponential",
        "FunctionKernel",
        "Gaussian",
        "GeneralizedZonal",
        "Kernel",
        "Laplace",
        "Matern",
        "OnColumns",
        "Polynomial",
        "PowerSeries",
        "PoweredExponential",
        "ProductLaplace",
        "Ternary",
        "WaveKernel",
        "Zonal",
    ),
}
_HOMES = {name: f"mercer.{folder}" for folder, names in _NAMES.items() for name in names}
_FOLDERS = (
    "datasets",
    "diagnostics",
    "engine",
    "features",
    "io",
    "kernels",
    "machines",
    "ops",
    "preprocessing",
    "sketches",
    "solvers",
    "testing",
)

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import diagnostics as diagnostics
    from . import engine as engine
    from . import features as features
    from . import io as io
    from . import kernels as kernels
    from . import machines as machines
    from . import ops as ops
    from . import preprocessing as preprocessing
    from . import sketches as sketches
    from . import solvers as solvers
    from . import testing as testing
    from .diagnostics import approximation_error, compare, plan
    from .engine.config import config, set_config
    from .features import (
        ArcCosineFeatures,
        CNTKSketch,
        DotProductSketch,
        FeatureMap,
        GegenbauerFeatures,
        GradientFeatures,
        NNGPFeatures,
        NTKFeatures,
        NystromFeatures,
        PackedFeatures,
        PolynomialSketch,
        ProductFeatures,
        QuantizedFourier,
        RandomFourier,
        TensorNTKFeatures,
        TernaryFeatures,
        WaveFeatures,
        choose_map,
    )
    from .io import load, save
    from .io.onnx import to_onnx
    from .kernels import (
        CNTK,
        NNGP,
        NTK,
        ArcCosine,
        DotProduct,
        Exponential,
        FunctionKernel,
        Gaussian,
        GeneralizedZonal,
        Kernel,
        Laplace,
        Matern,
        OnColumns,
        Polynomial,
        PoweredExponential,
        PowerSeries,
        ProductLaplace,
        Ternary,
        WaveKernel,
        Zonal,
    )
    from .machines import (
        FeatureRidge,
        FeatureRidgeClassifier,
        GreedyDesign,
        IRKMClassifier,
        IRKMRegressor,
        KernelClassifier,
        KernelKMeans,
        KernelPCA,
        KernelRegressor,
        KernelRidge,
        KernelRidgeClassifier,
        RFMClassifier,
        RFMRegressor,
    )
    from .preprocessing import ImageWhitening, SphericalCoordinates, TableEncoder


__all__ = [
    "CNTK",
    "NNGP",
    "NTK",
    "ArcCosine",
    "ArcCosineFeatures",
    "CNTKSketch",
    "DotProduct",
    "DotProductSketch",
    "Exponential",
    "FeatureMap",
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FunctionKernel",
    "Gaussian",
    "GegenbauerFeatures",
    "GeneralizedZonal",
    "GradientFeatures",
    "GreedyDesign",
    "IRKMClassifier",
    "IRKMRegressor",
    "ImageWhitening",
    "Kernel",
    "KernelClassifier",
    "KernelKMeans",
    "KernelPCA",
    "KernelRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "Laplace",
    "Matern",
    "NNGPFeatures",
    "NTKFeatures",
    "NystromFeatures",
    "OnColumns",
    "PackedFeatures",
    "Polynomial",
    "PolynomialSketch",
    "PowerSeries",
    "PoweredExponential",
    "ProductFeatures",
    "ProductLaplace",
    "QuantizedFourier",
    "RFMClassifier",
    "RFMRegressor",
    "RandomFourier",
    "SphericalCoordinates",
    "TableEncoder",
    "TensorNTKFeatures",
    "Ternary",
    "TernaryFeatures",
    "WaveFeatures",
    "WaveKernel",
    "Zonal",
    "__version__",
    "approximation_error",
    "choose_map",
    "compare",
    "config",
    "load",
    "plan",
    "save",
    "set_config",
    "to_onnx",
]


if not TYPE_CHECKING:
    # A type checker would take every name for one that exists.
    def __getattr__(name: str) -> Any:
        if name in _FOLDERS:
            return import_module(f"mercer.{name}")
        if name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_FOLDERS, "__version__"})
