"""Generalised Gaussian moments of activation functions, in closed form or by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import special

from .._registry import storable
from .quadrature import normal_quadrature

#: Coefficients of activations that have some: right and left slope, and those of t² and t.
DEFAULT_COEFFICIENTS = {"leaky_relu": (1.0, 0.01), "quadratic": (1.0, 0.0)}


@storable
@dataclass(frozen=True)
class GaussianMoments:
    r"""The three numbers of an activation that decide its kernel in high dimensions.

    For :math:`\zeta \sim N(0, \tau)`, with derivatives in the sense of distributions,

    .. math:: d_1 = (\mathbb{E}\,\sigma'(\zeta))^2, \qquad
              d_2 = (\mathbb{E}\,\sigma''(\zeta))^2 / 4, \qquad
              d_0 = \mathrm{Var}\,\sigma(\zeta) - \tau d_1.

    Those of features that are put side by side add.

    Parameters
    ----------
    d0 : float
        What acts like a ridge parameter.
    d1 : float
        The factor of the linear kernel.
    d2 : float
        The factor of what norms and covariances tell apart.

    Examples
    --------
    >>> from mercer.ops.gaussian_moments import GaussianMoments
    >>> GaussianMoments(0.5, 0.0, 0.25) + GaussianMoments(0.25, 1.0, 0.0)
    GaussianMoments(d0=0.75, d1=1.0, d2=0.25)
    """

    d0: float
    d1: float
    d2: float

    def __add__(self, other: GaussianMoments) -> GaussianMoments:
        return GaussianMoments(self.d0 + other.d0, self.d1 + other.d1, self.d2 + other.d2)


def gaussian_moments(
    activation: str | Callable[[Any], Any],
    tau: float,
    *,
    coefficients: Sequence[float] | None = None,
    breakpoints: Sequence[float] | None = None,
) -> GaussianMoments:
    r"""Return the Gaussian moments of an activation, :math:`d_0, d_1, d_2` at :math:`\tau`.

    By Stein's identity the derivatives need the activation only, which may therefore jump:

    .. math:: \mathbb{E}\,\sigma'(\zeta) =
              \frac{\mathbb{E}\,z\,\sigma(\sqrt\tau z)}{\sqrt\tau}, \qquad
              \mathbb{E}\,\sigma''(\zeta) =
              \frac{\mathbb{E}\,(z^2 - 1)\,\sigma(\sqrt\tau z)}{\tau},
              \qquad z \sim N(0, 1).

    Parameters
    ----------
    activation : str or callable
        ``"identity"``, ``"abs"``, ``"relu"``, ``"leaky_relu"``, ``"sign"``, ``"step"``,
        ``"quadratic"``, ``"gaussian"`` (:math:`e^{-t^2/2}`), ``"exp"``, ``"cos"``, ``"sin"``
        or ``"fourier"`` (cosine and sine side by side), in closed form; or a function of an
        array, by quadrature to ten digits.
    tau : float
        The variance of the argument, the mean squared norm of the rows; positive.
    coefficients : sequence of two floats, default=None
        The slopes of ``"leaky_relu"`` to the right and to the left of 0, by default
        (1, 0.01), or the coefficients of t² and t of ``"quadratic"``, by default (1, 0).
    breakpoints : sequence of float, default=None
        Where a callable has jumps or kinks. They are searched for in any case; named ones
        are not missed, and need fewer evaluations.

    Returns
    -------
    moments : GaussianMoments

    Examples
    --------
    >>> from mercer.ops.gaussian_moments import gaussian_moments
    >>> moments = gaussian_moments("relu", tau=1.0)
    >>> moments.d1, round(moments.d2, 4)
    (0.25, 0.0398)
    >>> moments = gaussian_moments(lambda t: (t > 0) * t, tau=1.0)
    >>> round(moments.d1, 10), round(moments.d2, 4)
    (0.25, 0.0398)
    """
    tau = positive_tau(tau)
    if callable(activation):
        if coefficients is not None:
            raise ValueError("coefficients are for named activations; leave them out.")
        return _by_quadrature(activation, tau, breakpoints or ())
    if activation not in _TABLE:
        raise ValueError(
            f"activation must be a function or one of {', '.join(sorted(_TABLE))}, got "
            f"{activation!r}."
        )
    if breakpoints is not None:
        raise ValueError(f"breakpoints are for functions; {activation!r} has a closed form.")
    default = DEFAULT_COEFFICIENTS.get(activation)
    if coefficients is not None and (default is None or len(coefficients) != 2):
        raise ValueError(
            "coefficients must be two numbers, and for 'leaky_relu' and 'quadratic' only, got "
            f"{coefficients!r} for {activation!r}."
        )
    try:
        return _TABLE[activation](tau, *(coefficients or default or ()))
    except OverflowError:
        raise ValueError(
            f"The Gaussian moments of {activation!r} overflow at tau={tau:g}; scale the rows down."
        ) from None


def positive_tau(tau: float) -> float:
    """Return ``tau`` as a float, or raise an error if it is not positive.

    Examples
    --------
    >>> positive_tau(1)
    1.0
    """
    if not (math.isfinite(tau) and tau > 0):
        raise ValueError(
            f"tau must be positive and finite, the mean squared norm of the rows, got {tau!r}; "
            "rows that are all zero have no moments."
        )
    return float(tau)


def _by_quadrature(
    activation: Callable[[Any], Any], tau: float, breakpoints: Sequence[float]
) -> GaussianMoments:
    root = math.sqrt(tau)
    z, w, f = normal_quadrature(lambda z: activation(root * z), [b / root for b in breakpoints])
    weighted = w * f
    mean, slope = float(weighted.sum()), float(z @ weighted) / root
    bend = float((z * z - 1) @ weighted) / tau
    # The variance of what a line leaves: nothing large is subtracted.
    rest = f - mean - slope * root * z
    return GaussianMoments(float(w @ (rest * rest)), slope**2, bend**2 / 4)


def _absolute(tau: float) -> GaussianMoments:
    return GaussianMoments(tau * (1 - 2 / math.pi), 0.0, 1 / (2 * math.pi * tau))


def _relu(tau: float) -> GaussianMoments:
    return _leaky_relu(tau, 1.0, 0.0)


def _leaky_relu(tau: float, right: float, left: float) -> GaussianMoments:
    # Half their sum times t, and half their difference times |t|.
    mean, kink = (right + left) / 2, (right - left) / 2
    d0, d2 = tau * (1 - 2 / math.pi), 1 / (2 * math.pi * tau)
    return GaussianMoments(kink**2 * d0, mean**2, kink**2 * d2)


def _quadratic(tau: float, square: float, linear: float) -> GaussianMoments:
    return GaussianMoments(2 * (tau * square) ** 2, linear**2, square**2)


def _gaussian(tau: float) -> GaussianMoments:
    # (2τ + 1)^(-1/2) - (τ + 1)^(-1), without the cancellation at small τ.
    root = math.sqrt(2 * tau + 1)
    d0 = tau**2 / ((tau + 1 + root) * root * (tau + 1))
    return GaussianMoments(d0, 0.0, (tau + 1) ** -3 / 4)


def _exponential(tau: float) -> GaussianMoments:
    grown = math.exp(tau)
    return GaussianMoments(math.exp(2 * tau) * _beyond_line(tau), grown, grown / 4)


def _cosine(tau: float) -> GaussianMoments:
    return GaussianMoments(math.expm1(-tau) ** 2 / 2, 0.0, math.exp(-tau) / 4)


def _sine(tau: float) -> GaussianMoments:
    if tau > 1:
        d0 = -math.expm1(-2 * tau) / 2 - tau * math.exp(-tau)
    else:
        # exp(-τ) (sinh τ - τ): the first term of the series would cancel.
        d0 = math.exp(-tau) * sum(tau**k / math.factorial(k) for k in range(3, 21, 2))
    return GaussianMoments(d0, math.exp(-tau), 0.0)


def _fourier(tau: float) -> GaussianMoments:
    return GaussianMoments(_beyond_line(tau), math.exp(-tau), math.exp(-tau) / 4)


def _beyond_line(tau: float) -> float:
    """Return 1 - (1 + τ) exp(-τ), an incomplete gamma function."""
    return float(special.gammainc(2, tau))


def _identity(tau: float) -> GaussianMoments:
    return GaussianMoments(0.0, 1.0, 0.0)


def _sign(tau: float) -> GaussianMoments:
    return GaussianMoments(1 - 2 / math.pi, 2 / (math.pi * tau), 0.0)


def _step(tau: float) -> GaussianMoments:
    return GaussianMoments(0.25 - 1 / (2 * math.pi), 1 / (2 * math.pi * tau), 0.0)


_TABLE: dict[str, Callable[..., GaussianMoments]] = {
    "abs": _absolute,
    "relu": _relu,
    "leaky_relu": _leaky_relu,
    "quadratic": _quadratic,
    "gaussian": _gaussian,
    "exp": _exponential,
    "cos": _cosine,
    "sin": _sine,
    "fourier": _fourier,
    "identity": _identity,
    "sign": _sign,
    "step": _step,
}
