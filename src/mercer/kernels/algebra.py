"""Sums, products and multiples of kernels are kernels."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .._registry import storable
from .._sklearn import Interval
from .base import Kernel, diag_of, tile_of


class _Pair(Kernel):
    """Two kernels made into one."""

    _parameter_constraints: dict[str, Any] = {"left": [Kernel], "right": [Kernel]}

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def _tiles(self, X: Any, Y: Any, xp: Any, out: Any) -> tuple[Any, Any]:
        other = None if out is None else xp.empty_like(out)
        return tile_of(self.left, X, Y, xp, out), tile_of(self.right, X, Y, xp, other)


@storable
class Sum(_Pair):
    r"""The sum :math:`k_1(x, y) + k_2(x, y)`; written ``k1 + k2``.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import NTK, Gaussian
    >>> (Gaussian() + NTK(depth=1)).diag(np.eye(2))
    array([3., 3.])
    """

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        left, right = self._tiles(X, Y, xp, out)
        return left + right

    def _diag(self, X: Any, xp: Any) -> Any:
        return diag_of(self.left, X, xp) + diag_of(self.right, X, xp)


@storable
class Product(_Pair):
    r"""The product :math:`k_1(x, y)\, k_2(x, y)`; written ``k1 * k2``.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> (Gaussian() * Polynomial(degree=2)).diag(np.eye(2))
    array([4., 4.])
    """

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        left, right = self._tiles(X, Y, xp, out)
        return left * right

    def _diag(self, X: Any, xp: Any) -> Any:
        return diag_of(self.left, X, xp) * diag_of(self.right, X, xp)


@storable
class Scaled(Kernel):
    r"""The multiple :math:`c\, k(x, y)`; written ``c * k``.

    Parameters
    ----------
    kernel : Kernel
        What to scale.
    scale : float, default=1.0
        The factor :math:`c`, positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import NTK
    >>> (0.5 * NTK(depth=1)).diag(np.eye(2))
    array([1., 1.])
    """

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel],
        "scale": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, kernel: Kernel, scale: float = 1.0) -> None:
        self.kernel = kernel
        self.scale = scale

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        return tile_of(self.kernel, X, Y, xp, out) * self.scale

    def _diag(self, X: Any, xp: Any) -> Any:
        return diag_of(self.kernel, X, xp) * self.scale
