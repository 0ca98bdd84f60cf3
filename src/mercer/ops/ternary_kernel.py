"""The kernel of features with two thresholds, for normal directions, by Owen's function.

A feature is a sum of indicators 1[z > u] with signs, and a constant. For standard normal
z, z' with correlation ρ (Owen 1956)

    P(z > u, z' > v) = (P(z > u) + P(z' > v)) / 2 - T(u, (v - ρu) / (u σ)) - T(v, (u - ρv) / (v σ))
                       - (1/2 if u and v have different signs),        σ = √(1 - ρ²).

Angles come coded by sin² of their half (see ``signed_half_chords``), so that v - ρu keeps its
digits for rows that are almost parallel, where a series in the cosine converges slowly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, owens_t

#: Thresholds beyond are never crossed in float64, and those of zero rows are put there.
NEVER = 40.0
#: In place of thresholds and sines that are 0: quotients get their limits.
TINY_THRESHOLD, TINY_SINE = 1e-200, 1e-100
#: Pairs that are computed at a time.
CHUNK = 2**12


def row_thresholds(norms: np.ndarray, lower: float, upper: float) -> tuple[Any, Any]:
    """Return the upper and lower thresholds of rows, in units of their norms.

    The features of a zero row are constant: its thresholds are out of reach on the side that
    the value at 0 tells.

    Examples
    --------
    >>> row_thresholds(np.asarray([2.0, 0.0]), -1.0, 3.0)
    (array([ 1.5, 40. ]), array([ -0.5, -40. ]))
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        high = np.clip(upper / norms, -NEVER, NEVER)
        low = np.clip(lower / norms, -NEVER, NEVER)
    zero = norms == 0
    high = np.where(zero, NEVER if upper >= 0 else -NEVER, high)
    if lower == upper:
        return high, high
    return high, np.where(zero, NEVER if lower > 0 else -NEVER, low)


def ternary_kernel(
    code: np.ndarray, left: tuple[Any, Any], right: tuple[Any, Any], even: bool
) -> np.ndarray:
    r"""Return the expected products of features of pairs of rows, accurate to 1e-15.

    Parameters
    ----------
    code : array of shape (n, m)
        Angles between the rows, as :func:`mercer.ops.distances.signed_half_chords` codes them.
    left, right : pairs of arrays of shape (n,) and of shape (m,)
        The upper and lower thresholds of the rows, from :func:`row_thresholds`.
    even : bool
        Whether the features are :math:`1[z > u_+] + 1[z < u_-]`, or with a minus.

    Returns
    -------
    expected : array of shape (n, m)

    Examples
    --------
    Signs have the arcsine kernel:

    >>> zero = (np.zeros(1), np.zeros(1))
    >>> sixty_degrees = np.asarray([[np.sin(np.pi / 6) ** 2]])
    >>> ternary_kernel(sixty_degrees, zero, zero, even=False).round(6)
    array([[0.333333]])
    """
    out = np.empty(code.shape)
    step = max(1, CHUNK // max(1, code.shape[1]))
    columns = tuple(_nonzero(v)[None, :] for v in right)
    shares = ternary_diagonal(right)
    for start in range(0, code.shape[0], step):
        rows = slice(start, start + step)
        ends = tuple(_nonzero(u[rows])[:, None] for u in left)
        half, obtuse, sine = _angles(code[rows])
        # Sums in an order that is the same for the transposed pair.
        same = sum(_wedges(u, v, half, obtuse, sine) for u, v in zip(ends, columns, strict=True))
        crossed = _wedges(ends[0], columns[1], half, obtuse, sine) + _wedges(
            ends[1], columns[0], half, obtuse, sine
        )
        if even:
            own = ternary_diagonal((left[0][rows], left[1][rows]))
            out[rows] = (own[:, None] + shares[None, :] - 1) - (same - crossed)
        else:
            out[rows] = 1 - (same + crossed)
    return out


def ternary_diagonal(thresholds: tuple[Any, Any]) -> np.ndarray:
    """Return the expected squares of features: how often they are not zero.

    Examples
    --------
    >>> ternary_diagonal((np.asarray([1.0]), np.asarray([-1.0]))).round(4)
    array([0.3173])
    """
    found: np.ndarray = ndtr(-thresholds[0]) + ndtr(thresholds[1])
    return found


def _nonzero(u: np.ndarray) -> np.ndarray:
    """Return thresholds with tiny ones in place of zeros."""
    return np.where(u == 0, TINY_THRESHOLD, u)


def _angles(code: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 2 sin² of half an angle (or of half its supplement), which, and the sine."""
    share = abs(code)
    sine = np.maximum(2 * np.sqrt(share * (1 - share)), TINY_SINE)
    return 2 * share, code < 0, sine


def _wedges(
    u: np.ndarray, v: np.ndarray, half: np.ndarray, obtuse: np.ndarray, sine: np.ndarray
) -> np.ndarray:
    """Return (P(z > u) + P(z' > v)) / 2 - P(z > u, z' > v)."""
    # v - ρu with ρ = 1 - half, or half - 1 for obtuse angles.
    sign = np.where(obtuse, -1.0, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        first = owens_t(u, ((v - sign * u) + sign * half * u) / (u * sine))
        second = owens_t(v, ((u - sign * v) + sign * half * v) / (v * sine))
    found: np.ndarray = first + second + np.where((u < 0) != (v < 0), 0.5, 0.0)
    return found
