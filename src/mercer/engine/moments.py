"""Means and deviations of columns, added up block by block."""

from __future__ import annotations

import copy
from typing import Any

import array_api_compat
import numpy as np
import scipy.sparse

from .._array import as_floating, is_sparse, namespace, to_numpy
from .._registry import storable

#: Standard deviation of a column, relative to its mean, that is rounding.
ROUNDING = 16 * np.finfo(float).eps
#: Entries between these powers of two have squares that neither overflow nor vanish.
PLAIN_RANGE = (2.0**-400, 2.0**400)
#: Exponent of the unit of a column that has held nothing but zeros; any other is larger.
NO_UNIT = -2000


@storable
class ColumnMoments:
    """Weighted means, squared deviations and ranges of columns, whatever the blocks are.

    Blocks are added in any order, and other moments merged; only rounding depends on the order.
    NaN is a missing entry, and rows of weight 0 are ignored entirely.

    The mean is held as two numbers, the second of which is what the first one lost in rounding,
    and deviations are taken from it, so a constant column has a deviation of exactly 0 and a
    column of 10¹⁵, 10¹⁵ + 1, ... has the right one. Columns of very large or very small entries
    are counted in units of a power of two: no square overflows or vanishes. Blocks are merged by
    the formula of Chan, Golub and LeVeque [1]_.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight.
    row_weight : float
        The sum of their weights.
    count : integer array of shape (n_columns,)
        Entries of each column that are not missing.
    weight : array of shape (n_columns,)
        The sum of their weights.
    low, high : arrays of shape (n_columns,)
        The smallest and the largest entry; infinity and minus infinity where there is none.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample
       variance: analysis and recommendations", The American Statistician 37, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.engine.moments import ColumnMoments
    >>> moments = ColumnMoments()
    >>> moments.add(np.asarray([[1.0], [3.0]]))
    >>> moments.add(np.asarray([[2.0], [np.nan]]))
    >>> float(moments.mean[0]), float(moments.deviation()[0].round(4))
    (2.0, 0.8165)
    >>> int(moments.count[0]), float(moments.low[0]), float(moments.high[0])
    (3, 1.0, 3.0)
    """

    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __init__(self) -> None:
        self.n_rows: int = 0
        self.row_weight: float = 0.0
        self.count: np.ndarray = np.empty(0, dtype=np.int64)
        self.weight = self.low = self.high = np.empty(0)
        # In units of 2**exponent; the mean is the sum of center and correction.
        self._center = self._correction = self._squares = np.empty(0)
        self._exponent = np.empty(0, dtype=np.int64)

    @classmethod
    def of(cls, block: Any, weights: np.ndarray | None = None) -> ColumnMoments:
        """Return the moments of one block; see :meth:`add`."""
        moments = cls()
        moments.add(block, weights)
        return moments

    def add(self, block: Any, weights: np.ndarray | None = None) -> None:
        """Add a block of rows.

        Parameters
        ----------
        block : array of any library, or CSR, of shape (n_rows, n_columns)
            The rows. A column with an infinite entry has a mean and a deviation of NaN.
        weights : array of shape (n_rows,), optional
            Sample weights, not negative.
        """
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            block, weights = _rows(block, kept), weights[kept]
        if block.shape[0] == 0:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            found = _of_csr(block, weights) if is_sparse(block) else _of_dense(block, weights)
        self.merge(found)

    def merge(self, other: ColumnMoments) -> None:
        """Add the rows that other moments have seen; ``other`` stays as it is."""
        if other.n_rows == 0:
            return
        if self.n_rows == 0:
            self.__dict__.update(other.__dict__)
            return
        if len(self.count) != len(other.count):
            raise ValueError(
                f"A block must have {len(self.count)} columns, as those before it; got "
                f"{len(other.count)}."
            )
        exponent = np.maximum(self._exponent, other._exponent)
        center, correction, squares = self._in_units(exponent)
        their_center, their_correction, their_squares = other._in_units(exponent)
        # From the heavier side: a light one far away would cost its digits.
        theirs = other.weight > self.weight
        start = np.where(theirs, their_center, center)
        rest = np.where(theirs, their_correction, correction)
        both = np.minimum(self.weight, other.weight) > 0
        light = np.where(both, np.where(theirs, self.weight, other.weight), 0.0)
        share = light / np.where(both, self.weight + other.weight, 1.0)
        with np.errstate(invalid="ignore"):
            shift = (their_center - center) + (their_correction - correction)
            shift = np.where(both, shift, 0.0)
            moved = rest + np.where(theirs, -shift, shift) * share
            self._center, self._correction = _two_sum(start, moved)
            self._squares = squares + their_squares + shift**2 * (light * (1 - share))
        self._exponent = exponent
        self.weight = self.weight + other.weight
        self.count = self.count + other.count
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.n_rows += other.n_rows
        self.row_weight += other.row_weight

    @property
    def mean(self) -> np.ndarray:
        """The means; NaN for columns without entries."""
        found = np.ldexp(self._center + self._correction, self._exponent)
        return np.where(self.weight > 0, found, np.nan)

    @property
    def squares(self) -> np.ndarray:
        """The weighted sums of squared deviations from the means; 0 for columns without entries."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self._squares, 2 * self._exponent)

    def variance(self) -> np.ndarray:
        """Return the variances, infinite where float64 cannot hold them; NaN without entries."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self._squares / self._known_weight(), 2 * self._exponent)

    def deviation(self, rounding: float = ROUNDING) -> np.ndarray:
        """Return the standard deviations; NaN for columns without entries.

        Parameters
        ----------
        rounding : float, default=16 times the spacing of float64 at 1
            A deviation of at most this times the absolute mean is returned as 0.
        """
        found = np.ldexp(np.sqrt(self._squares / self._known_weight()), self._exponent)
        return np.where(found <= rounding * abs(self.mean), 0.0, found)

    def pooled(self) -> ColumnMoments:
        """Return the moments of all entries of all columns, as those of a single column.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.engine.moments import ColumnMoments
        >>> ColumnMoments.of(np.asarray([[0.0, 2.0], [4.0, 6.0]])).pooled().mean
        array([3.])
        """
        pooled = ColumnMoments()
        if not self.count.any():
            return pooled
        exponent = np.full_like(self._exponent, self._exponent.max())
        center, correction, squares = self._in_units(exponent)
        total = self.weight.sum()
        low, high = self.low.min(), self.high.max()
        middle = np.ldexp(low, -exponent[0]) if low == high else self.weight @ center / total
        shift = np.where(self.weight > 0, (center - middle) + correction, 0.0)
        rest = self.weight @ shift / total
        pooled.n_rows, pooled.row_weight = int(self.count.sum()), float(total)
        pooled.count, pooled.weight = np.asarray([pooled.n_rows]), np.asarray([total])
        pooled.low, pooled.high = np.asarray([low]), np.asarray([high])
        pooled._center, pooled._correction = _two_sum(np.asarray([middle]), np.asarray([rest]))
        pooled._squares = np.asarray([squares.sum() + self.weight @ (shift - rest) ** 2])
        pooled._exponent = exponent[:1]
        return pooled

    def beside(self, *others: ColumnMoments) -> ColumnMoments:
        """Return moments of these columns and, to the right of them, those of others."""
        joined, parts = self.copy(), (self, *others)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(joined, name, np.concatenate([getattr(part, name) for part in parts]))
        return joined

    def copy(self) -> ColumnMoments:
        """Return moments that can be added to without a change in these."""
        # No array is ever changed in place.
        return copy.copy(self)

    def _known_weight(self) -> np.ndarray:
        return np.where(self.weight > 0, self.weight, np.nan)

    def _in_units(self, exponent: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the two parts of the mean and the squares, in larger units."""
        change = self._exponent - exponent
        if not change.any():
            return self._center, self._correction, self._squares
        return (
            np.ldexp(self._center, change),
            np.ldexp(self._correction, change),
            np.ldexp(self._squares, 2 * change),
        )


def _of_dense(block: Any, weights: np.ndarray | None) -> ColumnMoments:
    """Return the moments of a dense block of any library whose rows all have weight."""
    xp = namespace(block)
    values = as_floating(block, "float64")
    missing = xp.isnan(values)
    some_missing = bool(xp.any(missing))

    def filled(value: float) -> Any:
        return xp.where(missing, value, values) if some_missing else values

    moments = _of_rows(values.shape[0], weights)
    moments.low = to_numpy(xp.min(filled(np.inf), axis=0))
    moments.high = to_numpy(xp.max(filled(-np.inf), axis=0))
    moments._exponent = _exponents(moments.low, moments.high)
    values = _in_units(filled(0.0), moments)
    mass = _masses(values, missing if some_missing else None, weights)
    moments.count = to_numpy(xp.sum(xp.astype(~missing, xp.int64), axis=0))

    def total(terms: Any) -> np.ndarray:
        return to_numpy(xp.sum(terms if mass is None else terms * mass, axis=0))

    moments.weight = (
        total(xp.ones_like(values)) if mass is not None else moments.count.astype(float)
    )
    moments._center = _centers(total(values), moments)
    values = values - _moved(moments._center, values)
    moments._correction = total(values) / _divisor(moments)
    values = values - _moved(moments._correction, values)
    moments._squares = total(values * values)
    return moments


def _of_csr(block: Any, weights: np.ndarray | None) -> ColumnMoments:
    """Return the moments of a CSR block whose rows all have weight; it is not made dense."""
    rows = scipy.sparse.csr_array(block)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    columns, values = rows.indices, rows.data.astype(float)
    mass = np.repeat(np.ones(rows.shape[0]) if weights is None else weights, np.diff(rows.indptr))
    moments = _of_rows(rows.shape[0], weights)

    def total(terms: np.ndarray) -> np.ndarray:
        return np.bincount(columns, weights=terms, minlength=rows.shape[1])

    missing = np.isnan(values)
    moments.count = moments.n_rows - total(missing).astype(np.int64)
    moments.weight = np.where(moments.count > 0, moments.row_weight - total(missing * mass), 0.0)
    columns, values, mass = (part[~missing] for part in (columns, values, mass))
    # Entries that are not stored are zeros.
    has_zeros = total(np.ones_like(mass)) < moments.count
    zeros = np.where(has_zeros, moments.weight - total(mass), 0.0)
    moments.low, moments.high = (np.where(has_zeros, 0.0, end) for end in (np.inf, -np.inf))
    np.minimum.at(moments.low, columns, values)
    np.maximum.at(moments.high, columns, values)
    moments._exponent = _exponents(moments.low, moments.high)
    values = np.ldexp(values, -_applied(moments)[columns])
    moments._center = _centers(total(mass * values), moments)
    values = values - moments._center[columns]
    rest = total(mass * values) - zeros * moments._center
    moments._correction = rest / _divisor(moments)
    values = values - moments._correction[columns]
    around_zero = zeros * (moments._center + moments._correction) ** 2
    moments._squares = total(mass * values * values) + around_zero
    return moments


def _of_rows(n_rows: int, weights: np.ndarray | None) -> ColumnMoments:
    moments = ColumnMoments()
    moments.n_rows = int(n_rows)
    moments.row_weight = float(n_rows if weights is None else weights.sum())
    return moments


def _exponents(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the exponents of the units of columns, 0 where squares are safe without one."""
    largest = np.maximum(-low, high)
    plain = (largest >= PLAIN_RANGE[0]) & (largest <= PLAIN_RANGE[1]) | ~np.isfinite(largest)
    exponent = np.where(plain, 0, np.frexp(np.where(plain, 0.0, largest))[1])
    nothing = (largest == 0) | (largest == -np.inf)
    return np.where(nothing, NO_UNIT, exponent).astype(np.int64)


def _applied(moments: ColumnMoments) -> np.ndarray:
    """Return the exponents by which entries are divided: zeros need none."""
    return np.where(moments._exponent == NO_UNIT, 0, moments._exponent)


def _in_units(values: Any, moments: ColumnMoments) -> Any:
    """Return a dense block in the units of its columns."""
    exponent = _applied(moments)
    if not exponent.any():
        return values
    half = exponent // 2
    # The power itself may be too large for a float; twice its half is not.
    for part in (half, exponent - half):
        values = values * _moved(np.ldexp(1.0, -part), values)
    return values


def _masses(values: Any, missing: Any, weights: np.ndarray | None) -> Any:
    """Return the weight of each entry in a shape that goes with the block; ``None`` if all 1."""
    xp = namespace(values)
    present = None if missing is None else xp.astype(~missing, xp.float64)
    if weights is None:
        return present
    mass = _moved(np.asarray(weights, dtype=float), values)[:, None]
    return mass if present is None else mass * present


def _moved(array: np.ndarray, values: Any) -> Any:
    """Return an array in the library and on the device of a block."""
    if isinstance(values, np.ndarray):
        return array
    return namespace(values).asarray(array.copy(), device=array_api_compat.device(values))


def _divisor(moments: ColumnMoments) -> np.ndarray:
    return np.where(moments.count > 0, moments.weight, 1.0)


def _centers(totals: np.ndarray, moments: ColumnMoments) -> np.ndarray:
    """Return the means up to rounding, and exactly for columns of one value."""
    only = np.ldexp(np.where(moments.low == moments.high, moments.low, 0.0), -_applied(moments))
    return np.where(moments.low == moments.high, only, totals / _divisor(moments))


def _two_sum(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a sum and what it lost in rounding (Knuth)."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


def _rows(block: Any, kept: np.ndarray) -> Any:
    if is_sparse(block):
        return scipy.sparse.csr_array(block)[kept]
    if isinstance(block, np.ndarray):
        return block[kept]
    return namespace(block).take(block, _moved(kept, block), axis=0)
