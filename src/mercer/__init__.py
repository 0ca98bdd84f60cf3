"""mercer: kernel methods at any size.

A kernel gives accuracy without training a network; an exact kernel method costs n² memory
and n³ time. mercer replaces the kernel by explicit random features whose inner products
approximate it, and tells how good the approximation is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public name: the module that holds it. Imported on first use, so that ``import mercer``
#: and ``mercer --help`` cost nothing.
_HOMES = {
    "config": "mercer.engine.config",
    **dict.fromkeys(
        (
            "NNGP",
            "NTK",
            "ArcCosine",
            "Exponential",
            "Gaussian",
            "Kernel",
            "Laplace",
            "Matern",
            "Polynomial",
            "ProductLaplace",
        ),
        "mercer.kernels",
    ),
    **dict.fromkeys(("ArcCosineFeatures", "FeatureMap", "RandomFourier"), "mercer.features"),
    "approximation_error": "mercer.diagnostics",
}
_FOLDERS = ("diagnostics", "engine", "features", "kernels", "ops", "sketches", "testing")

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from .diagnostics import approximation_error
    from .engine.config import config
    from .features import ArcCosineFeatures, FeatureMap, RandomFourier
    from .kernels import (
        NNGP,
        NTK,
        ArcCosine,
        Exponential,
        Gaussian,
        Kernel,
        Laplace,
        Matern,
        Polynomial,
        ProductLaplace,
    )


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return import_module(f"mercer.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_FOLDERS})
