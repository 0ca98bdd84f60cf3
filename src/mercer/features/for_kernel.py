"""Which feature map approximates which kernel."""

from __future__ import annotations

from ..kernels import NNGP, NTK, ArcCosine, Exponential, Polynomial, PowerSeries
from .arccosine import ArcCosineFeatures
from .fourier import RandomFourier
from .ntk import NNGPFeatures, NTKFeatures
from .polynomial import DotProductSketch, PolynomialSketch

#: Kernels that are power series of the inner product.
SERIES = (Exponential, PowerSeries)


def has_features(kernel):
    """Return whether there is a map for the kernel."""
    spectral = hasattr(kernel, "spectral_radii") or hasattr(kernel, "draw_frequencies")
    return spectral or isinstance(kernel, (ArcCosine, NNGP, NTK, Polynomial, *SERIES))


def features_for(kernel, n_components, random_state):
    """Return the best map for a kernel that :func:`has_features`, not yet fitted.

    Examples
    --------
    >>> from mercer import Matern
    >>> from mercer.features.for_kernel import features_for
    >>> type(features_for(Matern(), 256, 0)).__name__
    'RandomFourier'
    """
    drawn = {"n_components": n_components, "random_state": random_state}
    if isinstance(kernel, ArcCosine):
        return ArcCosineFeatures(kernel.order, **drawn)
    if isinstance(kernel, (NTK, NNGP)):
        return (NTKFeatures if isinstance(kernel, NTK) else NNGPFeatures)(kernel.depth, **drawn)
    if isinstance(kernel, Polynomial):
        shape = {"gamma": kernel.gamma, "coef0": kernel.coef0}
        return PolynomialSketch(kernel.degree, **shape, **drawn)
    if isinstance(kernel, SERIES):
        return DotProductSketch(kernel, **drawn)
    return RandomFourier(kernel, **drawn)
