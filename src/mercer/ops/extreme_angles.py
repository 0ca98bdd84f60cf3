"""Angles between patches of two images that are close to 0 or 180 degrees.

There the digits of the cosine have cancelled, and arccos makes √ε of an error ε: two flat patches
are enough. They are measured from differences instead. With u = sin²(θ/2) and n the norms
that a layer gets, those of its patches being r and r',

    u = (4Q)⁻¹ Σ_a (n_{p+a}/r - n'_{p'+a}/r')² + (2Q)⁻¹ Σ_a n_{p+a} n'_{p'+a} δ_{p+a, p'+a} / rr',

where δ = 1 - κ₁ is what the layer before has found; both sums have positive terms only.
In the first layer n are pixels, and δ is 0.
"""

from __future__ import annotations

from typing import Any

from .._array import as_floating

#: Codes of angles below which they are measured from differences, in float64: beyond, rounding
#: of the cosine changes the angle by less than 1e-12.
NEAR = 1e-7
#: Instead of 0 for an angle of exactly 180 degrees, as its sign is needed.
SMALLEST = 1e-30
#: Numbers that are held at a time while angles are measured again.
CHUNK = 2**16


def signed_code(near: Any, far: Any, obtuse: Any, xp: Any) -> Any:
    """Return sin²(θ/2) of acute angles and -cos²(θ/2) of obtuse ones."""
    tiny = xp.full_like(far, SMALLEST)
    return xp.where(
        obtuse, -xp.where(far > tiny, far, tiny), xp.where(near > 0, near, xp.zeros_like(near))
    )


def measured_again(
    code: Any,
    before: tuple[Any, Any],
    inverses: list[Any],
    delta: Any,
    reaches: tuple[int, int],
    pooled: bool,
    xp: Any,
) -> Any:
    """Return codes with those of extreme angles measured from differences.

    ``before`` is what the layer gets of both images, with a last axis of channels, and ``delta``
    what the layer before has found; ``None`` in the first layer.
    """
    extreme = xp.abs(code) < NEAR
    places = xp.nonzero(xp.reshape(extreme, (-1,)))[0]
    if places.shape[0] == 0:
        return code
    step = max(1, CHUNK // before[0].shape[3])
    parts = []
    for start in range(0, places.shape[0], step):
        some = places[start : min(start + step, places.shape[0])]
        parts.append(_measured(code, some, before, inverses, delta, reaches, pooled, xp))
    code[extreme] = xp.concat(parts)
    return code


def _measured(
    code: Any,
    places: Any,
    before: tuple[Any, Any],
    inverses: list[Any],
    delta: Any,
    reaches: tuple[int, int],
    pooled: bool,
    xp: Any,
) -> Any:
    """Return the codes at some places of the flattened array, as sums of squares."""
    height, width, n_channels = before[0].shape[1:]
    size = height * width
    if pooled:
        image, p, q = places // size**2, places // size % size, places % size
    else:
        image, p = places // size, places % size
        q = p
    a, b = (
        xp.take(xp.reshape(inverse, (-1,)), image * size + position, axis=0)
        for inverse, position in zip(inverses, (p, q), strict=True)
    )
    left, right = (xp.reshape(values, (-1, n_channels)) for values in before)
    obtuse = xp.take(xp.reshape(code, (-1,)), places, axis=0) < 0
    sign = xp.where(obtuse, -xp.ones_like(a), xp.ones_like(a))
    found = xp.zeros_like(a)
    for down in range(-reaches[0], reaches[0] + 1):
        for along in range(-reaches[1], reaches[1] + 1):
            step = down * width + along
            in_x, in_y = (_inside(at, down, along, height, width) for at in (p, q))
            u = _neighbours(left, image * size + p, step, in_x, xp) * a[:, None]
            v = _neighbours(right, image * size + q, step, in_y, xp) * b[:, None]
            difference = u - sign[:, None] * v
            found = found + 0.25 * xp.sum(difference * difference, axis=1)
            if delta is not None:
                # The layer before is one channel.
                lost = xp.reshape(as_floating(delta, "float64"), (-1, 1))
                moved = step * (size + 1) if pooled else step
                product = u * v * _neighbours(lost, places, moved, in_x & in_y, xp)
                found = found + 0.5 * product[:, 0]
    return signed_code(found, found, obtuse, xp)


def _inside(position: Any, down: int, along: int, height: int, width: int) -> Any:
    """Return which positions have a neighbour there."""
    h, w = position // width + down, position % width + along
    return (h >= 0) & (h < height) & (w >= 0) & (w < width)


def _neighbours(values: Any, places: Any, step: int, inside: Any, xp: Any) -> Any:
    """Return rows of values some places further, and zeros where there is none."""
    there = xp.where(inside, places + step, places)
    return xp.take(values, there, axis=0) * xp.astype(inside, values.dtype)[:, None]
