"""The exact kernel of features that are rounded cosines."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from .._array import beside, ones_for_rows, to_numpy
from .._registry import storable
from .._sklearn import Options
from ..engine.blocks import cut
from ..ops.distances import squared_distances
from ..ops.harmonic_sums import harmonic_rule
from ..ops.waves import RoundedCosine
from .base import Kernel, tile_of
from .stationary import Isotropic, in_range

#: Logarithms of distances, in lengthscales, between which the kernel is tabulated: below it is
#: that of equal rows, beyond it has vanished.
NEAREST, FARTHEST, STEPS, DEGREE = -30.0, 21.0, 51 * 40, 7
#: Distances that are computed at a time, and tables that are kept.
CHUNK, MOST_TABLES = 64, 16


@storable
class WaveKernel(Kernel):
    r"""The kernel of random Fourier features that are rounded to few values.

    With the rounded cosine :math:`q(p) = a_1 \sum_k r_k \cos(k p)`, frequencies w of the spectral
    measure of a kernel κ of the distance, and uniform shifts b,

    .. math:: k(x, y) = \frac{2}{a_1^2}\, \mathbb{E}\, q(w^\top x + b)\, q(w^\top y + b)
              = \sum_{k \text{ odd}} r_k^2\, \kappa(k (x - y)).

    The first term is κ itself. The others are narrow: together they are
    :math:`\sum_{k>1} r_k^2` for equal rows, .234, .097 and .048 for 2, 3 and 4 values, and
    vanish where the kernel at a fifth of its lengthscale does (a third for 2 values).

    Parameters
    ----------
    kernel : Gaussian, Laplace, Matern or another kernel of the Euclidean distance
        The kernel κ.
    levels : {2, 3, 4}, default=4
        The number of values.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.kernels import WaveKernel
    >>> x = np.asarray([[0.0], [0.1], [2.0]])
    >>> WaveKernel(Gaussian(), levels=3)(x).round(4)
    array([[1.0966, 1.0548, 0.1353],
           [1.0548, 1.0966, 0.1645],
           [0.1353, 0.1645, 1.0966]])
    """

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Isotropic],
        "levels": [Options(Integral, {2, 3, 4})],
    }

    def __init__(self, kernel: Isotropic, levels: int = 4) -> None:
        self.kernel = kernel
        self.levels = levels

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        X, Y, scale = in_range(X, Y, float(self.kernel.lengthscale), xp)
        squared = squared_distances(X, Y, xp)
        with np.errstate(divide="ignore"):
            logarithms = np.log(to_numpy(squared)) / 2 - np.log(scale)
        found = self._table()(np.clip(logarithms, NEAREST, FARTHEST))
        return beside(squared, np.where(logarithms < NEAREST, self._of_equal_rows, found))

    def _diag(self, X: Any, xp: Any) -> Any:
        return ones_for_rows(X) * self._of_equal_rows

    @property
    def _of_equal_rows(self) -> float:
        return 1 + RoundedCosine(int(self.levels)).excess

    def _table(self) -> BSpline:
        """Return the kernel as a function of the logarithm of the distance in lengthscales."""
        own = self.kernel.get_params(deep=False) | {"lengthscale": 1.0}
        key = f"{type(self.kernel)} {own} {self.levels}"
        found = _tables.get(key)
        if found is None:
            found = _tabulated(type(self.kernel)(**own), int(self.levels))
            if len(_tables) >= MOST_TABLES:
                _tables.clear()
            _tables[key] = found
        return found


#: Tables of the kernels that were used last.
_tables: dict[str, BSpline] = {}


def _tabulated(kernel: Kernel, levels: int) -> BSpline:
    """Return the spline of a kernel of lengthscale 1."""
    cosine = RoundedCosine(levels)
    orders, weights = harmonic_rule(cosine.harmonics, 1 + cosine.excess)
    logarithms = np.linspace(NEAREST, FARTHEST, STEPS + 1)
    values, origin = np.empty(len(logarithms)), np.zeros((1, 1))
    for start, stop in cut(len(logarithms), CHUNK):
        distances = np.exp(logarithms[start:stop, None]) * orders
        tile = tile_of(kernel, origin, distances.reshape(-1, 1), np)
        values[start:stop] = tile.reshape(distances.shape) @ weights
    return make_interp_spline(logarithms, values, k=DEGREE)
