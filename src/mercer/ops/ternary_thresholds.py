"""Two thresholds that give features of few bits the moments of another activation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from .._array import namespace
from .._registry import storable
from .gaussian_moments import GaussianMoments, positive_tau

#: Ratios up to which the odd type has the smaller d0, and beyond which its scale overflows.
ODD_BEST, ODD_LAST = 1.5, 10.0
#: Half distances of the thresholds, in standard deviations, among which d0 is minimised.
ODD_SPREADS, EVEN_SPREADS = (0.05, 1.0), (0.3, 3.0)
#: Largest half distance that may be asked for: features beyond are hardly ever non-zero.
WIDEST = 5.0


@storable
@dataclass(frozen=True)
class TernaryActivation:
    r"""An activation of three or two values, by two thresholds.

    The odd type takes the values -1, 0 and 1, the even type 0 and 1, times a scale
    :math:`c`:

    .. math:: \sigma(t) = c\,(1[t > s_+] - 1[t < s_-]), \qquad
              \sigma(t) = c\,(1[t > s_+] + 1[t < s_-]).

    The odd type with two equal thresholds is a sign: 1 above the threshold and -1 elsewhere,
    one bit a feature.

    Parameters
    ----------
    lower : float
        The threshold :math:`s_-`.
    upper : float
        The threshold :math:`s_+`, at least ``lower``, and above it for the even type.
    scale : float, default=1.0
        The factor :math:`c`; it belongs to the kernel, and stored features leave it out.
    even : bool, default=False
        Which type.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ops.ternary_thresholds import TernaryActivation
    >>> TernaryActivation(-0.5, 1.0).trits(np.asarray([-2.0, 0.0, 3.0]))
    array([-1,  0,  1], dtype=int8)
    >>> TernaryActivation(0.8, 0.8).trits(np.asarray([-2.0, 0.0, 3.0]))
    array([-1, -1,  1], dtype=int8)
    """

    lower: float
    upper: float
    scale: float = 1.0
    even: bool = False

    def __post_init__(self) -> None:
        if not self.lower <= self.upper or (self.even and self.lower == self.upper):
            relation = "below" if self.even else "at most"
            raise ValueError(
                f"lower must be {relation} upper, got lower={self.lower} and upper={self.upper}."
            )

    @property
    def bits(self) -> int:
        """Return how many bits hold a value: 1 for a sign and for the even type, else 2."""
        return 1 if self.even or self.lower == self.upper else 2

    def trits(self, t: Any) -> Any:
        """Return the values without their scale, as int8, in the library of ``t``.

        Parameters
        ----------
        t : array
            Projections of rows.
        """
        xp = namespace(t)
        above = xp.astype(t > self.upper, xp.int8)
        if not self.even and self.lower == self.upper:
            return above + above - xp.ones_like(above)
        below = xp.astype(t < self.lower, xp.int8)
        return above + below if self.even else above - below

    def moments(self, tau: float) -> GaussianMoments:
        r"""Return the Gaussian moments, with the scale.

        With :math:`g` the density of :math:`N(0, \tau)` and the upper sign for the odd type,

        .. math:: d_1 = c^2 (g(s_+) \pm g(s_-))^2, \qquad
                  d_2 = \frac{c^2}{4 \tau^2} (s_+ g(s_+) \pm s_- g(s_-))^2.

        Parameters
        ----------
        tau : float
            The variance of the argument.
        """
        root = math.sqrt(positive_tau(tau))
        high, low = self.upper / root, self.lower / root
        above, below = float(ndtr(-high)), float(ndtr(low))
        sign = -1.0 if self.even else 1.0
        slope, bend = _slope_and_bend(high, low, self.even)
        variance = above + below - (above - sign * below) ** 2
        d0 = max(variance - slope**2, 0.0)
        d1, d2 = (self.scale * slope) ** 2 / tau, (self.scale * bend / tau) ** 2 / 4
        return GaussianMoments(self.scale**2 * d0, d1, d2)


def matched_activation(
    d1: float, d2: float, tau: float, bits: int = 2, spread: float | None = None
) -> TernaryActivation:
    r"""Return an activation of few values with given Gaussian moments.

    With thresholds :math:`\sqrt\tau (m \pm \delta)` both moments are met when

    .. math:: 2 \sqrt{\tau d_2 / d_1} =
              |m - \delta \tanh(m \delta)| \;\text{(odd)}, \qquad
              |m - \delta \coth(m \delta)| \;\text{(even)},

    one equation for :math:`m`, and a factor :math:`c` for the size: there is a solution for
    all moments that are not both zero. :math:`\delta` minimises :math:`d_0`, which acts as an
    extra ridge parameter. The type is odd up to a ratio of 1.5, where its :math:`d_0` is the
    smaller one, and whichever has the smaller one beyond.

    Parameters
    ----------
    d1 : float
        The moment of the first derivative, at least 0.
    d2 : float
        That of the second, at least 0.
    tau : float
        The variance of the argument.
    bits : {1, 2}, default=2
        What a value may take. One bit is a sign with one threshold or, beyond the ratio of
        1.5, the values 0 and 1 of the even type.
    spread : float, default=None
        The half distance :math:`\delta` of two thresholds, positive and up to 5; of several
        solutions the sparsest is returned. Around 2 and more features are sparse. ``None``
        minimises :math:`d_0`.

    Returns
    -------
    activation : TernaryActivation

    Examples
    --------
    >>> from mercer.ops.gaussian_moments import gaussian_moments
    >>> from mercer.ops.ternary_thresholds import matched_activation
    >>> relu = gaussian_moments("relu", tau=1.0)
    >>> found = matched_activation(relu.d1, relu.d2, tau=1.0)
    >>> round(found.lower, 2), round(found.upper, 2), round(found.scale, 2)
    (0.53, 1.46, 1.04)
    >>> round(found.moments(1.0).d1, 9), round(found.moments(1.0).d2 / relu.d2, 9)
    (0.25, 1.0)
    """
    tau = positive_tau(tau)
    if not (0 <= d1 < math.inf and 0 <= d2 < math.inf and d1 + d2 > 0):
        raise ValueError(
            f"d1 and d2 must be finite, not negative and not both zero, got d1={d1} and d2={d2}; "
            "with both zero the kernel is constant but for its diagonal, and no features fit it."
        )
    if bits not in (1, 2):
        raise ValueError(f"bits must be 1 or 2, got {bits!r}.")
    if spread is not None and not 0 < spread <= WIDEST:
        raise ValueError(
            f"spread must be positive and at most {WIDEST:g} standard deviations, got {spread!r}; "
            "for one threshold use bits=1."
        )
    target = _Target(float(d1), float(d2), tau)
    found: list[TernaryActivation] = []
    if target.ratio <= ODD_LAST:
        if bits == 1:
            found.append(target.activation(target.ratio, 0.0, even=False))
        else:
            found.append(_best(target, _odd_middle, ODD_SPREADS, spread, even=False))
    if target.ratio > ODD_BEST:
        found.append(_best(target, _even_middle, EVEN_SPREADS, spread, even=True))
    return min(found, key=lambda activation: activation.moments(tau).d0)


@dataclass(frozen=True)
class _Target:
    """The moments to be met."""

    d1: float
    d2: float
    tau: float

    @property
    def ratio(self) -> float:
        """Return 2 √(τ d₂ / d₁), infinite for d₁ = 0."""
        slope, bend = math.sqrt(self.d1), 2 * math.sqrt(self.tau) * math.sqrt(self.d2)
        return bend / slope if slope > 0 and bend < 1e15 * slope else math.inf

    def activation(self, middle: float, spread: float, even: bool) -> TernaryActivation:
        """Return the activation with thresholds √τ (m ± δ) and the scale that is due."""
        high, low = middle + spread, middle - spread
        slope, bend = _slope_and_bend(high, low, even)
        # Of two equations that agree, the one that divides by the larger number.
        if self.ratio > 1:
            scale = 2 * self.tau * math.sqrt(self.d2) / abs(bend)
        else:
            scale = math.sqrt(self.tau) * math.sqrt(self.d1) / abs(slope)
        root = math.sqrt(self.tau)
        return TernaryActivation(root * low, root * high, scale, even)


def _slope_and_bend(high: float, low: float, even: bool) -> tuple[float, float]:
    """Return √τ E σ' and τ E σ'' of thresholds in standard deviations, without the scale."""
    above, below = _density(high), _density(low) * (-1.0 if even else 1.0)
    return above + below, high * above + low * below


def _density(u: float) -> float:
    """Return the standard normal density."""
    return math.exp(-u * u / 2) / math.sqrt(2 * math.pi)


#: Returns the smallest solution m for a ratio and δ.
Middle = Callable[[float, float], float]


def _best(
    target: _Target,
    middle: Middle,
    spreads: tuple[float, float],
    spread: float | None,
    even: bool,
) -> TernaryActivation:
    """Return the solution with a given δ, or with that of the smallest d₀."""

    def at(delta: float) -> TernaryActivation:
        return target.activation(middle(target.ratio, delta), delta, even)

    def d0(delta: float) -> float:
        return at(delta).moments(target.tau).d0

    if spread is not None:
        return at(float(spread))
    tried = np.linspace(*spreads, 24)
    best = int(np.argmin([d0(delta) for delta in tried]))
    around = (tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)])
    result = minimize_scalar(d0, bounds=around, method="bounded", options={"xatol": 1e-9})
    # d0 is flat at its minimum: more digits would be rounding of tau, magnified.
    return at(round(float(result.x), 5))


def _odd_middle(ratio: float, delta: float) -> float:
    """Return the smallest m ≥ 0 with |m - δ tanh(m δ)| = R.

    The function is convex and 0 at 0, and takes the value R once. For δ > 1 it is negative
    first: where it is deep enough, the value -R comes before.
    """

    def function(m: float) -> float:
        return m - delta * math.tanh(m * delta)

    if ratio == 0:
        return 0.0
    lowest = math.acosh(delta) / delta if delta > 1 else 0.0
    if function(lowest) <= -ratio:
        return _root(lambda m: function(m) + ratio, 0.0, lowest)
    return _root(lambda m: function(m) - ratio, lowest, ratio + delta + 1)


def _even_middle(ratio: float, delta: float) -> float:
    """Return the smallest m > 0 with |m - δ coth(m δ)| = R, 0 for an infinite R.

    δ coth(m δ) - m decreases from ∞ to -∞ and lies between 1/m - m and 1/m + δ - m: it takes
    the value R once, between the roots of two quadratics.
    """
    if math.isinf(ratio):
        return 0.0
    low, high = _positive_root(ratio), _positive_root(ratio - delta)
    return _root(
        lambda m: delta / math.tanh(m * delta) - m - ratio, low * (1 - 1e-9), high * (1 + 1e-9)
    )


def _positive_root(b: float) -> float:
    """Return the positive root of m² + b m - 1."""
    root = math.hypot(b, 2)
    return 2 / (b + root) if b > 0 else (root - b) / 2


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a function between two numbers, to the last digits."""
    return float(brentq(function, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
