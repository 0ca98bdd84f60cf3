"""Kernels of the inner product: exponential and polynomial."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import special

from .._sklearn import Interval
from ..ops.norms import row_norms
from ..ops.products import inner_products
from .base import Kernel, in_precision_of
from .stationary import LENGTHSCALE, in_range


class Exponential(Kernel):
    r"""The exponential kernel :math:`\exp(\langle x, y \rangle / \ell^2)`.

    On rows of equal norm it is the Gaussian kernel up to a constant.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The scale :math:`\ell`, or the rule that takes it from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Exponential
    >>> Exponential()(np.asarray([[1.0, 0.0]]), np.asarray([[1.0, 5.0]])).round(4)
    array([[2.7183]])
    """

    _parameter_constraints: dict[str, Any] = {"lengthscale": LENGTHSCALE}

    def __init__(self, lengthscale: float | str = 1.0) -> None:
        self.lengthscale: Any = lengthscale

    def taylor(self, degree: int) -> np.ndarray:
        """Return the coefficients of the powers of the inner product, up to a degree."""
        powers = np.arange(degree + 1)
        scales = -2 * powers * math.log(float(self.lengthscale)) - special.gammaln(powers + 1)
        return np.exp(scales)

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        X, Y, scale = in_range(X, Y, float(self.lengthscale), xp)
        return xp.exp(in_precision_of(out, inner_products(X, Y) / scale / scale))

    def _diag(self, X: Any, xp: Any) -> Any:
        return xp.exp((row_norms(X, xp) / self.lengthscale) ** 2)


class Polynomial(Kernel):
    r"""The polynomial kernel :math:`(\gamma \langle x, y \rangle + c)^p`.

    Parameters
    ----------
    degree : int, default=3
        The power :math:`p`.
    gamma : float, default=1.0
        The factor :math:`\gamma` (scikit-learn's default is one over the number of columns).
    coef0 : float, default=1.0
        The constant :math:`c`; not negative, or the kernel would not be positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2)(np.asarray([[1.0, 2.0]]), np.asarray([[3.0, 0.0]]))
    array([[16.]])
    """

    _parameter_constraints: dict[str, Any] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def taylor(self, degree: int | None = None) -> np.ndarray:
        """Return the coefficients of the powers of the inner product."""
        powers = np.arange(self.degree + 1)
        constants = float(self.coef0) ** (self.degree - powers)
        values = special.binom(self.degree, powers) * float(self.gamma) ** powers * constants
        return values if degree is None else values[: degree + 1]

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        return (self.gamma * inner_products(X, Y) + self.coef0) ** self.degree

    def _diag(self, X: Any, xp: Any) -> Any:
        return (self.gamma * row_norms(X, xp) ** 2 + self.coef0) ** self.degree
