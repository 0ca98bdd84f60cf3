"""Kernels of the distance |x - y| alone, and their spectral measures."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from scipy import special

from .._array import ones_for_rows
from .._sklearn import Interval, StrOptions
from ..ops.distances import squared_distances
from .base import Kernel, in_precision_of

#: A lengthscale is a positive number, or the name of a rule that takes it from data.
LENGTHSCALE = [Interval(Real, 0, None, closed="neither"), StrOptions({"median", "scale"})]


class Isotropic(Kernel):
    """A kernel φ(|x - y|² / ℓ²) with φ(0) = 1, and the law of its frequencies.

    By Bochner's theorem the kernel is the characteristic function of a random frequency,
    uniform in direction; a subclass gives the quantiles of its length.

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
        # Twice, because the square of a small lengthscale is 0.
        squared = squared_distances(X, Y, xp) / float(self.lengthscale) / float(self.lengthscale)
        return self._profile(in_precision_of(out, squared), xp)

    def _diag(self, X: Any, xp: Any) -> Any:
        return ones_for_rows(X)


def normal_radii(probabilities: np.ndarray, n_features: int) -> np.ndarray:
    """Return quantiles of the length of a standard normal vector (the chi distribution)."""
    return np.sqrt(2 * special.gammaincinv(n_features / 2, probabilities))


def student_radii(probabilities: np.ndarray, n_features: int, freedom: float) -> np.ndarray:
    """Return quantiles of the length of a standard multivariate t vector.

    Its squared length over the dimension has an F distribution.
    """
    return np.sqrt(n_features * special.fdtri(n_features, freedom, probabilities))
