"""Falls of kernels of |x - z|₁: how fast k(x, z) falls as the sum of differences grows.

Such a kernel φ(s) of s = Σ_c |x_c - z_c| has no slopes by norms and inner products. One tile,
the fall -φ'(s), gives all its derivatives: by a row, ∂k/∂x_c = -fall · sign(x_c - z_c), and by
weights w of columns of rows x √w, w_c ∂k/∂w_c = -fall · |x_c - z_c| / 2.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from .._array import namespace
from ..ops.distances import manhattan_distances
from .algebra import Scaled, Sum
from .base import Kernel
from .laplace import ProductLaplace
from .powered import PoweredExponential, raised
from .slopes import COINCIDENT


@singledispatch
def is_manhattan(kernel: Kernel) -> bool:
    """Return whether a kernel is a function of the sum of absolute differences."""
    return False


@is_manhattan.register
def _product_laplace_is(kernel: ProductLaplace) -> bool:
    return True


@is_manhattan.register
def _powered_is(kernel: PoweredExponential) -> bool:
    return kernel.norm == "manhattan"


@is_manhattan.register
def _scaled_is(kernel: Scaled) -> bool:
    return is_manhattan(kernel.kernel)


@is_manhattan.register
def _sum_is(kernel: Sum) -> bool:
    return is_manhattan(kernel.left) and is_manhattan(kernel.right)


@singledispatch
def falls(kernel: Kernel, X: Any, Y: Any, xp: Any) -> Any:
    r"""Return how fast a kernel falls with the sum of differences, for all pairs of rows.

    At equal rows, where the kernel has an edge in every column, the fall is taken as 0: the
    mean of the derivatives in opposite directions.

    Parameters
    ----------
    kernel : Kernel
        A kernel for which :func:`is_manhattan` holds, with numbers for parameters.
    X, Y : float64 arrays of shape (n, d) and (m, d)
        Dense blocks of rows.
    xp : namespace
        The array library of the blocks.

    Returns
    -------
    falls : array of shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.asarray([[1.0, 0.0]]), np.asarray([[1.0, 0.0], [1.0, 2.0]])
    >>> falls(ProductLaplace(2.0), X, Y, np).round(4)
    array([[0.    , 0.1839]])
    """
    raise TypeError(f"{kernel!r} is not known as a kernel of the sum of differences.")


@falls.register
def _product_laplace(kernel: ProductLaplace, X: Any, Y: Any, xp: Any) -> Any:
    return _powered_fall(kernel, 1.0, X, Y, xp)


@falls.register
def _powered(kernel: PoweredExponential, X: Any, Y: Any, xp: Any) -> Any:
    return _powered_fall(kernel, float(kernel.power), X, Y, xp)


@falls.register
def _scaled(kernel: Scaled, X: Any, Y: Any, xp: Any) -> Any:
    return kernel.scale * falls(kernel.kernel, X, Y, xp)


@falls.register
def _sum(kernel: Sum, X: Any, Y: Any, xp: Any) -> Any:
    return falls(kernel.left, X, Y, xp) + falls(kernel.right, X, Y, xp)


@singledispatch
def falls_of_values(kernel: Kernel, K: Any) -> Any:
    """Return the falls from the values of a kernel, or ``None`` if they do not follow.

    They do for the product Laplace kernel and its multiples.

    Examples
    --------
    >>> import numpy as np
    >>> falls_of_values(ProductLaplace(2.0), np.asarray([[1.0, 0.5]]))
    array([[0.  , 0.25]])
    """
    return None


@falls_of_values.register
def _values_of_product_laplace(kernel: ProductLaplace, K: Any) -> Any:
    apart = K < 1 - COINCIDENT
    return namespace(K).where(apart, K, K * 0) / float(kernel.lengthscale)


@falls_of_values.register
def _values_of_scaled(kernel: Scaled, K: Any) -> Any:
    found = falls_of_values(kernel.kernel, K / kernel.scale)
    return None if found is None else kernel.scale * found


def _powered_fall(
    kernel: ProductLaplace | PoweredExponential, power: float, X: Any, Y: Any, xp: Any
) -> Any:
    """Return the falls of exp(-(s/ℓ)^p), and 0 for rows that are equal up to rounding."""
    scale = float(kernel.lengthscale)
    sums = manhattan_distances(X, Y, xp) / scale
    apart = sums > COINCIDENT
    safe = xp.where(apart, sums, xp.ones_like(sums))
    fall = xp.exp(-raised(safe, power))
    if power != 1:
        fall = power * safe ** (power - 1) * fall
    return xp.where(apart, fall, xp.zeros_like(fall)) / scale
