"""Kernels of the distance |x - y| alone, and their spectral measures."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from scipy import special

from .._array import is_sparse, ones_for_rows
from .._sklearn import Interval, StrOptions
from ..ops.distances import squared_distances
from .base import Kernel, in_precision_of

#: A lengthscale is a positive number, or the name of a rule that takes it from data.
LENGTHSCALE: list[Any] = [
    Interval(Real, 0, None, closed="neither"),
    StrOptions({"median", "scale"}),
]
#: Lengthscales from here to its inverse may be squared, and so may distances that are small or
#: large beside them.
SMALLEST = 1e-100


class Isotropic(Kernel):
    r"""A kernel of the distance alone, 1 at distance 0, and the law of its frequencies.

    It is :math:`\varphi(\|x - y\|^2 / \ell^2)` with :math:`\varphi(0) = 1`. By Bochner's theorem
    the kernel is the characteristic function of a random frequency, uniform in direction; a
    subclass gives the quantiles of its length.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Isotropic
    >>> isinstance(Gaussian(), Isotropic)
    True
    >>> Gaussian(2.0).spectral_radii([0.5], n_features=3).round(3)
    array([0.769])
    """

    _parameter_constraints: dict[str, Any] = {"lengthscale": LENGTHSCALE}

    lengthscale: Any

    @abstractmethod
    def _profile(self, squared: Any, xp: Any) -> Any:
        """Return φ of squared distances in units of the lengthscale."""

    @abstractmethod
    def _radius_quantiles(self, probabilities: np.ndarray, n_features: int) -> np.ndarray:
        """Return quantiles of the frequency's length for lengthscale 1."""

    def spectral_radii(self, probabilities: np.ndarray, n_features: int) -> np.ndarray:
        """Return quantiles of the length of a random frequency in ``n_features`` dimensions.

        Parameters
        ----------
        probabilities : array of shape (size,)
            Numbers between 0 and 1.
        n_features : int
            Dimension of the input.

        Returns
        -------
        radii : array of shape (size,)
        """
        return self._radius_quantiles(probabilities, n_features) / self.lengthscale

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        X, Y, scale = in_range(X, Y, float(self.lengthscale), xp)
        squared = squared_distances(X, Y, xp) / scale / scale
        return self._profile(in_precision_of(out, squared), xp)

    def _diag(self, X: Any, xp: Any) -> Any:
        return ones_for_rows(X)


def in_range(X: Any, Y: Any, lengthscale: float, xp: Any) -> tuple[Any, Any, float]:
    """Return rows and their lengthscale, in units of it where squares would leave float64.

    The square of 1e-170 is 0, and that of 1e170 infinite. For all usual lengthscales the
    rows are returned as they are, and so are rows that are far longer than theirs.

    Examples
    --------
    >>> X = np.asarray([[3e-170]])
    >>> in_range(X, X, 1e-170, np)[1:]
    (array([[3.]]), 1.0)
    """
    if SMALLEST <= lengthscale <= 1 / SMALLEST:
        return X, Y, lengthscale
    largest = max(_largest(X, xp), _largest(Y, xp))
    if largest * SMALLEST > lengthscale:
        return X, Y, lengthscale
    left = X / lengthscale
    return left, left if Y is X else Y / lengthscale, 1.0


def _largest(X: Any, xp: Any) -> float:
    """Return the largest absolute entry of a block."""
    return float(abs(X).max() if is_sparse(X) else xp.max(xp.abs(X)))


def normal_radii(probabilities: np.ndarray, n_features: int) -> np.ndarray:
    """Return quantiles of the length of a standard normal vector (the chi distribution)."""
    return np.sqrt(2 * special.gammaincinv(n_features / 2, probabilities))


def student_radii(probabilities: np.ndarray, n_features: int, freedom: float) -> np.ndarray:
    """Return quantiles of the length of a standard multivariate t vector.

    Its squared length over the dimension has an F distribution.
    """
    return np.sqrt(n_features * special.fdtri(n_features, freedom, probabilities))
