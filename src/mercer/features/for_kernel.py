"""Which feature map approximates which kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

from ..kernels import CNTK, NNGP, NTK, ArcCosine, Exponential, Kernel, Polynomial, PowerSeries
from .arccosine import ArcCosineFeatures
from .base import FeatureMap
from .cntk import CNTKSketch
from .fourier import RandomFourier
from .frequencies import has_spectral_measure
from .ntk import NNGPFeatures, NTKFeatures
from .nystrom import NystromFeatures
from .polynomial import DotProductSketch, PolynomialSketch

#: What makes a map from the keywords ``n_components`` and ``random_state``.
Maker = Callable[..., FeatureMap]


def has_features(kernel: Kernel) -> bool:
    """Return whether there is a map for the kernel that need not look at the rows."""
    return maker_for(kernel) is not None


def features_for(kernel: Kernel, n_components: int, random_state: Any) -> FeatureMap:
    """Return the best map for a kernel, not yet fitted.

    Kernels without a map of their own, such as sums, are seen through landmarks.

    Examples
    --------
    >>> from mercer import Gaussian, Matern
    >>> from mercer.features.for_kernel import features_for
    >>> type(features_for(Matern(), 256, 0)).__name__
    'RandomFourier'
    >>> type(features_for(Matern() + Gaussian(), 256, 0)).__name__
    'NystromFeatures'
    """
    maker = maker_for(kernel) or partial(NystromFeatures, kernel)
    return maker(n_components=n_components, random_state=random_state)


@singledispatch
def maker_for(kernel: Any) -> Maker | None:
    """Return what makes the best map for a kernel, or ``None`` if there is none.

    A kernel with a spectral measure has random Fourier features; others are registered.
    """
    return partial(RandomFourier, kernel) if has_spectral_measure(kernel) else None


@maker_for.register
def _(kernel: ArcCosine) -> Maker:
    return partial(ArcCosineFeatures, kernel.order)


@maker_for.register
def _(kernel: NTK) -> Maker:
    return partial(NTKFeatures, kernel.depth)


@maker_for.register
def _(kernel: CNTK) -> Maker:
    names = "pooling", "train_readout", "image_shape", "mirrored"
    network = {name: getattr(kernel, name) for name in names}
    return partial(CNTKSketch, kernel.depth, kernel.filter_size, **network)


@maker_for.register
def _(kernel: NNGP) -> Maker:
    return partial(NNGPFeatures, kernel.depth)


@maker_for.register
def _(kernel: Polynomial) -> Maker:
    return partial(PolynomialSketch, kernel.degree, gamma=kernel.gamma, coef0=kernel.coef0)


@maker_for.register(Exponential)
@maker_for.register(PowerSeries)
def _(kernel: Kernel) -> Maker:
    return partial(DotProductSketch, kernel)
