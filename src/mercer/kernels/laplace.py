"""The two Laplace kernels: of the Euclidean distance, and of the sum of differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import ones_for_rows
from .._registry import storable
from ..ops.distances import manhattan_distances
from ..ops.fused import Form, SliceTile, finite_slices, fused_rows, is_fused
from .base import Kernel, in_precision_of
from .stationary import LENGTHSCALE, Isotropic, student_radii


@storable
class Laplace(Isotropic):
    r"""The isotropic Laplace kernel :math:`\exp(-\|x - y\| / \ell)`.

    Its frequencies are multivariate Cauchy. scikit-learn's ``laplacian`` kernel is
    :class:`ProductLaplace`.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The width :math:`\ell`, or the rule that takes it from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Laplace
    >>> Laplace()(np.asarray([[0.0, 0.0]]), np.asarray([[3.0, 4.0]])).round(4)
    array([[0.0067]])
    """

    def __init__(self, lengthscale: float | str = 1.0) -> None:
        self.lengthscale = lengthscale

    def _profile(self, squared: Any, xp: Any) -> Any:
        return xp.exp(-xp.sqrt(squared))

    def _radius_quantiles(self, probabilities: np.ndarray, n_features: int) -> np.ndarray:
        return student_radii(probabilities, n_features, 1.0)


@storable
class ProductLaplace(Kernel):
    r"""The product Laplace kernel :math:`\exp(-\|x - y\|_1 / \ell)`.

    scikit-learn calls it ``laplacian``. Its frequencies have independent Cauchy
    coordinates, so it depends on the choice of axes.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The width :math:`\ell`, or the rule that takes it from the data (the median is then
        that of the sums of absolute differences).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import ProductLaplace
    >>> ProductLaplace()(np.asarray([[0.0, 0.0]]), np.asarray([[3.0, 4.0]])).round(4)
    array([[0.0009]])
    """

    _parameter_constraints: dict[str, Any] = {"lengthscale": LENGTHSCALE}
    _distance = "manhattan"

    def __init__(self, lengthscale: float | str = 1.0) -> None:
        self.lengthscale: Any = lengthscale

    def draw_frequencies(
        self, generator: np.random.Generator, n_features: int, size: int
    ) -> np.ndarray:
        """Return ``size`` random frequencies as columns.

        Parameters
        ----------
        generator : numpy.random.Generator
            Where the randomness comes from.
        n_features, size : int
            Shape of the result.

        Returns
        -------
        frequencies : array of shape (n_features, size)
        """
        return generator.standard_cauchy((size, n_features)).T / self.lengthscale

    def _float32_tiles(self, X: Any, Y: Any) -> SliceTile | None:
        return finite_slices(X, Y, self._form())

    def _form(self) -> Form:
        return Form("exponential", float(self.lengthscale), manhattan=True)

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        if is_fused(X, Y, out):
            fused_rows(X, Y, self._form(), out)
            return out
        distances = in_precision_of(out, manhattan_distances(X, Y, xp) / self.lengthscale)
        return xp.exp(-distances)

    def _diag(self, X: Any, xp: Any) -> Any:
        return ones_for_rows(X)
