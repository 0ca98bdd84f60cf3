"""Numba loops of ``ops.cntk``: one displacement between the positions of two images at a time.

Sums over patches move both positions together, so that p' - p never changes: the P x P' entries of
a pair of images fall apart into P sets, one for each displacement, that do not touch each other.
Displacements are taken modulo the sides of the image: then each set has one entry for every
position p, and walls where p' wraps around, which no sum crosses. A set has P entries and stays
in the fastest cache through all layers.

Everything is flattened, and the second image rolled, so that loops run over all P positions at
once; arrays ``S`` and ``T`` have a margin of zeros at both ends.
"""

from __future__ import annotations

import math

import numpy as np

from . import compiled
from .angles import arcsine_ratio

#: Instead of 0 for an angle of exactly 180 degrees, as its sign is needed.
_SMALLEST = 1e-30


@compiled
def cntk_of_pairs(x, y, i, j, n_channels, reaches, pooled, readout, near, real, out):
    """Write the kernel of images ``i[k]`` and ``j[k]`` to ``out[k]``.

    Parameters
    ----------
    x, y : arrays of shape (n, n_channels + 2 depth, height, width)
        Planes of each image: its channels, the norms of the patches of each layer, and their
        inverses divided by √taps (0 for a zero patch).
    i, j : integer arrays
        The pairs.
    n_channels : int
        Channels of a pixel.
    reaches : pair of int
        How far a patch reaches from its middle, in rows and columns.
    pooled, readout : bool
        Whether all positions are averaged, and whether the last layer is trained.
    near : float
        Codes of angles below which they are measured from differences.
    real : array of shape (0,)
        Of the dtype of angles and tangents; sums that angles are made of are in float64.
    out : float64 array
        One number for each pair.
    """
    n_planes, height, width = x.shape[1:]
    depth, size = (n_planes - n_channels) // 2, height * width
    reach_h, reach_w = reaches
    taps = (2 * reach_h + 1) * (2 * reach_w + 1)
    flat_x = x.reshape((x.shape[0], n_planes, size))
    flat_y = y.reshape((y.shape[0], n_planes, size))
    S, spare_s = np.zeros(size + 2 * reach_w), np.zeros(size + 2 * reach_w)
    T = np.zeros(size + 2 * reach_w, real.dtype)
    spare_t = np.zeros_like(T)
    code = np.empty(size, real.dtype)
    delta, scale_t, total = np.empty_like(code), np.empty_like(code), np.empty(size)
    scale = np.empty(size)
    walls = np.empty((2 * reach_w, size))
    walls_t = np.empty((2 * reach_w, size), real.dtype)
    rolled, wraps = np.empty((n_planes, 2 * size)), np.empty(size, np.bool_)
    # A margin of a row at both ends, so that a plane can be read from any column on.
    planes_y = np.zeros((n_planes, size + 2 * width))
    downs, rights = (height, width) if pooled else (1, 1)
    for k in range(i.shape[0]):
        left = flat_x[i[k]]
        for plane in range(n_planes):
            _copy(flat_y[j[k], plane], planes_y[plane][width:])
        total[:] = 0.0
        for right in range(rights):
            _roll(planes_y, width, right, wraps, rolled)
            _build_walls(walls, width, right)
            _build_walls(walls_t, width, right)
            for down in range(downs):
                first, stop = down * width, down * width + size
                _multiply_pixels(left, rolled, first, n_channels, reach_w, S)
                _sum_patches(S, spare_s, walls, width, reach_h, reach_w, down)
                _copy(S, T)
                for layer in range(depth):
                    norm, inverse = n_channels + layer, n_channels + depth + layer
                    _find_angles(S, left[inverse], rolled[inverse][first:stop], reach_w, code)
                    if near > 0.0 and _count_extremes(code, near) > 0:
                        planes = slice(0, n_channels) if layer == 0 else slice(norm - 1, norm)
                        _measure_again(
                            code, near, x[i[k], planes], y[j[k], planes],
                            x[i[k], inverse], y[j[k], inverse],
                            delta, layer > 0, reach_h, reach_w, down, right,
                        )  # fmt: skip
                    last = layer == depth - 1
                    factor = 1.0 if readout or not last else 0.0
                    _multiply_norms(left[norm], rolled[norm][first:stop], factor, scale, scale_t)
                    _apply_layer(code, scale_t, taps, reach_w, delta, T)
                    if not last:
                        _multiply_relu(scale, delta, reach_w, S)
                        _sum_patches(S, spare_s, walls, width, reach_h, reach_w, down)
                        _sum_patches(T, spare_t, walls_t, width, reach_h, reach_w, down)
                _add(total, T, reach_w)
        out[k] = total.sum() / size**2 if pooled else total.sum()


@compiled
def _roll(planes, width, right, wraps, rolled):
    """Write planes that start at column ``right``, each twice in a row."""
    size = wraps.shape[0]
    for p in range(size):
        wraps[p] = p % width + right >= width
    for plane in range(planes.shape[0]):
        plain, wrapped = planes[plane][width + right :], planes[plane][right:]
        target = rolled[plane]
        for p in range(size):
            target[p] = wrapped[p] if wraps[p] else plain[p]
        _copy(target[:size], target[size:])


@compiled
def _build_walls(walls, width, right):
    """Write, for each shift to the left and right, 1 where the neighbour exists and 0 elsewhere."""
    wall = width - right
    for shift in range(1, walls.shape[0] // 2 + 1):
        for p in range(walls.shape[1]):
            w = p % width
            lower, upper = w - shift, w + shift
            walls[2 * shift - 2, p] = lower >= 0 and (lower < wall) == (w < wall)
            walls[2 * shift - 1, p] = upper < width and (upper < wall) == (w < wall)


@compiled
def _copy(source, target):
    for p in range(min(source.shape[0], target.shape[0])):
        target[p] = source[p]


@compiled
def _multiply_pixels(left, rolled, first, n_channels, reach, S):
    """Write inner products over channels to ``S``."""
    size = left.shape[1]
    target = S[reach : reach + size]
    a, b = left[0], rolled[0][first : first + size]
    for p in range(target.shape[0]):
        target[p] = a[p] * b[p]
    for channel in range(1, n_channels):
        a, b = left[channel], rolled[channel][first : first + size]
        for p in range(target.shape[0]):
            target[p] += a[p] * b[p]


@compiled
def _sum_patches(values, spare, walls, width, reach_h, reach_w, down):
    """Replace values by their sums over patches, along columns of the image and then along rows."""
    size = values.shape[0] - 2 * reach_w
    height = size // width
    source, target = values[reach_w : reach_w + size], spare[reach_w : reach_w + size]
    _copy(source, target)
    for part in range(2):
        first, stop = (0, height - down) if part == 0 else (height - down, height)
        for shift in range(1, min(reach_h, stop - first - 1) + 1):
            upper, lower = first * width, (first + shift) * width
            length = stop * width - lower
            _accumulate(source[lower : lower + length], target[upper : upper + length])
            _accumulate(source[upper : upper + length], target[lower : lower + length])
    if reach_w == 0:
        _copy(target, source)
    for shift in range(1, reach_w + 1):
        left, right = spare[reach_w - shift :], spare[reach_w + shift :]
        has_left, has_right = walls[2 * shift - 2], walls[2 * shift - 1]
        if shift == 1:
            for p in range(size):
                source[p] = target[p] + (left[p] * has_left[p] + right[p] * has_right[p])
        else:
            for p in range(size):
                source[p] += left[p] * has_left[p] + right[p] * has_right[p]


@compiled
def _accumulate(source, target):
    for p in range(target.shape[0]):
        target[p] += source[p]


@compiled
def _find_angles(S, inverse_x, inverse_y, reach, code):
    """Write sin²(θ/2) of acute angles and -cos²(θ/2) of obtuse ones to ``code``."""
    source = S[reach : reach + code.shape[0]]
    for p in range(code.shape[0]):
        half = 0.5 * source[p] * (inverse_x[p] * inverse_y[p])
        acute, obtuse = max(0.5 - half, 0.0), -max(0.5 + half, _SMALLEST)
        code[p] = obtuse if half < 0.0 else acute


@compiled
def _count_extremes(code, near):
    """Return how many angles are close to 0 or 180 degrees."""
    count = 0
    for p in range(code.shape[0]):
        count += abs(code[p]) < near
    return count


@compiled
def _measure_again(
    code, near, left, other, inverse_x, inverse_y, delta, deeper, reach_h, reach_w, down, right
):
    """Replace codes of extreme angles by ones whose leading digits have not cancelled.

    They are sums of squares: of the difference, or sum, of the unit patches of what the layer
    before gets (pixels, or norms), and, beyond the first layer, of what it has lost itself.
    """
    n_channels, height, width = left.shape
    for p in range(code.shape[0]):
        if abs(code[p]) >= near:
            continue
        h, w = p // width, p % width
        h_y, w_y = (h + down) % height, (w + right) % width
        a, b = inverse_x[h, w], inverse_y[h_y, w_y]
        sign = -1.0 if code[p] < 0.0 else 1.0
        found = 0.0
        for dh in range(-reach_h, reach_h + 1):
            for dw in range(-reach_w, reach_w + 1):
                in_x = 0 <= h + dh < height and 0 <= w + dw < width
                in_y = 0 <= h_y + dh < height and 0 <= w_y + dw < width
                for channel in range(n_channels):
                    u = a * left[channel, h + dh, w + dw] if in_x else 0.0
                    v = b * other[channel, h_y + dh, w_y + dw] if in_y else 0.0
                    found += 0.25 * (u - sign * v) ** 2
                    if deeper and in_x and in_y:
                        found += 0.5 * u * v * delta[p + dh * width + dw]
        code[p] = found if sign > 0.0 else -max(found, _SMALLEST)


@compiled
def _multiply_norms(norms_x, norms_y, factor, scale, scale_t):
    """Write the products of the norms of patches, in float64 and, times a factor, in real."""
    for p in range(scale.shape[0]):
        product = norms_x[p] * norms_y[p]
        scale[p] = product
        scale_t[p] = factor * product


@compiled
def _apply_layer(code, scale, taps, reach, delta, T):
    """Replace T by κ₀ T / taps + scale κ₁, and write δ = 1 - κ₁ to ``delta``."""
    real = code.dtype.type
    one, two = real(1.0), real(2.0)
    pi, inverse_pi, share = real(math.pi), real(1.0 / math.pi), real(1.0 / taps)
    tangent = T[reach : reach + code.shape[0]]
    for p in range(code.shape[0]):
        s = code[p]
        obtuse = s < real(0.0)
        w = -s if obtuse else s
        u = one - w if obtuse else w
        v = w if obtuse else one - w
        acute = two * math.sqrt(w) * arcsine_ratio(w)
        theta = pi - acute if obtuse else acute
        step = acute * inverse_pi if obtuse else one - acute * inverse_pi
        lost = two * u - (two * math.sqrt(u * v) - theta * (v - u)) * inverse_pi
        tangent[p] = step * share * tangent[p] + scale[p] * (one - lost)
        delta[p] = lost


@compiled
def _multiply_relu(scale, delta, reach, S):
    """Write scale κ₁ to ``S``, in float64."""
    target = S[reach : reach + scale.shape[0]]
    for p in range(scale.shape[0]):
        target[p] = scale[p] * (1.0 - delta[p])


@compiled
def _add(total, T, reach):
    source = T[reach : reach + total.shape[0]]
    for p in range(total.shape[0]):
        total[p] += source[p]
