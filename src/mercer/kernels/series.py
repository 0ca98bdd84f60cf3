"""Kernels that are power series, and power series that are close to kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from ..ops.norms import row_norms, unit_rows
from ..ops.products import inner_products
from .base import Kernel
from .relu import NTK

#: Nodes of the fit of a polynomial.
NODES = 400


class PowerSeries(Kernel):
    r"""A power series with non-negative coefficients, of the inner product or of the cosine.

    :math:`\sum_j c_j \langle x, y \rangle^j`, or with ``normalized``
    :math:`\|x\| \|y\| \sum_j c_j \cos(x, y)^j`, which is 0 where a row is zero.

    Parameters
    ----------
    coefficients : sequence of float, default=(0.0, 1.0)
        c₀, c₁, c₂, ..., none negative.
    normalized : bool, default=False
        Whether it is a series of the cosine.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import PowerSeries
    >>> PowerSeries((1.0, 2.0, 1.0))(np.asarray([[1.0, 2.0]]), np.asarray([[3.0, 0.0]]))
    array([[16.]])
    """

    _parameter_constraints: dict[str, Any] = {
        "coefficients": ["array-like"],
        "normalized": ["boolean"],
    }

    def __init__(
        self, coefficients: Sequence[float] = (0.0, 1.0), normalized: bool = False
    ) -> None:
        self.coefficients = coefficients
        self.normalized = normalized

    @classmethod
    def near(cls, kernel: Kernel, degree: int = 8) -> PowerSeries:
        """Return the series of the cosine that is nearest to a zonal kernel.

        Parameters
        ----------
        kernel : Kernel
            :class:`~mercer.NTK`, :class:`~mercer.NNGP`, ``ArcCosine(order=1)`` or another
            kernel ‖x‖ ‖y‖ f(cos).
        degree : int, default=8
            The highest power.

        Returns
        -------
        series : PowerSeries

        Examples
        --------
        >>> from mercer import NNGP, PowerSeries
        >>> PowerSeries.near(NNGP(depth=1), degree=2).taylor().round(2)
        array([0.32, 0.5 , 0.18])
        """
        fitted = nonnegative_fit(kernel, degree)
        return cls(tuple(float(c) for c in fitted), normalized=True)

    def taylor(self, degree: int | None = None) -> np.ndarray:
        """Return the coefficients, up to a degree."""
        values = np.asarray(self.coefficients, dtype=float)
        if values.ndim != 1 or values.size == 0 or not (values >= 0).all():
            raise ValueError(
                f"coefficients must hold at least one number, none negative, got {values!r}."
            )
        return values if degree is None else values[: degree + 1]

    def norm_power(self) -> int | None:
        """Return 1 for a series of the cosine, which is multiplied with the norms."""
        return 1 if self.normalized else None

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        if not self.normalized:
            return horner(self.taylor(), inner_products(X, Y))
        (left, left_norms), (right, right_norms) = unit_rows(X, xp), unit_rows(Y, xp)
        values = horner(self.taylor(), inner_products(left, right))
        return values * (left_norms[:, None] * right_norms[None, :])

    def _diag(self, X: Any, xp: Any) -> Any:
        squares = row_norms(X, xp) ** 2
        if self.normalized:
            return float(self.taylor().sum()) * squares
        return horner(self.taylor(), squares)


def horner(coefficients: np.ndarray, t: Any) -> Any:
    """Return a polynomial of an array.

    Examples
    --------
    >>> horner(np.asarray([1.0, 0.0, 2.0]), np.asarray([3.0]))
    array([19.])
    """
    value = t * 0 + float(coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * t + float(c)
    return value


def profile(kernel: Kernel, cosines: np.ndarray) -> np.ndarray:
    """Return a zonal kernel at cosines, for unit rows."""
    sines = np.sqrt((1 - cosines) * (1 + cosines))
    values: np.ndarray = kernel(np.column_stack([cosines, sines]), np.asarray([[1.0, 0.0]]))[:, 0]
    return values


def nonnegative_fit(kernel: Kernel, degree: int) -> np.ndarray:
    """Return non-negative coefficients of the polynomial nearest to a zonal kernel.

    Least squares at Chebyshev nodes of the cosine; its error is several times smaller than
    that of the Taylor series, and few coefficients are positive.

    Examples
    --------
    >>> from mercer.kernels import NTK
    >>> c = nonnegative_fit(NTK(depth=1), 8)
    >>> bool((c >= 0).all()), len(c)
    (True, 9)
    """
    cosines = np.cos((np.arange(NODES) + 0.5) * np.pi / NODES)
    powers = cosines[:, None] ** np.arange(degree + 1)
    coefficients, _ = nnls(powers, profile(kernel, cosines))
    return np.asarray(coefficients)


def default_degree(kernel: Kernel) -> int:
    """Return a degree at which the fit is better than most sketches."""
    return 8 if not isinstance(kernel, NTK) or kernel.depth <= 2 else 16
