"""Features of the arc-cosine kernels from projections of the rows.

``P`` holds the projections ``X W`` on directions ``W`` with ``E[w wᵀ] = I``. Where ``out`` is
given, features are written there; NumPy's ``P`` lies in it already, where its features belong,
and is changed in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import is_numpy
from .._devices import has_fused_kernels
from .columns import join


def plain(P: Any, order: int, xp: Any, out: Any = None) -> Any:
    """Return √(2/m) ReLU(P), or √(2/m) Step(P), for m columns (Cho & Saul 2009)."""
    scale = math.sqrt(2 / P.shape[1])
    return _positive_part(P, order, scale, xp, out)


def antithetic(P: Any, order: int, n_components: int, xp: Any, out: Any = None) -> Any:
    """Return the plain features of the directions and of their negatives.

    The linear half of the kernel is then exact for whole orthogonal blocks. Of an odd
    number of components the last direction keeps one.
    """
    scale = math.sqrt(2 / n_components)
    size = P.shape[1]
    mirrored = -P[:, : n_components - size]
    if is_numpy(out):
        join([P, mirrored], xp, out)
        return _positive_part(out, order, scale, xp, out)
    places = (None, None) if out is None else (out[:, :size], out[:, size:])
    both = zip((P, mirrored), places, strict=True)
    return join([_positive_part(part, order, scale, xp, place) for part, place in both], xp, out)


def deflated_relu(X: Any, norms: Any, P: Any, mean: float, xp: Any, out: Any = None) -> Any:
    """Return features of the first-order kernel whose two lowest harmonics are exact.

    ReLU(a) = (a + |a|)/2; the kernel of the linear half is <x, y>/2, and of |a| the mean
    over directions is known too, so that only the rest is sampled.
    """
    half = math.sqrt(0.5)
    scale = math.sqrt(0.5 / P.shape[1])
    if is_numpy(out):
        from ._jit import arccosine as jit

        radial = (norms * (mean * scale)).astype(P.dtype)
        jit.deflate_relu(out, out.shape[1] - P.shape[1], scale, radial)
        rest = P
    elif has_fused_kernels(P):
        from ._cuda import arccosine as cuda

        place = None if out is None else out[:, out.shape[1] - P.shape[1] :]
        rest = cuda.activated(P, "absolute", scale, shifts=(mean * scale) * norms, out=place)
    else:
        rest = xp.abs(P) * scale - (mean * scale) * norms[:, None]
    return join([X * half, (mean * half) * norms[:, None], rest], xp, out)


def deflated_step(unit: Any, norms: Any, P: Any, mean: float, xp: Any, out: Any = None) -> Any:
    """Return features of the order-zero kernel whose two lowest harmonics are exact.

    ``P`` are the projections of the unit rows. A zero row, where the kernel is undefined,
    gets zero features.
    """
    half = math.sqrt(0.5)
    scale = math.sqrt(0.5 / P.shape[1])
    constant = xp.astype(norms > 0, unit.dtype)[:, None] * half
    if is_numpy(out):
        from ._jit import arccosine as jit

        jit.deflate_step(out, out.shape[1] - P.shape[1], scale, mean)
        rest = P
    else:
        place = None if out is None else out[:, out.shape[1] - P.shape[1] :]
        rest = _signs(P, scale, xp, slopes=mean + xp.zeros_like(norms), out=place)
    return join([constant, unit * (mean * half), rest], xp, out)


def _positive_part(P: Any, order: int, scale: float, xp: Any, out: Any = None) -> Any:
    """Return ``scale`` times ReLU (order 1) or Step (order 0) of ``P``."""
    if is_numpy(out):
        from ._jit import arccosine as jit

        jit.rectify(out, 0, order, scale)
        return out
    if has_fused_kernels(P):
        from ._cuda import arccosine as cuda

        return cuda.activated(P, "step" if order == 0 else "relu", scale, out=out)
    if order == 0:
        return xp.astype(P > 0, P.dtype) * scale
    return xp.where(P > 0, P, xp.zeros_like(P)) * scale


def mean_projection(n_features: int | None) -> float:
    """Return E|<w, x>| for a unit row x and directions w of norm √d; ``None``: Gaussian w.

    Examples
    --------
    >>> round(mean_projection(3), 4), round(mean_projection(None), 4)
    (0.866, 0.7979)
    """
    if n_features is None:
        return math.sqrt(2 / math.pi)
    half = n_features / 2
    return math.sqrt(n_features / math.pi) * math.exp(math.lgamma(half) - math.lgamma(half + 0.5))


def constant_and_sign(P: Any, xp: Any, out: Any = None) -> Any:
    """Return features of the order-zero kernel whose constant half is exact.

    Step(a) = (1 + sign(a)) / 2, and the mixed term of two rows vanishes on average.
    """
    scale = math.sqrt(0.5 / P.shape[1])
    if is_numpy(out):
        out[:, 0] = math.sqrt(0.5)
        np.sign(P, out=out[:, 1:])
        out[:, 1:] *= scale
        return out
    first = xp.full_like(P[:, :1], math.sqrt(0.5))
    place = None if out is None else out[:, 1:]
    return join([first, _signs(P, scale, xp, slopes=xp.zeros_like(P[:, 0]), out=place)], xp, out)


def _signs(P: Any, scale: float, xp: Any, slopes: Any, out: Any = None) -> Any:
    """Return scale (sign(P) - slope P), with a slope for every row."""
    if has_fused_kernels(P):
        from ._cuda import arccosine as cuda

        return cuda.activated(P, "sign", scale, slopes=slopes, out=out)
    return (xp.sign(P) - slopes[:, None] * P) * scale
