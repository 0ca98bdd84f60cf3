"""Which feature map approximates which kernel."""

from __future__ import annotations

from ..kernels import NNGP, NTK, ArcCosine, Exponential, Gaussian, Polynomial, PowerSeries
from ..kernels.lengthscale import RowSummary
from .arccosine import ArcCosineFeatures
from .fourier import RandomFourier
from .gegenbauer import GegenbauerFeatures
from .ntk import NNGPFeatures, NTKFeatures
from .polynomial import DotProductSketch, PolynomialSketch
from .zonal_region import find_region

#: Kernels that are power series of the inner product.
SERIES = (Exponential, PowerSeries)
#: Lengthscales that rows may be away from their mean for Gegenbauer features of a Gaussian kernel
#: to be better than random Fourier features: measured for d from 4 to 30.
SMALL_RADIUS = 2.0


def has_features(kernel):
    """Return whether there is a map for the kernel."""
    spectral = hasattr(kernel, "spectral_radii") or hasattr(kernel, "draw_frequencies")
    return spectral or isinstance(kernel, (ArcCosine, NNGP, NTK, Polynomial, *SERIES))


def features_for(kernel, n_components, random_state, rows=None):
    """Return the best map for a kernel that :func:`has_features`, not yet fitted.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_components, random_state
        Of the map.
    rows : array of shape (n_samples, n_features), default=None
        A sample of the rows it is for: a Gaussian kernel as wide as they are spread has
        better features than random Fourier ones.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Matern
    >>> from mercer.features.for_kernel import features_for
    >>> type(features_for(Matern(), 256, 0)).__name__
    'RandomFourier'
    >>> type(features_for(Gaussian(3.0), 256, 0, np.eye(4))).__name__
    'GegenbauerFeatures'
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
    if isinstance(kernel, Gaussian) and rows is not None:
        summary = RowSummary()
        summary.update(rows)
        region = find_region(kernel, "ball", summary)
        if region.norms[-1] <= SMALL_RADIUS * kernel.lengthscale:
            return GegenbauerFeatures(kernel, domain=region, **drawn)
    return RandomFourier(kernel, **drawn)
