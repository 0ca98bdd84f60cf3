"""Frequencies of a shift-invariant kernel: how they are drawn, for every map that needs some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._random import Stream
from .._sklearn import StrOptions, checked
from ..kernels import Gaussian, Kernel
from ..ops.hadamard import padded_length
from ..sketches import (
    DenseProjection,
    FastfoodProjection,
    HadamardProjection,
    Projection,
    draw_probabilities,
    haar_directions,
    spherical_directions,
    spherical_structured_directions,
)
from .rules import Situation, choose

#: Projections that are stored as matrices: their directions.
DENSE: dict[str, Callable[[Stream, int, int], np.ndarray]] = {
    "gaussian": spherical_directions,
    "spherical": spherical_directions,
    "orthogonal": haar_directions,
    "ssf": spherical_structured_directions,
}
#: Projections that are products of fast transforms.
STRUCTURED: dict[str, Callable[..., Projection]] = {
    "hd3": HadamardProjection,
    "fastfood": FastfoodProjection,
}


def has_spectral_measure(kernel: Kernel) -> bool:
    """Return whether frequencies of a kernel can be drawn: by their radii, or independently."""
    return hasattr(kernel, "spectral_radii") or hasattr(kernel, "draw_frequencies")


def projection_names() -> StrOptions:
    """Return the constraint of a parameter ``projection``."""
    return StrOptions({"auto", *DENSE, *STRUCTURED})


def spectral_kernel(kernel: Kernel | None) -> Kernel:
    """Return a kernel with its parameters validated, or say that it has no frequencies.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel; ``None`` means ``Gaussian()``.
    """
    known: Kernel = checked(Gaussian() if kernel is None else kernel)
    if not has_spectral_measure(known):
        raise ValueError(
            f"kernel={known!r} has no spectral measure to draw frequencies from; use "
            "Gaussian, Laplace, Matern or ProductLaplace here, and for others the map that "
            "mercer.choose_map(kernel, X) chooses, such as ArcCosineFeatures for ArcCosine, "
            "NTKFeatures for NTK and PolynomialSketch for Polynomial."
        )
    return known


def draw_frequencies(
    kernel: Any, projection: str, stratified: bool, stream: Stream, n_features: int, size: int
) -> tuple[str, Projection]:
    """Return the name of a projection, and frequencies of a kernel as its columns.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a spectral measure, its lengthscale a number.
    projection : str
        How directions are drawn; of ``"auto"`` the name says what it chose.
    stratified : bool
        Spread the lengths evenly over their law.
    stream : Stream
        Where the numbers come from.
    n_features, size : int
        Columns of the rows, and the number of frequencies.

    Examples
    --------
    >>> name, frequencies = draw_frequencies(Gaussian(), "auto", True, Stream(0), 3, 5)
    >>> name, frequencies.matrix.shape
    ('orthogonal', (3, 5))
    """
    if not hasattr(kernel, "spectral_radii"):
        return "gaussian", _independent(kernel, projection, stream, n_features, size)
    name = projection
    if projection == "auto":
        name = choose("RandomFourier", Situation(n_features, 2 * size)).choice
    directions = stream.child("directions")
    if name in DENSE:
        unit = DENSE[name](directions, n_features, size)
        u = draw_probabilities(stream.child("radii"), size, stratified)
        return name, DenseProjection(unit * kernel.spectral_radii(u, n_features))
    u = draw_probabilities(stream.child("radii"), size, stratified)
    # A frequency of the padded space, cut to the first coordinates, has the law of the
    # space itself: the marginals of normal and t vectors are normal and t.
    radii = kernel.spectral_radii(u, padded_length(n_features))
    return name, STRUCTURED[name](directions, n_features, size, radii)


def _independent(
    kernel: Any, projection: str, stream: Stream, n_features: int, size: int
) -> Projection:
    """Return independent frequencies, of a kernel that is not isotropic."""
    if projection not in ("auto", "gaussian"):
        raise ValueError(
            f"projection={projection!r} needs a kernel of the Euclidean distance, but "
            f"the frequencies of {kernel!r} are not uniform in direction; use "
            "projection='auto'."
        )
    stream.reserve(n_features * size)
    generator = stream.child("frequencies").generator()
    return DenseProjection(kernel.draw_frequencies(generator, n_features, size))
