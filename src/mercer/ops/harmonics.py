"""Harmonics: columns Y_l of unit rows whose inner products are P_l of the cosine."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .._array import frozen, is_numpy, like
from .._devices import has_fused_kernels

#: Degrees for which there are formulas in any dimension.
ANY_DIMENSION = 2


def count(n_features: int, degree: int) -> int:
    """Return how many columns :func:`harmonics` has for a degree.

    Examples
    --------
    >>> [count(2, 5), count(3, 5), count(4, 2)]
    [2, 11, 10]
    """
    if degree == 0 or n_features == 1:
        return 1
    if n_features == 2:
        return 2
    if n_features == 3:
        return 2 * degree + 1
    return n_features if degree == 1 else n_features * (n_features + 1) // 2


def harmonics(unit: Any, degree: int, xp: Any) -> list[Any]:
    """Return the columns of the degrees 0, ..., ``degree``, a list of arrays.

    All degrees in up to three dimensions, and degrees up to 2 in more.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.asarray([[0.6, 0.0, 0.8]]), np.asarray([[0.0, 0.0, 1.0]])
    >>> left, right = harmonics(x, 3, np), harmonics(y, 3, np)
    >>> [round(float((a * b).sum()), 3) for a, b in zip(left, right)]
    [1.0, 0.8, 0.46, 0.08]
    """
    one = unit[:, :1] * 0 + 1.0
    d = unit.shape[1]
    if degree == 0:
        return [one]
    if d == 2:
        return [one, *_circle(unit, degree, xp)]
    if d == 3:
        return _sphere(unit, degree, xp)
    if d == 1:
        return [unit if l % 2 else one for l in range(degree + 1)]
    return [one, unit] if degree == 1 else [one, unit, quadratic(unit, None, xp)]


def _circle(unit: Any, degree: int, xp: Any) -> list[Any]:
    """Return cos(lθ) and sin(lθ), by the powers of a complex number."""
    x, y = unit[:, :1], unit[:, 1:]
    cosine, sine = x, y
    found = [xp.concat([cosine, sine], axis=1)]
    for _ in range(degree - 1):
        cosine, sine = cosine * x - sine * y, sine * x + cosine * y
        found.append(xp.concat([cosine, sine], axis=1))
    return found


def _sphere(unit: Any, degree: int, xp: Any) -> list[Any]:
    """Return real spherical harmonics, each degree over √(2l + 1) of the normalised ones.

    Y_lm is a polynomial q_lm of z times the real or imaginary part of (x + iy)^m, so that
    nothing is divided by the distance to the pole.
    """
    starts, ahead, behind = _sphere_steps(degree)
    if is_numpy(unit):
        from ._jit.harmonics import sphere_columns

        out = np.empty((unit.shape[0], (degree + 1) ** 2), dtype=unit.dtype)
        sphere_columns(unit, out, starts, ahead, behind)
        return [out[:, l * l : (l + 1) ** 2] for l in range(degree + 1)]
    x, y, z = unit[:, 0], unit[:, 1], unit[:, 2]
    found: list[list[Any]] = [[] for _ in range(degree + 1)]
    cosine, sine = x * 0 + 1.0, x * 0
    for m in range(degree + 1):
        if m > 0:
            cosine, sine = cosine * x - sine * y, sine * x + cosine * y
        before, now = x * 0, x * 0 + float(starts[m])
        for l in range(m, degree + 1):
            scaled = now * (2 * l + 1) ** -0.5
            found[l] += [scaled] if m == 0 else [scaled * cosine, scaled * sine]
            value = float(ahead[l, m]) * (z * now) - float(behind[l, m]) * before
            before, now = now, value
    return [xp.stack(columns, axis=1) for columns in found]


@lru_cache(maxsize=8)
def _sphere_steps(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q_mm for every m, and the coefficients of the recurrence over l."""
    m = np.arange(degree + 1)
    ratios = np.sqrt((2 * m[1:] + 1) / (2 * m[1:]))
    starts = np.concatenate([[1.0], math.sqrt(2.0) * np.cumprod(ratios)])
    ahead, behind = np.zeros((2, degree + 1, degree + 1))
    for l in range(degree + 1):
        own, k = np.arange(l + 1), l + 1
        factor = (2 * k + 1) / ((k - own) * (k + own))
        ahead[l, : l + 1] = np.sqrt(factor * (2 * k - 1))
        if l > 0:
            behind[l, :l] = np.sqrt(factor[:l] * (l - own[:l]) * (l + own[:l]) / (2 * l - 1))
    return starts, ahead, behind


def quadratic(unit: Any, factors: Any, xp: Any, out: Any = None) -> Any:
    """Return the columns of degree 2 in any dimension: products, and squares less 1 / d.

    A row of zeros gives zeros.

    Parameters
    ----------
    unit : array of shape (n, d)
        Rows of norm one.
    factors : array of shape (n,) or None
        What to multiply every row with.
    out : array of shape (n, d (d + 1) / 2), optional
        Where to put the result, for libraries with fused kernels.

    Examples
    --------
    >>> quadratic(np.asarray([[1.0, 0.0]]), np.asarray([0.5]), np).round(4)
    array([[ 0.3536, -0.3536,  0.    ]])
    """
    d = unit.shape[1]
    scale = math.sqrt(d / (d - 1))
    if out is not None and factors is not None and has_fused_kernels(unit):
        from ._cuda import harmonics as cuda

        first, second = (like(unit, places) for places in _with_squares(d))
        return cuda.quadratic(unit, factors, first, second, scale, out)
    found = _quadratic(unit, scale, xp)
    return found if factors is None else found * factors[:, None]


def _quadratic(unit: Any, scale: float, xp: Any) -> Any:
    """Return the columns of degree 2, without factors."""
    d = unit.shape[1]
    squared = xp.sum(unit * unit, axis=1)[:, None]
    squares = (unit * unit - squared / d) * scale
    twice = unit * (scale * math.sqrt(2.0))
    if is_numpy(unit):
        mixed = [unit[:, a : a + 1] * twice[:, a + 1 :] for a in range(d - 1)]
        return xp.concat([squares, *mixed], axis=1)
    # One product of gathered columns in place of many small ones, each of which is a launch.
    first, second = (like(unit, places) for places in _pairs(d))
    mixed = xp.take(unit, first, axis=1) * xp.take(twice, second, axis=1)
    return xp.concat([squares, mixed], axis=1)


@lru_cache(maxsize=8)
def _with_squares(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of equal columns, and behind them those of different ones."""
    first, second = _pairs(d)
    own = np.arange(d)
    return frozen(np.concatenate([own, first])), frozen(np.concatenate([own, second]))


@lru_cache(maxsize=8)
def _pairs(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of different columns."""
    first, second = np.triu_indices(d, 1)
    return frozen(first), frozen(second)
