"""The Matérn kernels of half-integer smoothness."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._sklearn import Options
from .stationary import LENGTHSCALE, Isotropic, student_radii


class Matern(Isotropic):
    r"""The Matérn kernel of smoothness 1/2, 3/2 or 5/2.

    With :math:`s = \sqrt{2\nu}\,\|x - y\| / \ell` it is :math:`e^{-s}`,
    :math:`(1 + s)\,e^{-s}` or :math:`(1 + s + s^2/3)\,e^{-s}`. Its frequencies follow the
    multivariate t distribution with :math:`2\nu` degrees of freedom.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The width :math:`\ell`, or the rule that takes it from the data.
    nu : {0.5, 1.5, 2.5}, default=1.5
        The smoothness :math:`\nu`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Matern
    >>> Matern(nu=2.5)(np.asarray([[0.0]]), np.asarray([[1.0]])).round(4)
    array([[0.524]])
    """

    _parameter_constraints: dict[str, Any] = {
        "lengthscale": LENGTHSCALE,
        "nu": [Options(float, {0.5, 1.5, 2.5})],
    }

    def __init__(self, lengthscale: float | str = 1.0, *, nu: float = 1.5) -> None:
        self.lengthscale = lengthscale
        self.nu = nu

    def _profile(self, squared: Any, xp: Any) -> Any:
        s = xp.sqrt(squared) * math.sqrt(2 * self.nu)
        decay = xp.exp(-s)
        # Beyond the range of exp the polynomial may be infinite; the product is 0.
        s = xp.where(decay > 0, s, xp.zeros_like(s))
        if self.nu == 0.5:
            return decay
        if self.nu == 1.5:
            return (1 + s) * decay
        return (1 + s + s * s / 3) * decay

    def _radius_quantiles(self, probabilities: np.ndarray, n_features: int) -> np.ndarray:
        return student_radii(probabilities, n_features, 2 * self.nu)
