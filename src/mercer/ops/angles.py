"""Kernels of ReLU networks as functions of the angle between two rows.

With θ the angle and δ = 1 - κ₁(cos θ), one layer of the network maps (Cho & Saul 2009)

    D = κ₀ = 1 - θ/π,    S = κ₁ = 1 - δ,    K ← K D + S,    θ ← 2 arcsin √(δ/2).

The recursion runs on u = sin²(θ/2), never on the cosine: arccos has an infinite slope at
±1, where a rounding error ε of the cosine becomes √(2ε) in the angle. From u follow
θ = 2 arcsin √u, sin θ = 2 √(u(1-u)), cos θ = 1 - 2u, and δ/2 is the next u; it is at most
1/2 because κ₁ ≥ 0, so only the first layer sees obtuse angles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import is_numpy
from .._devices import has_fused_kernels
from .distances import NEAR, signed_half_chords
from .norms import unit_rows
from .products import inner_products

#: Which quantity of the last layer is wanted.
STEP, RELU, TANGENT = 0, 1, 2


def relu_kernel(
    code: Any,
    norms: tuple[Any, Any],
    depth: int,
    quantity: int,
    xp: Any,
    out: Any = None,
) -> Any:
    """Return D, S or K of layer ``depth`` at the given angles, times the norms of the rows.

    Parameters
    ----------
    code : float64 array
        Angles, as :func:`mercer.ops.distances.signed_half_chords` codes them.
    norms : pair of arrays of shape (n,) and (m,)
        What to multiply rows and columns with.
    depth : int
        Number of layers, at least 1.
    quantity : {STEP, RELU, TANGENT}
        D = κ₀, S = κ₁ (arc-cosine kernels, NNGP) or K (NTK) of the last layer.
    out : NumPy array, optional
        Where to put the result; its dtype is the precision of the recursion.
    """
    if is_numpy(code):
        from ._jit import angles as jit

        target = np.empty(code.shape) if out is None else out
        left, right = (side.astype(target.dtype, copy=False) for side in norms)
        jit.relu_layers(code, left, right, depth, quantity, target)
        return target
    return relu_kernel_twin(code, depth, quantity, xp) * (norms[0][:, None] * norms[1][None, :])


def relu_kernel_of_rows(X: Any, Y: Any, depth: int, quantity: int, xp: Any, out: Any = None) -> Any:
    """Return D, S or K of layer ``depth`` for the rows of two float64 blocks.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
        The rows.
    depth, quantity, out
        As in :func:`relu_kernel`; ``out`` of any library that has fused kernels.
    """
    if has_fused_kernels(X) and out is not None:
        from ._cuda import angles as cuda

        unit_x, norms_x = unit_rows(X, xp)
        unit_y, norms_y = (unit_x, norms_x) if X is Y else unit_rows(Y, xp)
        norms = _scales(norms_x, norms_y, quantity, xp)
        cosines, rows = inner_products(unit_x, unit_y), (unit_x, unit_y)
        return cuda.relu_kernel_of_cosines(cosines, rows, norms, depth, quantity, NEAR, out)
    code, norms_x, norms_y = signed_half_chords(X, Y, xp)
    norms = _scales(norms_x, norms_y, quantity, xp)
    return relu_kernel(code, norms, depth, quantity, xp, out)


def _scales(norms_x: Any, norms_y: Any, quantity: int, xp: Any) -> tuple[Any, Any]:
    """Return what rows and columns are multiplied with."""
    if quantity == STEP:
        return xp.sign(norms_x), xp.sign(norms_y)
    return norms_x, norms_y


def relu_kernel_twin(code: Any, depth: int, quantity: int, xp: Any) -> Any:
    """Return the same as :func:`relu_kernel` for unit rows, in any array library."""
    tangent = xp.where(code < 0, -2 * code - 1, 1 - 2 * code)
    for _ in range(depth):
        step, delta = relu_layer(code, xp)
        tangent = tangent * step + (1 - delta)
        code = xp.where(delta > 0, delta, xp.zeros_like(delta)) / 2
    return (step, 1 - delta, tangent)[quantity]


def relu_layer(code: Any, xp: Any) -> tuple[Any, Any]:
    """Return κ₀ and δ = 1 - κ₁ at given angles, in any array library.

    Parameters
    ----------
    code : array
        Angles, as :func:`mercer.ops.distances.signed_half_chords` codes them.

    Examples
    --------
    >>> relu_layer(np.asarray([0.0, 0.5]), np)
    (array([1. , 0.5]), array([0.        , 0.68169011]))
    """
    obtuse = code < 0
    w = xp.abs(code)
    u = xp.where(obtuse, 1 - w, w)
    v = xp.where(obtuse, w, 1 - w)
    acute = 2 * xp.asin(xp.sqrt(w))
    theta = xp.where(obtuse, math.pi - acute, acute)
    step = xp.where(obtuse, acute / math.pi, 1 - acute / math.pi)
    return step, 2 * u - (2 * xp.sqrt(u * v) - theta * (v - u)) / math.pi
