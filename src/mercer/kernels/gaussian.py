"""The Gaussian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._registry import storable
from .stationary import Isotropic, normal_radii


@storable
class Gaussian(Isotropic):
    r"""The Gaussian kernel :math:`\exp(-\|x - y\|^2 / 2 \ell^2)`.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The width :math:`\ell`, or the rule that takes it from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> Gaussian(lengthscale=2.0)(np.asarray([[0.0], [2.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    def __init__(self, lengthscale: float | str = 1.0) -> None:
        self.lengthscale = lengthscale

    def _profile(self, squared: Any, xp: Any) -> Any:
        return xp.exp(squared * -0.5)

    def _radius_quantiles(self, probabilities: np.ndarray, n_features: int) -> np.ndarray:
        return normal_radii(probabilities, n_features)
