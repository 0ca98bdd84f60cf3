"""Sparse polynomials in an orthonormal basis, and their leap complexity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import checked_integer

#: The coordinates whose product a term is, ascending; a repeated one counts its degree.
Monomial = tuple[int, ...]


@dataclass(frozen=True, init=False, repr=False)
class SparsePolynomial:
    r"""A polynomial of few terms, each a product of few coordinates.

    The terms are :math:`b_\alpha \prod_j h_{\alpha_j}(x_j)` with :math:`h_k` the Hermite
    polynomial of degree k, scaled to variance 1 under the normal law [1]_:
    :math:`h_1(x) = x`, :math:`h_2(x) = (x^2 - 1)/\sqrt 2`. A term without repeated
    coordinates is the plain product of its coordinates. Such terms are orthonormal on the
    hypercube, and all terms are for normal inputs.

    Parameters
    ----------
    terms : mapping of tuples of int to float
        Coordinates, counted from 0, and the coefficient of their product. ``(0, 2)`` stands
        for :math:`x_0 x_2`, ``(1, 1)`` for :math:`h_2(x_1)`, ``()`` for the constant. The
        order of the coordinates does not matter; terms with coefficient 0 are dropped.

    References
    ----------
    .. [1] L. Zhu et al., "Iteratively reweighted kernel machines efficiently learn sparse
       functions", arXiv 2505.08277, section 3.

    Examples
    --------
    >>> from mercer.datasets import SparsePolynomial
    >>> f = SparsePolynomial({(0,): 1.0, (0, 2): -2.0})
    >>> f([[1.0, 5.0, 3.0], [-1.0, 0.0, 1.0]])
    array([-5.,  1.])
    >>> f.coordinates, f.degree, f.variance
    ((0, 2), 2, 5.0)
    """

    _pairs: tuple[tuple[Monomial, float], ...]

    def __init__(self, terms: Mapping[Monomial, float]) -> None:
        if not isinstance(terms, Mapping):
            raise TypeError(
                "terms must map tuples of coordinates to coefficients, got a "
                f"{type(terms).__name__}; write for example {{(0,): 1.0, (0, 1): 2.0}}."
            )
        merged: dict[Monomial, float] = {}
        for key, value in terms.items():
            monomial = _checked_monomial(key)
            merged[monomial] = merged.get(monomial, 0.0) + _checked_coefficient(key, value)
        kept = [pair for pair in merged.items() if pair[1] != 0]
        kept.sort(key=lambda pair: (len(pair[0]), pair[0]))
        object.__setattr__(self, "_pairs", tuple(kept))

    @property
    def terms(self) -> dict[Monomial, float]:
        """The coefficient of each monomial, short monomials first."""
        return dict(self._pairs)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The coordinates on which the polynomial depends, ascending."""
        return tuple(sorted({j for monomial, _ in self._pairs for j in monomial}))

    @property
    def degree(self) -> int:
        """The largest number of factors of a term."""
        return max((len(monomial) for monomial, _ in self._pairs), default=0)

    @property
    def variance(self) -> float:
        """The variance for inputs in whose law the terms are orthonormal."""
        return float(sum(value**2 for monomial, value in self._pairs if monomial))

    @property
    def is_multilinear(self) -> bool:
        """Whether no term repeats a coordinate."""
        return all(len(set(monomial)) == len(monomial) for monomial, _ in self._pairs)

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Return the values at the rows of ``X``, as float64.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Numbers, with a column for each coordinate.
        """
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise ValueError(
                "X must be a two-dimensional array of real numbers, got shape "
                f"{rows.shape} and dtype {rows.dtype}; give one row for each sample."
            )
        needed = max(self.coordinates, default=-1) + 1
        if rows.shape[1] < needed:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the polynomial depends on coordinate "
                f"{needed - 1}; give at least {needed} columns."
            )
        values = np.zeros(rows.shape[0])
        for monomial, coefficient in self._pairs:
            product = np.full(rows.shape[0], coefficient)
            for coordinate, degree in Counter(monomial).items():
                product *= _hermite(rows[:, coordinate].astype(float), degree)
            values += product
        return values

    def __repr__(self) -> str:
        return f"SparsePolynomial({self.terms})"


def leap_complexity(polynomial: SparsePolynomial) -> int:
    r"""Return the leap complexity of a sparse polynomial.

    The terms are put in an order; each one leaps by the degree it has in coordinates that
    no term before it contains. The leap complexity is the largest leap in the order that
    keeps it smallest [1]_. For multilinear polynomials a leap is a number of new
    coordinates, which is definition 2 of [2]_; degrees are counted where coordinates
    repeat, as [1]_ does for normal inputs: :math:`h_2(x_1)` leaps by 2. A constant leaps
    by 0.

    Parameters
    ----------
    polynomial : SparsePolynomial
        The terms with nonzero coefficients.

    Notes
    -----
    Taking the term with the smallest leap each time is optimal. Of the terms not yet taken,
    the one that comes first in a best order has all its predecessors among those taken, so
    that its leap now is at most its leap there, and the leap of the term taken is no larger.

    References
    ----------
    .. [1] E. Abbe, E. Boix-Adsera and T. Misiakiewicz, "SGD learning on neural networks:
       leap complexity and saddle-to-saddle dynamics", COLT 2023.
    .. [2] L. Zhu et al., "Iteratively reweighted kernel machines efficiently learn sparse
       functions", arXiv 2505.08277.

    Examples
    --------
    >>> from mercer.datasets import SparsePolynomial, leap_complexity
    >>> leap_complexity(SparsePolynomial({(0,): 1, (1,): 1, (0, 1, 2): 1, (0, 1, 2, 3): 1}))
    1
    >>> leap_complexity(SparsePolynomial({(0, 1): 1, (0, 1, 2, 3): 1}))
    2
    """
    if not isinstance(polynomial, SparsePolynomial):
        raise TypeError(
            f"polynomial must be a SparsePolynomial, got a {type(polynomial).__name__}; "
            "write SparsePolynomial({(0,): 1.0, (0, 1): 2.0})."
        )
    remaining = list(polynomial.terms)
    seen: set[int] = set()
    largest = 0
    while remaining:
        leaps = [sum(j not in seen for j in monomial) for monomial in remaining]
        smallest = min(leaps)
        largest = max(largest, smallest)
        seen.update(remaining.pop(leaps.index(smallest)))
    return largest


def staircase(n_steps: int, leap: int = 1) -> SparsePolynomial:
    r"""Return the hierarchical polynomial that brings ``leap`` new coordinates at each step.

    It is the sum over i of the product of the first :math:`i \cdot \text{leap}`
    coordinates, with leap complexity ``leap``.

    Parameters
    ----------
    n_steps : int
        The number of terms.
    leap : int, default=1
        The number of new coordinates in each term.

    Examples
    --------
    >>> from mercer.datasets import leap_complexity, staircase
    >>> staircase(3)
    SparsePolynomial({(0,): 1.0, (0, 1): 1.0, (0, 1, 2): 1.0})
    >>> leap_complexity(staircase(2, leap=3))
    3
    """
    n_steps = checked_integer("n_steps", n_steps, 1)
    leap = checked_integer("leap", leap, 1)
    return SparsePolynomial({tuple(range(leap * (step + 1))): 1.0 for step in range(n_steps)})


def _hermite(x: np.ndarray, degree: int) -> np.ndarray:
    """Return the Hermite polynomial of ``degree`` at ``x``, scaled to norm 1."""
    before, value = np.zeros_like(x), np.ones_like(x)
    for k in range(degree):
        before, value = value, (x * value - k**0.5 * before) / (k + 1) ** 0.5
    return value


def _checked_monomial(monomial: Any) -> Monomial:
    if not isinstance(monomial, tuple):
        raise TypeError(
            f"The keys of terms must be tuples of coordinates, got {monomial!r}; write "
            "(3,) for the coordinate 3 alone."
        )
    for j in monomial:
        if not isinstance(j, Integral) or isinstance(j, bool) or j < 0:
            raise ValueError(
                f"The coordinates of a term must be whole numbers from 0 on, but {monomial!r} "
                f"contains {j!r}."
            )
    return tuple(sorted(int(j) for j in monomial))


def _checked_coefficient(monomial: Any, coefficient: Any) -> float:
    is_number = isinstance(coefficient, Real) and not isinstance(coefficient, bool)
    if not is_number or not np.isfinite(float(coefficient)):
        raise ValueError(
            f"The coefficient of {monomial!r} must be a finite number, got {coefficient!r}."
        )
    return float(coefficient)


def _sum(*monomials: Monomial) -> SparsePolynomial:
    """Return the sum of monomials, all with coefficient 1."""
    return SparsePolynomial(dict.fromkeys(monomials, 1.0))


#: The targets of arXiv 2505.08277 by figure, with coordinates counted from 1 in this list.
#: figure1: x1 + x2 + x3 + x1x2x3, leap 1 (figures 1, 6A and, rotated, 7A).
#: figure2: x1 + x2 + x1x2x3 + x1x2x3x4, leap 1 (figures 2, 6B and 9a).
#: figure3: the same with rotated inputs (figures 3 and 9c).
#: figure8: x1x2 + x1x2x3x4, leap 2.
#: figure9: x1 + x2x3 + x1x2x3x4x5, leap 2 (panels b and d).
TARGETS: Mapping[str, SparsePolynomial] = MappingProxyType(
    {
        "figure1": _sum((0,), (1,), (2,), (0, 1, 2)),
        "figure2": _sum((0,), (1,), (0, 1, 2), (0, 1, 2, 3)),
        "figure3": _sum((0,), (1,), (0, 1, 2), (0, 1, 2, 3)),
        "figure8": _sum((0, 1), (0, 1, 2, 3)),
        "figure9": _sum((0,), (1, 2), (0, 1, 2, 3, 4)),
    }
)
