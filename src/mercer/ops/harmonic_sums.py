"""Sums of a function of distance over the harmonics of a periodic function, to all orders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

#: Harmonics up to this are terms of their own. It is a multiple of the periods of the k r_k there
#: are, so that octaves begin and end like each other.
EXACT = 72
#: Octaves whose harmonics are counted one by one; later ones are scaled copies of the last.
COUNTED, ALL = 8, 36
#: Points that stand for the harmonics of an octave.
POINTS = 18


def harmonic_rule(
    harmonics: Callable[[np.ndarray], np.ndarray], total: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return orders and weights that stand for all odd harmonics.

    For functions that are smooth on a logarithmic scale and vanish at infinity,
    :math:`\sum_i v_i f(k_i s)` is :math:`\sum_{k \text{ odd}} r_k^2 f(k s)` for all s > 0 to about
    1e-11. Harmonics beyond 72 are replaced, octave by octave, by Chebyshev points; their weights
    integrate the interpolating polynomial against the harmonics that there are.

    Parameters
    ----------
    harmonics : callable
        Returns :math:`r_k` of an array of odd numbers k.
    total : float
        The sum of all :math:`r_k^2`.

    Returns
    -------
    orders, weights : arrays of shape (n,)

    Examples
    --------
    The odd squares, damped by exp(-k / 10):

    >>> orders, weights = harmonic_rule(lambda k: 1 / k, np.pi**2 / 8)
    >>> k = np.arange(1.0, 2001, 2)
    >>> bool(abs(weights @ np.exp(-orders / 10) - np.sum(np.exp(-k / 10) / k**2)) < 1e-12)
    True
    """
    first = np.arange(1.0, EXACT, 2)
    orders, weights = [first], [harmonics(first) ** 2]
    points = chebyshev.chebpts1(POINTS)
    for octave in range(ALL):
        start = EXACT * 2.0**octave
        if octave < COUNTED:
            k = np.arange(start + 1, 2 * start, 2)
            powers = chebyshev.chebvander(2 * (k - start) / start - 1, POINTS - 1)
            moments = powers.T @ harmonics(k) ** 2
            own = np.linalg.solve(chebyshev.chebvander(points, POINTS - 1).T, moments)
        else:
            own = weights[-1] / 2
        orders.append(start * (3 + points) / 2)
        weights.append(own)
    found = np.concatenate(weights)
    # What is left of the last octaves, at the largest order.
    found[-1] += total - found.sum()
    return np.concatenate(orders), found
