"""The exact kernel of ternary random features."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._array import beside, is_numpy, like, to_numpy
from .._registry import storable
from .._sklearn import Interval
from ..ops.distances import signed_half_chords
from ..ops.norms import row_norms
from ..ops.products import dense
from ..ops.ternary_kernel import row_thresholds, ternary_diagonal, ternary_kernel
from .base import Kernel


@storable
class Ternary(Kernel):
    r"""The kernel of features with three or two values, by two thresholds.

    For a standard normal :math:`w` and a scale :math:`c`

    .. math:: k(x, y) = \mathbb{E}[\sigma(w^\top x)\,\sigma(w^\top y)], \qquad
              \sigma(t) = c\,(1[t > s_+] - 1[t < s_-]),

    or with a plus for the even type, whose values are 0 and c. Two equal thresholds make a
    sign, 1 above the threshold and -1 elsewhere. With the Hermite coefficients
    :math:`a_j(x)` of :math:`\sigma(\|x\| z)` it is the series
    :math:`\sum_j a_j(x) a_j(y) \cos^j(x, y)`, which converges slowly for rows that are almost
    parallel; it is computed by Owen's function, to about 15 digits at any angle. The features
    of a zero row are constant.

    Parameters
    ----------
    lower : float, default=-0.6
        The threshold :math:`s_-`.
    upper : float, default=0.6
        The threshold :math:`s_+`, at least ``lower``, and above it for the even type.
    scale : float, default=1.0
        The factor :math:`c`.
    even : bool, default=False
        Which type.
    center : array of shape (n_features,), default=None
        What is subtracted from rows first.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Ternary
    >>> Ternary(lower=-1.0, upper=1.0)(np.asarray([[1.0, 0.0], [1.0, 1.0]])).round(4)
    array([[0.3173, 0.2133],
           [0.2133, 0.4795]])

    The thresholds that give it the behaviour of another kernel in high dimensions:

    >>> from mercer.kernels import ArcCosine, kernel_moments
    >>> from mercer.ops.ternary_thresholds import matched_activation
    >>> target = kernel_moments(ArcCosine(), tau=1.0)
    >>> found = matched_activation(target.d1, target.d2, tau=1.0)
    >>> kernel = Ternary(found.lower, found.upper, found.scale, found.even)
    >>> own = kernel_moments(kernel, tau=1.0)
    >>> round(own.d1 / target.d1, 6), round(own.d2 / target.d2, 6)
    (1.0, 1.0)
    """

    _parameter_constraints: dict[str, Any] = {
        "lower": [Interval(Real, None, None, closed="neither")],
        "upper": [Interval(Real, None, None, closed="neither")],
        "scale": [Interval(Real, 0, None, closed="neither")],
        "even": ["boolean"],
        "center": ["array-like", None],
    }

    def __init__(
        self,
        lower: float = -0.6,
        upper: float = 0.6,
        scale: float = 1.0,
        even: bool = False,
        center: Any = None,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.scale = scale
        self.even = even
        self.center = center

    def _thresholds(self, norms: Any) -> tuple[Any, Any]:
        """Return the thresholds of rows in units of their norms, as NumPy arrays."""
        lower, upper = float(self.lower), float(self.upper)
        if not lower <= upper or (self.even and lower == upper):
            relation = "below" if self.even else "at most"
            raise ValueError(
                f"lower must be {relation} upper, got lower={lower:g} and upper={upper:g}."
            )
        return row_thresholds(to_numpy(norms), lower, upper)

    def _centred(self, X: Any) -> Any:
        """Return rows less the center, dense if there is one."""
        if self.center is None:
            return X
        X = dense(X)
        return X - like(X, np.asarray(self.center, dtype=float))

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        X, Y = self._centred(X), self._centred(Y)
        code, norms_x, norms_y = signed_half_chords(X, Y, xp)
        left, right = self._thresholds(norms_x), self._thresholds(norms_y)
        # Owen's function is SciPy's: arrays of other libraries go through the host.
        angles = code if is_numpy(code) else to_numpy(code)
        found = float(self.scale) ** 2 * ternary_kernel(angles, left, right, self.even)
        return found if is_numpy(code) else beside(code, found)

    def _diag(self, X: Any, xp: Any) -> Any:
        norms = row_norms(self._centred(X), xp)
        found = float(self.scale) ** 2 * ternary_diagonal(self._thresholds(norms))
        return beside(norms, found)
