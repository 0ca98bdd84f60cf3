"""The neural tangent kernel of convolutional ReLU networks (Arora et al. 2019), pair by pair.

With M the mean over the Q taps a of a patch, (M A)_{p, p'} = Q⁻¹ Σ_a A_{p+a, p'+a}, the layers are

    S = T = M(x xᵀ),   N = M(|x|²)
    U = √(N N') κ₁(S / √(N N')),   T ← κ₀ T + U;   between layers S = M(U), T ← M(T), N ← M(N).

Extreme angles are measured from differences, see ``ops.extreme_angles``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._array import as_floating, beside, dtype_name, is_numpy, take_rows
from .._devices import has_fused_kernels
from .angles import relu_layer
from .extreme_angles import NEAR, measured_again, signed_code
from .images import SIGNALS, patch_sums

#: Squared norms, relative to the largest pixel, that are zero.
_ZERO = 1e-280
#: Norms, relative to the largest pixel, whose inverses float32 can still hold with ease.
_SMALLEST_NORM = 1e-15


class Network(NamedTuple):
    """A convolutional network of infinite width.

    Parameters
    ----------
    depth : int
        Convolutional layers, each with a ReLU.
    filter_size : int
        Taps of a filter along an axis, an odd number.
    pooled : bool
        Whether the last layer reads the mean over all positions, or each position.
    readout : bool
        Whether the last, linear layer is trained too.
    """

    depth: int
    filter_size: int
    pooled: bool = True
    readout: bool = True


class Patches(NamedTuple):
    """Images divided by their largest pixels, and the norms of their patches in each layer."""

    #: (n, height, width, channels); signals have height 1.
    pixels: Any
    #: (n, height, width) for each layer.
    norms: list[Any]
    #: (n,)
    largest: Any
    #: Neighbours on each side that a patch has along height and width.
    reaches: tuple[int, int]

    @property
    def taps(self) -> int:
        """Positions of a patch."""
        return math.prod(2 * reach + 1 for reach in self.reaches)

    def take(self, places: np.ndarray) -> Patches:
        """Return some of the images."""
        norms = [take_rows(norm, places) for norm in self.norms]
        pixels, largest = take_rows(self.pixels, places), take_rows(self.largest, places)
        return Patches(pixels, norms, largest, self.reaches)


def patches_of(images: Any, network: Network, xp: Any) -> Patches:
    """Return what the kernel needs of single images.

    Parameters
    ----------
    images : float64 array of shape (n, height, width, channels) or (n, length, channels)
        The images, or signals.
    network : Network
        The layers.
    xp : namespace
        The array library.
    """
    reach = network.filter_size // 2
    reaches = (reach, reach)
    if images.ndim == SIGNALS:
        images, reaches = images[:, None, :, :], (0, reach)
    largest = xp.max(xp.abs(images), axis=(1, 2, 3))
    pixels = images / xp.where(largest > 0, largest, xp.ones_like(largest))[:, None, None, None]
    found = Patches(pixels, [], largest, reaches)
    squares = xp.sum(pixels * pixels, axis=3)
    for _ in range(network.depth):
        squares = _summed(squares, found, [1, 2]) / found.taps
        found.norms.append(xp.sqrt(xp.where(squares > _ZERO, squares, xp.zeros_like(squares))))
    return found


def cntk_diagonal(images: Any, network: Network, xp: Any) -> Any:
    """Return the kernel of each image with itself.

    Examples
    --------
    >>> image = np.ones((1, 1, 1, 1))
    >>> cntk_diagonal(image, Network(depth=3, filter_size=1, pooled=False), np)
    array([4.])
    """
    found = patches_of(images, network, xp)
    if network.pooled:
        places = np.arange(images.shape[0])
        return cntk_of_pairs(found, found, places, places, network, xp)
    trained = network.depth + (1 if network.readout else 0)
    return trained * xp.sum(found.norms[-1] ** 2, axis=(1, 2)) * found.largest * found.largest


def fill_cntk(
    x: Patches, y: Patches, network: Network, pairs_at_once: int, xp: Any, out: Any
) -> None:
    """Write the kernel of all pairs of images to a matrix, in its precision.

    Parameters
    ----------
    x, y : Patches
        The images; if they are the same object, half of the pairs are computed.
    network : Network
        The layers.
    pairs_at_once : int
        Pairs of images that are computed together.
    xp : namespace
        The array library.
    out : array of shape (n, m)
        Where results are written; float32 says how precise they need be.
    """
    n, m, same = x.largest.shape[0], y.largest.shape[0], x is y
    first, second = np.triu_indices(n) if same else np.divmod(np.arange(n * m), m)
    single = dtype_name(out) == "float32"
    for start in range(0, first.shape[0], pairs_at_once):
        i, j = (places[start : start + pairs_at_once] for places in (first, second))
        values = as_floating(cntk_of_pairs(x, y, i, j, network, xp, single), dtype_name(out))
        # Pairs are in the order of rows.
        for row in range(int(i[0]), int(i[-1]) + 1):
            first_one, stop = np.searchsorted(i, [row, row + 1])
            part = values[int(first_one) : int(stop)]
            columns = slice(int(j[first_one]), int(j[stop - 1]) + 1)
            out[row, columns] = part
            if same:
                out[columns, row] = part


def cntk_of_pairs(
    x: Patches,
    y: Patches,
    i: np.ndarray,
    j: np.ndarray,
    network: Network,
    xp: Any,
    single: bool = False,
) -> Any:
    """Return the kernel of images ``i[k]`` of ``x`` and ``j[k]`` of ``y``, for each k, in float64.

    Without pooling positions meet only themselves: p' = p, and the work is that of one image.

    Parameters
    ----------
    x, y : Patches
        The images.
    i, j : integer arrays of NumPy
        The pairs.
    network : Network
        The layers.
    xp : namespace
        The array library.
    single : bool, default=False
        Whether angles and tangents are computed in float32; the sums that angles are made of are
        in float64 always.

    Examples
    --------
    >>> network = Network(depth=1, filter_size=1)
    >>> images = patches_of(np.eye(2).reshape(2, 1, 1, 2), network, np)
    >>> cntk_of_pairs(images, images, np.asarray([0, 0]), np.asarray([0, 1]), network, np).round(4)
    array([2.    , 0.3183])
    """
    if not is_numpy(x.pixels):
        if network.pooled and has_fused_kernels(x.pixels):
            values = _fused(x, y, i, j, network, xp, single)
        else:
            values = cntk_of_pairs_twin(x.take(i), y.take(j), network, xp, single)
        return values * take_rows(x.largest, i) * take_rows(y.largest, j)
    from ._jit import cntk as jit

    values, near = np.empty(i.shape[0]), 0.0 if single else NEAR
    real = np.empty(0, np.float32 if single else np.float64)
    left = _planes(x)
    jit.cntk_of_pairs(
        left, left if y is x else _planes(y), i, j, x.pixels.shape[3], x.reaches,
        network.pooled, network.readout, near, real, values,
    )  # fmt: skip
    return values * x.largest[i] * y.largest[j]


def cntk_of_pairs_twin(x: Patches, y: Patches, network: Network, xp: Any, single: bool) -> Any:
    """Return the kernel of the k-th images of both, divided by their largest pixels."""
    name, axes = "float32" if single else "float64", [(1, 3), (2, 4)] if network.pooled else [1, 2]

    def outer(left: Any, right: Any) -> Any:
        if network.pooled:
            return left[:, :, :, None, None] * right[:, None, None, :, :]
        return left * right

    S = _summed(_inner_products(x.pixels, y.pixels, network.pooled, xp), x, axes)
    T, delta = as_floating(S, name), None
    before = x.pixels, y.pixels
    for layer, norms in enumerate(zip(x.norms, y.norms, strict=True)):
        inverses = [_inverse(norm, x.taps, xp) for norm in norms]
        half = 0.5 * S * outer(*inverses)
        code = signed_code(0.5 - half, 0.5 + half, half < 0, xp)
        if not single:
            code = measured_again(code, before, inverses, delta, x.reaches, network.pooled, xp)
        step, delta = relu_layer(as_floating(code, name), xp)
        scale = outer(*norms)
        T = step * T * (1.0 / x.taps)
        last = layer == network.depth - 1
        if network.readout or not last:
            T = T + as_floating(scale, name) * (1 - delta)
        if not last:
            S = _summed(scale * (1 - as_floating(delta, "float64")), x, axes)
            T = _summed(T, x, axes)
        before = norms[0][..., None], norms[1][..., None]
    total = xp.sum(T, axis=tuple(range(1, T.ndim)), dtype=xp.float64)
    return total / math.prod(T.shape[1:]) if network.pooled else total


def _fused(
    x: Patches, y: Patches, i: np.ndarray, j: np.ndarray, network: Network, xp: Any, single: bool
) -> Any:
    """Return the kernel of pairs, divided by their largest pixels, by fused kernels."""
    from ._cuda import cntk as cuda

    name, smallest = ("float32", _SMALLEST_NORM) if single else ("float64", 0.0)

    def prepared(side: Patches) -> tuple[Any, Any, Any]:
        norms = xp.stack(side.norms)
        norms = xp.where(norms > smallest, norms, xp.zeros_like(norms))
        parts = xp.permute_dims(side.pixels, (0, 3, 1, 2)), norms, _inverse(norms, side.taps, xp)
        return tuple(as_floating(part, name) for part in parts)

    left = prepared(x)
    right = left if y is x else prepared(y)
    pairs = beside(x.pixels, i), beside(x.pixels, j)
    norms, inverses = (left[1], right[1]), (left[2], right[2])
    return cuda.mean_tangents(left[0], right[0], norms, inverses, pairs, x.reaches, network.readout)


def _planes(patches: Patches) -> np.ndarray:
    """Return channels, norms and inverse norms of images as planes."""
    n, height, width, n_channels = patches.pixels.shape
    depth = len(patches.norms)
    planes = np.empty((n, n_channels + 2 * depth, height, width))
    planes[:, :n_channels] = np.moveaxis(patches.pixels, 3, 1)
    for layer, norm in enumerate(patches.norms):
        planes[:, n_channels + layer] = norm
        planes[:, n_channels + depth + layer] = _inverse(norm, patches.taps, np)
    return planes


def _inverse(norm: Any, taps: int, xp: Any) -> Any:
    """Return the inverses of norms divided by √taps, 0 for zero."""
    positive = norm > 0
    safe = xp.where(positive, norm, xp.ones_like(norm))
    return xp.where(positive, 1.0 / safe, xp.zeros_like(norm)) * taps**-0.5


def _summed(A: Any, patches: Patches, axes: list[Any]) -> Any:
    """Return sums over patches: along height, then along width."""
    for reach, axis in zip(patches.reaches, axes, strict=True):
        if reach > 0:
            A = patch_sums(A, 2 * reach + 1, [axis])
    return A


def _inner_products(x: Any, y: Any, pooled: bool, xp: Any) -> Any:
    """Return inner products over channels, of all pairs of positions or of equal ones."""
    if not pooled:
        return xp.sum(x * y, axis=3)
    n, height, width, n_channels = x.shape
    left = xp.reshape(x, (n, height * width, n_channels))
    right = xp.reshape(y, (n, height * width, n_channels))
    products = left @ xp.permute_dims(right, (0, 2, 1))
    return xp.reshape(products, (n, height, width, height, width))
