"""Which feature map approximates which kernel."""

from __future__ import annotations

from ..kernels import ArcCosine
from .arccosine import ArcCosineFeatures
from .fourier import RandomFourier


def has_features(kernel):
    """Return whether there is a map for the kernel."""
    spectral = hasattr(kernel, "spectral_radii") or hasattr(kernel, "draw_frequencies")
    return spectral or isinstance(kernel, ArcCosine)


def features_for(kernel, n_components, random_state):
    """Return the best map for a kernel that :func:`has_features`, not yet fitted.

    Examples
    --------
    >>> from mercer import Matern
    >>> from mercer.features.for_kernel import features_for
    >>> type(features_for(Matern(), 256, 0)).__name__
    'RandomFourier'
    """
    if isinstance(kernel, ArcCosine):
        return ArcCosineFeatures(kernel.order, n_components=n_components, random_state=random_state)
    return RandomFourier(kernel, n_components=n_components, random_state=random_state)
