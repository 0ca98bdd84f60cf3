"""Kernels of wide ReLU networks: arc-cosine, NNGP and NTK, functions of angle and norms."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any

from .._registry import storable
from .._sklearn import Interval, Options
from ..ops.angles import RELU, STEP, TANGENT, relu_kernel_of_rows
from ..ops.norms import row_norms
from .base import Kernel


class Angular(Kernel):
    """A kernel |x| |y| κ(angle), or κ(angle) alone; zero where a row is zero."""

    @abstractmethod
    def layers(self) -> tuple[int, int]:
        """Return the number of layers and which quantity of the last is the kernel."""

    def _at_one(self) -> float:
        """Return k(x, x) for a unit row."""
        return 1.0

    def norm_power(self) -> int:
        """Return the power of the norms that the kernel is multiplied with."""
        return 0 if self.layers()[1] == STEP else 1

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        depth, quantity = self.layers()
        return relu_kernel_of_rows(X, Y, depth, quantity, xp, out)

    def _diag(self, X: Any, xp: Any) -> Any:
        norms = row_norms(X, xp)
        if self.layers()[1] == STEP:
            return xp.sign(norms)
        return self._at_one() * norms * norms


@storable
class ArcCosine(Angular):
    r"""The arc-cosine kernel of order 0 or 1 (Cho & Saul 2009).

    With :math:`\theta` the angle between x and y,

    .. math:: k_0 = 1 - \theta/\pi, \qquad
              k_1 = \|x\| \|y\| (\sin\theta + (\pi - \theta) \cos\theta) / \pi,

    that is :math:`2\,\mathbb{E}[\sigma(w^\top x)\,\sigma(w^\top y)]` for a standard normal
    :math:`w` and :math:`\sigma` the step or the ReLU function. Both are 0 where a row is
    zero.

    Parameters
    ----------
    order : {0, 1}, default=1
        Step (0) or ReLU (1).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import ArcCosine
    >>> ArcCosine(order=1)(np.eye(2)).round(4)
    array([[1.    , 0.3183],
           [0.3183, 1.    ]])
    """

    _parameter_constraints: dict[str, Any] = {"order": [Options(Integral, {0, 1})]}

    def __init__(self, order: int = 1) -> None:
        self.order = order

    def layers(self) -> tuple[int, int]:
        """Return the number of layers and which quantity of the last is the kernel."""
        return 1, (STEP if self.order == 0 else RELU)


_DEPTH = [Interval(Integral, 1, None, closed="left")]


@storable
class NNGP(Angular):
    r"""The Gaussian process kernel of a ReLU network of infinite width.

    :math:`\|x\| \|y\|\, \kappa_1(\kappa_1(\dots \kappa_1(\cos\theta)))`, the arc-cosine
    function of order 1 applied once a layer.

    Parameters
    ----------
    depth : int, default=1
        The number of hidden layers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import NNGP
    >>> NNGP(depth=2)(np.eye(2)).round(4)
    array([[1.    , 0.4937],
           [0.4937, 1.    ]])
    """

    _parameter_constraints: dict[str, Any] = {"depth": _DEPTH}

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def layers(self) -> tuple[int, int]:
        """Return the number of layers and which quantity of the last is the kernel."""
        return self.depth, RELU


@storable
class NTK(Angular):
    r"""The neural tangent kernel of a ReLU network of infinite width.

    With :math:`S_0 = K_0 = \cos\theta` and, for every hidden layer,
    :math:`K_l = K_{l-1}\, \kappa_0(S_{l-1}) + S_l`, :math:`S_l = \kappa_1(S_{l-1})`, the
    kernel is :math:`\|x\| \|y\|\, K_L`. On the diagonal it is :math:`(L + 1) \|x\|^2`.
    The recursion runs on the angle, so that almost equal rows lose no digits.

    Parameters
    ----------
    depth : int, default=1
        The number L of hidden layers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import NTK
    >>> NTK(depth=2)(np.eye(2)).round(4)
    array([[3.    , 0.6857],
           [0.6857, 3.    ]])
    """

    _parameter_constraints: dict[str, Any] = {"depth": _DEPTH}

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def layers(self) -> tuple[int, int]:
        """Return the number of layers and which quantity of the last is the kernel."""
        return self.depth, TANGENT

    def _at_one(self) -> float:
        return self.depth + 1.0
