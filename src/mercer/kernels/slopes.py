"""Slopes of kernels: how k(x, z) changes with the norms and the inner product of its rows.

Every kernel here is a function of a = |x|², b = |z|² and c = <x, z>. Its three partial
derivatives, a tile each, give all derivatives there are: of the rows x and z, and of a weight
matrix M in k(M^½ x, M^½ z), where a, b and c become xᵀMx, zᵀMz and xᵀMz.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any, NamedTuple

from .._array import is_numpy
from ..engine.blocks import cut
from ..ops.angles import STEP, TANGENT
from ..ops.distances import signed_half_chords, squared_distances
from ..ops.norms import unit_rows
from ..ops.products import inner_products
from .algebra import Scaled, Sum
from .base import Kernel, tile_of
from .dot_product import Exponential, Polynomial
from .gaussian import Gaussian
from .laplace import Laplace, ProductLaplace
from .matern import Matern
from .powered import PoweredExponential, raised
from .relu import NNGP, NTK, ArcCosine
from .series import PowerSeries
from .stationary import Isotropic, in_range

#: Rows nearer than this, in lengthscales or as an angle, count as equal where the kernel has
#: a cone: equal rows that were reweighted in different blocks differ by rounding.
COINCIDENT = 1e-7
#: Angles that are taken through the layers of a network at once on a CPU.
STRIP = 2**15


class Slopes(NamedTuple):
    """Tiles with ∂k/∂x = own · x + cross · z and ∂k/∂z = other · z + cross · x; ``None`` is 0."""

    own: Any
    cross: Any
    other: Any


@singledispatch
def slopes(kernel: Kernel, X: Any, Y: Any, xp: Any) -> Slopes:
    r"""Return the partial derivatives of a kernel for all pairs of rows of two blocks.

    With :math:`a = \|x\|^2`, :math:`b = \|z\|^2`, :math:`c = \langle x, z \rangle` they are
    :math:`P = 2\,\partial k/\partial a`, :math:`Q = \partial k/\partial c` and
    :math:`R = 2\,\partial k/\partial b`, so that :math:`\nabla_x k = P x + Q z`.

    Where a kernel has a cone its derivative is taken as the mean over opposite directions:
    the Laplace kernel (and Matérn 1/2, and powered exponentials below power 2) at equal rows
    has slopes 0, and of the neural tangent kernel at parallel and opposite rows the term that
    becomes infinite is left out; in :math:`P x + Q z` it is multiplied by zero there. The
    slopes of a zero row are 0 for zonal kernels.

    Parameters
    ----------
    kernel : Kernel
        A function of norms and inner products with known slopes, and numbers for parameters.
    X, Y : float64 arrays of shape (n, d) and (m, d)
        Dense blocks of rows.
    xp : namespace
        The array library of the blocks.

    Returns
    -------
    own, cross, other : arrays of shape (n, m)
        P, Q and R. ``None`` stands for zeros, in P and R of kernels of the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> X, Y = np.asarray([[1.0, 0.0]]), np.asarray([[1.0, 2.0]])
    >>> slopes(Polynomial(degree=2), X, Y, np)
    Slopes(own=None, cross=array([[4.]]), other=None)
    >>> own, cross, other = slopes(Gaussian(lengthscale=2.0), X, Y, np)
    >>> cross.round(4), own.round(4)
    (array([[0.1516]]), array([[-0.1516]]))
    """
    raise TypeError(_refusal(kernel))


@singledispatch
def is_radial(kernel: Kernel) -> bool:
    """Return whether a kernel depends on x - z alone, so that all rows may be shifted."""
    return False


@is_radial.register
def _stationary_is(kernel: Isotropic | ProductLaplace | PoweredExponential) -> bool:
    return True


@is_radial.register
def _scaled_is(kernel: Scaled) -> bool:
    return is_radial(kernel.kernel)


@is_radial.register
def _sum_is(kernel: Sum) -> bool:
    return is_radial(kernel.left) and is_radial(kernel.right)


@singledispatch
def slopes_of_values(kernel: Kernel, K: Any) -> Slopes | None:
    """Return the slopes from the values of a kernel, or ``None`` if they do not follow.

    They do for the Gaussian and the exponential kernel and their multiples.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Exponential
    >>> slopes_of_values(Exponential(2.0), np.asarray([[8.0]])).cross
    array([[2.]])
    """
    return None


@slopes_of_values.register
def _values_of_gaussian(kernel: Gaussian, K: Any) -> Slopes:
    scale = float(kernel.lengthscale)
    return _radial(K / scale / scale)


@slopes_of_values.register
def _values_of_exponential(kernel: Exponential, K: Any) -> Slopes:
    scale = float(kernel.lengthscale)
    return Slopes(None, K / scale / scale, None)


@slopes_of_values.register
def _values_of_scaled(kernel: Scaled, K: Any) -> Slopes | None:
    return slopes_of_values(kernel.kernel, K)


@slopes.register
def _of_values(kernel: Gaussian | Exponential, X: Any, Y: Any, xp: Any) -> Slopes:
    found = slopes_of_values(kernel, tile_of(kernel, X, Y, xp))
    assert found is not None
    return found


@slopes.register
def _laplace(kernel: Laplace, X: Any, Y: Any, xp: Any) -> Slopes:
    return _cone(_distances(kernel, X, Y, xp), float(kernel.lengthscale), xp)


@slopes.register
def _matern(kernel: Matern, X: Any, Y: Any, xp: Any) -> Slopes:
    scale = float(kernel.lengthscale)
    distances = _distances(kernel, X, Y, xp)
    if kernel.nu == 0.5:
        return _cone(distances, scale, xp)
    s = distances * math.sqrt(2 * kernel.nu)
    decay = xp.exp(-s)
    if kernel.nu == 1.5:
        return _radial(3 * decay / scale / scale)
    # Beyond the range of exp the polynomial may be infinite; the product is 0.
    s = xp.where(decay > 0, s, xp.zeros_like(s))
    return _radial((5 / 3) * (1 + s) * decay / scale / scale)


@slopes.register
def _powered(kernel: PoweredExponential, X: Any, Y: Any, xp: Any) -> Slopes:
    if kernel.norm != "euclidean":
        raise TypeError(_refusal(kernel))
    power, scale = float(kernel.power), float(kernel.lengthscale)
    distances = _distances(kernel, X, Y, xp)
    if power == 2:
        return _radial(2 * xp.exp(-distances * distances) / scale / scale)
    return _cone(distances, scale, xp, power)


@slopes.register
def _polynomial(kernel: Polynomial, X: Any, Y: Any, xp: Any) -> Slopes:
    base = kernel.gamma * inner_products(X, Y) + kernel.coef0
    return Slopes(None, kernel.degree * kernel.gamma * base ** (kernel.degree - 1), None)


@slopes.register
def _power_series(kernel: PowerSeries, X: Any, Y: Any, xp: Any) -> Slopes:
    if not kernel.normalized:
        _, slope = _series(kernel, inner_products(X, Y))
        return Slopes(None, slope, None)
    (left, norms_x), (right, norms_y) = unit_rows(X, xp), unit_rows(Y, xp)
    cosines = inner_products(left, right)
    value, slope = _series(kernel, cosines)
    return _angular(value - cosines * slope, slope, norms_x, norms_y, xp)


@slopes.register
def _relu(kernel: ArcCosine | NNGP | NTK, X: Any, Y: Any, xp: Any) -> Slopes:
    depth, quantity = kernel.layers()
    if quantity == STEP:
        # The step function is flat wherever it has a derivative.
        raise TypeError(_refusal(kernel))
    code, norms_x, norms_y = signed_half_chords(X, Y, xp)
    rest, slope = _by_strips(code, depth, quantity == TANGENT, xp)
    return _angular(rest, slope, norms_x, norms_y, xp)


@slopes.register
def _sum(kernel: Sum, X: Any, Y: Any, xp: Any) -> Slopes:
    left, right = slopes(kernel.left, X, Y, xp), slopes(kernel.right, X, Y, xp)
    return Slopes(*(_plus(one, two) for one, two in zip(left, right, strict=True)))


@slopes.register
def _scaled(kernel: Scaled, X: Any, Y: Any, xp: Any) -> Slopes:
    parts = slopes(kernel.kernel, X, Y, xp)
    return Slopes(*(None if part is None else part * kernel.scale for part in parts))


def _plus(one: Any, two: Any) -> Any:
    """Return the sum of two tiles, where ``None`` is zero."""
    if one is None or two is None:
        return two if one is None else one
    return one + two


def _distances(kernel: Isotropic | PoweredExponential, X: Any, Y: Any, xp: Any) -> Any:
    """Return distances in units of the lengthscale."""
    X, Y, scale = in_range(X, Y, float(kernel.lengthscale), xp)
    return xp.sqrt(squared_distances(X, Y, xp)) / scale


def _radial(fall: Any) -> Slopes:
    """Return the slopes of φ(|x - z|²) from ``fall`` = -2 φ'."""
    own = -fall
    return Slopes(own, fall, own)


def _cone(distances: Any, scale: float, xp: Any, power: float = 1.0) -> Slopes:
    """Return the slopes of exp(-r^p), with 0 at r = 0, where the kernel has a cone or a cusp."""
    apart = distances > COINCIDENT
    safe = xp.where(apart, distances, xp.ones_like(distances))
    fall = xp.exp(-raised(safe, power)) / safe
    if power != 1:
        fall = power * safe ** (power - 1) * fall
    return _radial(xp.where(apart, fall, xp.zeros_like(fall)) / scale / scale)


def _angular(rest: Any, slope: Any, norms_x: Any, norms_y: Any, xp: Any) -> Slopes:
    """Return the slopes of |x| |z| κ(t) from ``rest`` = κ - t κ' and ``slope`` = κ'."""
    inverse_x, inverse_y = _inverse(norms_x, xp), _inverse(norms_y, xp)
    own = rest * (inverse_x[:, None] * norms_y[None, :])
    other = rest * (norms_x[:, None] * inverse_y[None, :])
    cross = slope * (xp.sign(norms_x)[:, None] * xp.sign(norms_y)[None, :])
    return Slopes(own, cross, other)


def _inverse(norms: Any, xp: Any) -> Any:
    """Return one over the norms, and 0 for zero rows."""
    zero = xp.zeros_like(norms)
    return xp.where(norms > 0, 1 / xp.where(norms > 0, norms, zero + 1), zero)


def _series(kernel: PowerSeries, t: Any) -> tuple[Any, Any]:
    """Return a power series and its derivative, by Horner's rule for both at once."""
    value, slope = t * 0, t * 0
    for c in kernel.taylor()[::-1]:
        slope = slope * t + value
        value = value * t + float(c)
    return value, slope


def _by_strips(code: Any, depth: int, tangent: bool, xp: Any) -> tuple[Any, Any]:
    """Return what :func:`_relu_layers` does, a few rows at a time on the CPU.

    The recursion holds a dozen arrays, and is fast where they stay in the cache.
    """
    if not is_numpy(code):
        return _relu_layers(code, depth, tangent, xp)
    rest, slope = xp.empty_like(code), xp.empty_like(code)
    for start, stop in cut(code.shape[0], max(1, STRIP // code.shape[1])):
        found = _relu_layers(code[start:stop], depth, tangent, xp)
        rest[start:stop], slope[start:stop] = found
    return rest, slope


def _relu_layers(code: Any, depth: int, tangent: bool, xp: Any) -> tuple[Any, Any]:
    """Return κ - t κ' and κ' of NNGP or NTK at angles as ``signed_half_chords`` codes them.

    The chain rule through the layers S ← κ₁(S), K ← K κ₀(S) + κ₁(S), on half angles as in
    :mod:`mercer.ops.angles`, with κ₁' = κ₀ and κ₀' = 1/(π sin θ). The difference κ - t κ' has
    a recursion of its own, since κ₁(s) = sin θ/π + s κ₀(s): nothing cancels for NNGP.
    """
    w = xp.abs(code)
    obtuse = code < 0
    # κ₀' is infinite for parallel rows in every layer, for opposite ones in the first; in the
    # later ones it is multiplied by κ₀ = 0.
    apart = w > COINCIDENT**2 / 4
    u, v = xp.where(obtuse, 1 - w, w), xp.where(obtuse, w, 1 - w)
    acute = 2 * xp.asin(xp.sqrt(w))
    theta = xp.where(obtuse, math.pi - acute, acute)
    step = xp.where(obtuse, acute, math.pi - acute) / math.pi
    cosine = v - u
    relu_rest, relu_slope = xp.zeros_like(w), xp.ones_like(w)
    value, rest, slope = cosine, relu_rest, relu_slope
    for layer in range(depth):
        sine = 2 * xp.sqrt(u * v)
        delta = 2 * u - (sine - theta * (v - u)) / math.pi
        if tangent:
            safe = xp.where(apart, sine, xp.ones_like(sine))
            bend = xp.where(apart, value * relu_slope / safe, xp.zeros_like(safe)) / math.pi
            rest, slope = rest * step - cosine * bend, slope * step + bend
            value = value * step + (1 - delta)
        relu_rest, relu_slope = relu_rest * step + sine / math.pi, relu_slope * step
        if tangent:
            rest, slope = rest + relu_rest, slope + relu_slope
        if layer + 1 < depth:
            u = xp.where(delta > 0, delta, xp.zeros_like(delta)) / 2
            v = 1 - u
            theta = 2 * xp.asin(xp.sqrt(u))
            step = 1 - theta / math.pi
    return (rest, slope) if tangent else (relu_rest, relu_slope)


def _refusal(kernel: Kernel) -> str:
    return f"{kernel!r} has no known slopes by norms and inner products."
