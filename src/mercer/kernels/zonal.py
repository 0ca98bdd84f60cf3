"""Zonal and dot-product kernels from a function, and generalised zonal kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._array import like
from .._sklearn import Interval
from ..ops.gegenbauer import legendre
from ..ops.norms import row_norms, unit_rows
from ..ops.products import dense, inner_products
from .base import Kernel
from .series import horner
from .taylor import analytic_taylor


class Zonal(Kernel):
    r"""A zonal kernel, of the angle alone: :math:`\kappa(\cos(x, y))`, 0 where a row is zero.

    Parameters
    ----------
    kappa : callable
        A function of arrays of cosines. If it takes complex numbers too, its powers of the
        cosine are known, and features work in any dimension; else up to 16, or for low
        degrees.
    homogeneous : bool, default=False
        Multiply with the norms, :math:`\|x\| \|y\| \kappa`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Zonal
    >>> def poisson(t):
    ...     return 0.75 / (1.25 - t) ** 1.5
    >>> Zonal(poisson)(np.eye(2), np.asarray([[3.0, 0.0]])).round(3)
    array([[6.   ],
           [0.537]])
    """

    _parameter_constraints: dict[str, Any] = {"kappa": [callable], "homogeneous": ["boolean"]}
    #: A series of the cosine, as the method ``taylor`` returns it.
    normalized = True

    def __init__(self, kappa: Callable[..., Any], homogeneous: bool = False) -> None:
        self.kappa = kappa
        self.homogeneous = homogeneous

    def taylor(self, degree: int) -> np.ndarray | None:
        """Return the coefficients of the powers of the cosine, or ``None`` if not known."""
        found = analytic_taylor(self.kappa, 1.0)
        return None if found is None else found[: degree + 1]

    def norm_power(self) -> int:
        """Return the power of the norms that the kernel is multiplied with."""
        return 1 if self.homogeneous else 0

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        (left, left_norms), (right, right_norms) = unit_rows(X, xp), unit_rows(Y, xp)
        cosines = xp.clip(inner_products(left, right), -1.0, 1.0)
        if not self.homogeneous:
            left_norms, right_norms = xp.sign(left_norms), xp.sign(right_norms)
        return self.kappa(cosines) * (left_norms[:, None] * right_norms[None, :])

    def _diag(self, X: Any, xp: Any) -> Any:
        norms = row_norms(X, xp)
        scale = norms * norms if self.homogeneous else xp.sign(norms)
        return self.kappa(scale * 0 + 1.0) * scale


class DotProduct(Kernel):
    r"""A kernel of the inner product: :math:`\kappa(\langle x, y \rangle)`.

    Parameters
    ----------
    kappa : callable or sequence of float
        A function of arrays of inner products, or its Taylor coefficients at 0. For
        features the function must take complex numbers.
    reach : float, default=1.0
        The largest product of norms that occurs: up to there the series of a function must
        converge.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DotProduct
    >>> DotProduct(np.cosh).taylor(4).round(4)
    array([1.    , 0.    , 0.5   , 0.    , 0.0417])
    >>> DotProduct([0.0, 1.0, 1.0])(np.asarray([[1.0, 1.0]]))
    array([[6.]])
    """

    _parameter_constraints: dict[str, Any] = {
        "kappa": [callable, "array-like"],
        "reach": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, kappa: Callable[..., Any] | Sequence[float] = (0.0, 1.0), reach: float = 1.0
    ) -> None:
        self.kappa = kappa
        self.reach = reach

    def taylor(self, degree: int) -> np.ndarray:
        """Return the coefficients of the powers of the inner product, up to a degree."""
        if not callable(self.kappa):
            found: Any = np.asarray(self.kappa, dtype=float)
            if found.ndim != 1 or found.size == 0:
                raise ValueError(
                    "kappa must be a function or a list of at least one Taylor coefficient, got "
                    f"{self.kappa!r}."
                )
        else:
            found = analytic_taylor(self.kappa, float(self.reach))
        if found is None:
            raise ValueError(
                f"{self!r} is not the sum of its Taylor series for inner products up to "
                f"{self.reach:g}, or does not take complex numbers; give the coefficients "
                "instead, or a smaller reach."
            )
        sizes = found * float(self.reach) ** np.arange(len(found))
        if not (sizes >= -1e-10 * abs(sizes).max()).all():
            raise ValueError(
                f"{self!r} is not positive definite in every dimension: its Taylor coefficients "
                f"are {np.round(found[:5], 6)}, ...; none may be negative."
            )
        return np.maximum(found[: degree + 1], 0.0)

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        return self._of(inner_products(X, Y))

    def _diag(self, X: Any, xp: Any) -> Any:
        return self._of(row_norms(X, xp) ** 2)

    def _of(self, products: Any) -> Any:
        if callable(self.kappa):
            return self.kappa(products)
        return horner(self.taylor(len(self.kappa)), products)


class GeneralizedZonal(Kernel):
    r"""A sum over degrees, :math:`\sum_l \langle h_l(\|x\|), h_l(\|y\|) \rangle P_l(\cos)`.

    :math:`P_l` is the Gegenbauer polynomial of the dimension of the rows, 1 at 1, and the
    :math:`h_l` are functions of the norm with ``order`` values each.

    Parameters
    ----------
    h : callable
        Called as ``h(l, r)`` with an array of norms; returns an array of shape
        ``(len(r), order)``, or ``(len(r),)`` for order 1.
    degree : int, default=8
        The highest degree l.
    order : int, default=1
        How many values a radial function has.
    center : array of shape (n_features,), default=None
        Subtracted from the rows first.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GeneralizedZonal
    >>> kernel = GeneralizedZonal(lambda l, r: r ** (2 * l), degree=2)
    >>> kernel(np.asarray([[2.0, 0.0, 0.0]]))
    array([[273.]])
    """

    _parameter_constraints: dict[str, Any] = {
        "h": [callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "order": [Interval(Integral, 1, None, closed="left")],
        "center": ["array-like", None],
    }

    def __init__(
        self, h: Callable[..., Any], degree: int = 8, order: int = 1, center: Any = None
    ) -> None:
        self.h = h
        self.degree = degree
        self.order = order
        self.center = center

    def radial(self, l: int, norms: Any, xp: Any) -> Any:
        """Return the values of a radial function, an array of shape (n, order)."""
        values = self.h(l, norms)
        if values.ndim == 1:
            values = values[:, None]
        if tuple(values.shape) != (norms.shape[0], self.order):
            raise ValueError(
                f"h({l}, r) must have the shape ({norms.shape[0]}, {self.order}) for "
                f"{norms.shape[0]} norms and order={self.order}, got {tuple(values.shape)}."
            )
        return values

    def _centred(self, X: Any) -> Any:
        if self.center is None:
            return X
        X = dense(X)
        return X - like(X, np.asarray(self.center, dtype=float))

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        left, left_norms = unit_rows(self._centred(X), xp)
        right, right_norms = unit_rows(self._centred(Y), xp)
        total: Any = 0.0
        cosines = xp.clip(inner_products(left, right), -1.0, 1.0)
        for l, polynomial in enumerate(legendre(cosines, X.shape[1], self.degree)):
            radial = self.radial(l, left_norms, xp) @ self.radial(l, right_norms, xp).T
            radial *= polynomial
            if l == 0:
                total = radial
            else:
                total += radial
            # Not held while the next polynomial is computed.
            del radial, polynomial
        return total

    def _diag(self, X: Any, xp: Any) -> Any:
        norms = row_norms(self._centred(X), xp)
        total: Any = 0.0
        for l in range(self.degree + 1):
            total = total + xp.sum(self.radial(l, norms, xp) ** 2, axis=1)
        return total
