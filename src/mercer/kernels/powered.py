"""The powered exponential kernel, of the Euclidean distance or of the sum of differences."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .._array import ones_for_rows
from .._registry import storable
from .._sklearn import Interval, StrOptions
from ..ops.distances import manhattan_distances, squared_distances
from ..ops.fused import Form, SliceTile, finite_slices, fused_rows, is_fused
from .base import Kernel, in_precision_of
from .stationary import LENGTHSCALE, in_range


@storable
class PoweredExponential(Kernel):
    r"""The powered exponential kernel :math:`\exp(-(\|x - y\| / \ell)^p)`.

    With a power below 1 it falls steeply near 0 and slowly far away, which suits tables: rows
    that differ in one column are told apart, and far rows still count. Power 1 is
    :class:`Laplace` or :class:`ProductLaplace`, and power 2 of the Euclidean distance is
    :class:`Gaussian` with lengthscale :math:`\ell / \sqrt 2`.

    It has no random features here: use the exact kernel.

    Parameters
    ----------
    lengthscale : float, "median" or "scale", default=1.0
        The width :math:`\ell`, or the rule that takes it from the data (the median is then
        that of the distances in the norm).
    power : float, default=1.0
        The power :math:`p`, positive and at most 2, or at most 1 for ``norm="manhattan"``:
        beyond, the kernel is not positive definite.
    norm : {"euclidean", "manhattan"}, default="euclidean"
        The norm of the difference: :math:`\|x - y\|_2`, or the sum of absolute differences
        :math:`\|x - y\|_1`, which depends on the choice of axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import PoweredExponential
    >>> X, Y = np.asarray([[0.0, 0.0]]), np.asarray([[3.0, 4.0]])
    >>> PoweredExponential(power=0.5)(X, Y).round(4)
    array([[0.1069]])
    >>> PoweredExponential(power=0.5, norm="manhattan")(X, Y).round(4)
    array([[0.071]])
    """

    _parameter_constraints: dict[str, Any] = {
        "lengthscale": LENGTHSCALE,
        "power": [Interval(Real, 0, 2, closed="right")],
        "norm": [StrOptions({"euclidean", "manhattan"})],
    }

    def __init__(
        self, lengthscale: float | str = 1.0, power: float = 1.0, norm: str = "euclidean"
    ) -> None:
        self.lengthscale: Any = lengthscale
        self.power = power
        self.norm = norm

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.norm == "manhattan" and self.power > 1:
            raise ValueError(
                f"power must be at most 1 for norm='manhattan', got {self.power!r}: beyond 1 the "
                "kernel is not positive definite; use a smaller power or norm='euclidean'."
            )

    @property
    def _distance(self) -> str:
        return self.norm

    def _float32_tiles(self, X: Any, Y: Any) -> SliceTile | None:
        return finite_slices(X, Y, self._form()) if self.norm == "manhattan" else None

    def _form(self) -> Form:
        return Form("powered", float(self.lengthscale), True, float(self.power))

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        scale, power = float(self.lengthscale), float(self.power)
        if self.norm == "manhattan":
            if is_fused(X, Y, out):
                fused_rows(X, Y, self._form(), out)
                return out
            distances = in_precision_of(out, manhattan_distances(X, Y, xp) / scale)
            return xp.exp(-raised(distances, power))
        X, Y, scale = in_range(X, Y, scale, xp)
        squared = in_precision_of(out, squared_distances(X, Y, xp) / scale / scale)
        return xp.exp(-raised(squared, power / 2))

    def _diag(self, X: Any, xp: Any) -> Any:
        return ones_for_rows(X)


def raised(values: Any, power: float) -> Any:
    """Return numbers that are not negative raised to a positive power; 1 costs nothing.

    Examples
    --------
    >>> raised(9.0, 0.5)
    3.0
    """
    return values if power == 1 else values**power
