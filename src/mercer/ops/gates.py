"""A layer of a network as features: activated projections, and columns that their slopes let pass.

For directions w with :math:`E[w w^\\top] = I` and columns y that do not depend on them,
:math:`2\\, \\mathrm{Step}(w \\cdot s)\\, \\mathrm{Step}(w \\cdot s')\\, y y'` has the mean
:math:`\\kappa_0(\\cos) E[y y']`: the product of two kernels, without a sketch of tensor products.
In place of the ReLU and its slope, the step, the first terms of its Hermite series will do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import frozen, is_numpy, like
from .._devices import has_fused_kernels
from .._registry import storable
from .patches import Picks, picked


@storable
@dataclass(frozen=True)
class Activation:
    r"""The ReLU, or the first terms of its Hermite series, and its slope.

    Attributes
    ----------
    relu, step : array
        Coefficients of powers of :math:`z = w \cdot s / \|s\|`, the constant first; of the
        activation divided by the norm, and of the slope. Empty for the ReLU itself.
    """

    relu: np.ndarray
    step: np.ndarray

    @classmethod
    def of_degree(cls, degree: int | None) -> Activation:
        """Return the Hermite series of the ReLU up to a degree; its slope is of one degree less.

        Examples
        --------
        >>> Activation.of_degree(2).step.round(3)
        array([0.5  , 0.399])
        """
        if degree is None:
            return cls(frozen(np.empty(0)), frozen(np.empty(0)))
        relu = [_relu_moment(order) / math.factorial(order) for order in range(degree + 1)]
        # The slope of He_l is l He_(l-1).
        step = [order * relu[order] for order in range(1, degree + 1)]
        powers = np.polynomial.hermite_e.herme2poly
        return cls(frozen(powers(relu)), frozen(powers(step)))

    @property
    def is_relu(self) -> bool:
        """Whether it is the ReLU itself."""
        return self.relu.size == 0


def _relu_moment(order: int) -> float:
    """Return E[ReLU(z) He(z)] for a standard normal z."""
    if order == 1:
        return 0.5
    if order % 2:
        return 0.0
    sign = -1 if order % 4 == 0 and order else 1
    return sign * math.prod(range(order - 3, 0, -2)) / math.sqrt(2 * math.pi)


def n_directions(n_columns: int) -> int:
    """Return how many directions give so many columns: each one serves with both signs.

    Examples
    --------
    >>> n_directions(5)
    3
    """
    return -(-n_columns // 2)


def activated(
    P: Any,
    norms: Any,
    planes: Any,
    picks: Picks,
    n_relu: int,
    activation: Activation,
    pooled: bool,
    xp: Any,
) -> Any:
    """Return activated projections, and beside them numbers of neighbours times slopes.

    Parameters
    ----------
    P : array of shape (n * height * width, k)
        Projections; the first ``ceil(n_relu / 2)`` are activated with both signs, and the slopes at
        the first ``ceil(g / 2)`` let columns pass, the second half of these with the other sign.
    norms : array of shape (n * height * width,) or None
        Norms of what was projected; the ReLU itself needs none.
    planes : array of shape (n, height, width, channels)
        What the columns are taken from.
    picks : Picks
        Which g columns.
    n_relu : int
        Columns of activated projections; may be 0.
    activation : Activation
        The ReLU or a series.
    pooled : bool
        Whether means over the positions of each image are wanted.

    Returns
    -------
    columns : array of shape (n, n_relu + g) if pooled, else (n, height, width, n_relu + g)

    Examples
    --------
    >>> P, signal = np.asarray([[0.5], [-1.0]]), np.ones((1, 1, 2, 1))
    >>> picks = Picks(np.zeros((3, 1), np.int32), np.ones(1))
    >>> relu = Activation.of_degree(None)
    >>> activated(P, None, signal, picks, 2, relu, False, np).round(2)[0, 0]
    array([[0.5 , 0.  , 1.41],
           [0.  , 1.  , 0.  ]])
    """
    n, height, width, _ = planes.shape
    size = n_relu + picks.places.shape[1]
    factor, root = math.sqrt(2 / max(n_relu, 1)), math.sqrt(2)
    shape: tuple[int, ...] = (n, size) if pooled else (n, height, width, size)
    if is_numpy(P):
        from ._jit import gates as jit

        out = np.zeros(shape, dtype=P.dtype)
        lengths = np.empty(0, P.dtype) if norms is None else norms
        about = (like(P, part) for part in (picks.scales, activation.relu, activation.step))
        jit.add_activated(
            *(P, lengths, np.ascontiguousarray(planes), picks.runs(parts=2), n_relu),
            *(factor, root, *about, pooled, np.reshape(out, (-1, size))),
        )
        return out / (height * width) if pooled else out
    if has_fused_kernels(P):
        from ._cuda import gates as cuda

        found = cuda.activated(
            *(P, norms, planes, like(P, picks.places), like(P, picks.scales), n_relu),
            *(factor, root, like(P, activation.relu), like(P, activation.step), pooled),
            picks.together,
        )
        return xp.reshape(found, shape)
    relu, gates = _values(P, norms, n_relu, picks.places.shape[1], activation, xp)
    passed = xp.astype(gates * root, planes.dtype) * picked(planes, picks, xp)
    columns = xp.concat([xp.astype(relu * factor, planes.dtype), passed], axis=1)
    if not pooled:
        return xp.reshape(columns, shape)
    by_image = xp.reshape(columns, (n, height * width, size))
    total = xp.sum(by_image, axis=1, dtype=like(P, picks.scales).dtype)
    return total / (height * width)


def _values(
    P: Any, norms: Any, n_relu: int, n_gated: int, activation: Activation, xp: Any
) -> tuple[Any, Any]:
    """Return activations and slopes for both signs of projections."""
    if not activation.is_relu:
        safe = xp.where(norms > 0, norms, xp.ones_like(norms))
        P = P / xp.astype(safe, P.dtype)[:, None]
    relu, gates = (
        xp.concat([P[:, : n_directions(size)], -P[:, : size - n_directions(size)]], axis=1)
        for size in (n_relu, n_gated)
    )
    if activation.is_relu:
        return xp.where(relu > 0, relu, xp.zeros_like(relu)), xp.astype(gates > 0, P.dtype)
    lengths = xp.astype(norms, P.dtype)[:, None]
    return lengths * _series(relu, activation.relu), _series(gates, activation.step)


def _series(z: Any, coefficients: np.ndarray) -> Any:
    """Return a polynomial by Horner's rule."""
    total = 0.0 * z + float(coefficients[-1])
    for coefficient in coefficients[-2::-1].tolist():
        total = total * z + coefficient
    return total
