"""Distribution functions of columns of numbers, learnt block by block in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from .._array import as_floating, floating_name, is_sparse, like, to_numpy
from .._registry import storable

#: Different values of a column that are all counted; beyond it neighbours are grouped.
MOST_POINTS = 2048
#: Groups of equal weight into which a column with more values is divided.
GROUPS = 1024
#: Entries of blocks that wait to be sorted together, at most.
MOST_PENDING = 2**23


@storable
@dataclass(frozen=True)
class Quantiles:
    r"""The distribution of the numbers seen so far, as points with weights.

    Up to 2,048 different values are counted exactly. A column with more of them is divided into
    1,024 parts of equal weight; the values of a part are replaced by their weighted median. A
    value that outweighs two parts remains a point of its own, so ties are kept. No other point
    holds more than 2 / 1,024 of the weight. By about this much (0.002) the distribution function
    is wrong at most: for a single block by construction, and as measured for thousands of merged
    blocks, sorted or not. There is no proof for every order of blocks.

    Nothing is sampled: the same blocks in the same order give the same points.

    Attributes
    ----------
    values : array of shape (n_points,)
        Increasing.
    weights : integer array of shape (n_points,)
        How many numbers each point stands for.
    exact : bool
        Whether the points are all values that were seen, with their counts.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing.quantiles import Quantiles
    >>> found = Quantiles.of(np.asarray([3.0, 1.0, np.nan])).merged(Quantiles.of(np.asarray([3.0])))
    >>> found.values, found.weights
    (array([1., 3.]), array([1, 2]))
    """

    values: np.ndarray
    weights: np.ndarray
    exact: bool = True

    @classmethod
    def of(cls, numbers: np.ndarray, zeros: int = 0) -> Quantiles:
        """Return the distribution of an array.

        Parameters
        ----------
        numbers : array of shape (n,)
            Finite numbers of any type; NaN is missing.
        zeros : int, default=0
            Further zeros, which are not in the array.
        """
        if numbers.dtype.itemsize >= 8:
            # Large integers that float64 does not tell apart are one value.
            numbers = numbers.astype(float, copy=False)
        # The stable sort of narrow integers is radix sort.
        ordered = np.sort(numbers, kind="stable" if numbers.dtype.itemsize <= 2 else None)
        if ordered.dtype.kind == "f" and len(ordered) and np.isnan(ordered[-1]):
            ordered = ordered[: np.searchsorted(ordered, np.nan)]
        last = _last_places(ordered)
        found = _compacted(ordered, last, last + 1, exact=True)
        if zeros:
            found = found.merged(cls(np.zeros(1), np.asarray([zeros])))
        return found

    def merged(self, other: Quantiles) -> Quantiles:
        """Return the distribution of the numbers of both."""
        if not len(self.values) or not len(other.values):
            return self if len(self.values) else other
        values = np.concatenate([self.values, other.values])
        # Two increasing runs, which the stable sort merges.
        order = np.argsort(values, kind="stable")
        values = values[order]
        total = np.cumsum(np.concatenate([self.weights, other.weights])[order])
        last = _last_places(values)
        return _compacted(values, last, total[last], self.exact and other.exact)

    def ranks(self) -> Ranks:
        """Return the function from numbers to ranks."""
        total = np.cumsum(self.weights)
        middle = (total - 0.5 * self.weights) / total[-1]
        step = np.zeros_like(middle)
        if not self.exact:
            heavy = _heavy(self.weights, total[-1])
            step[heavy] = 0.5 * self.weights[heavy] / total[-1]
        return Ranks(self.values, middle, step)

    def whole_values(self, most: int) -> np.ndarray | None:
        """Return the values if they are whole numbers, more than two and at most ``most``."""
        if not self.exact or not 2 < len(self.values) <= most:
            return None
        whole = (self.values == np.floor(self.values)) & (abs(self.values) <= 2.0**53)
        return self.values if whole.all() else None


@storable
@dataclass(frozen=True)
class Ranks:
    r"""The function :math:`\sqrt{12} (F(x) - 1/2)` of a distribution function F.

    At a known value F is the middle of its step, and between two of them it is linear. Beyond
    the first and the last it stays what it is there. For a continuous distribution the result is
    uniform with mean 0 and variance 1; ties make the variance smaller.

    Attributes
    ----------
    values : array of shape (n_points,)
        The known values, increasing.
    middle : array of shape (n_points,)
        F there.
    step : array of shape (n_points,)
        By how much F is lower just before and higher just after a value: 0 where all values are
        known, and half the weight of frequent values where neighbours were grouped.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing.quantiles import Quantiles
    >>> ranks = Quantiles.of(np.asarray([1.0, 1.0, 2.0, 5.0])).ranks()
    >>> ranks(np.asarray([0.0, 1.0, 1.5, 5.0]), np) / np.sqrt(12) + 0.5
    array([0.25 , 0.25 , 0.4375, 0.875 ])
    """

    values: np.ndarray
    middle: np.ndarray
    step: np.ndarray

    def __call__(self, numbers: Any, xp: Any) -> Any:
        """Return the ranks of float64 numbers, NaN for NaN.

        Parameters
        ----------
        numbers : array of shape (n,)
            Of any library.
        xp : namespace
            The Array API functions of the library.
        """
        values, middle, step = (
            like(numbers, part) for part in (self.values, self.middle, self.step)
        )
        first, last = float(self.values[0]), float(self.values[-1])
        inside = xp.clip(numbers, first, last)
        above = xp.clip(xp.searchsorted(values, inside), 1, len(self.values) - 1)
        low, high = xp.take(values, above - 1), xp.take(values, above)
        start, end = xp.take(middle + step, above - 1), xp.take(middle - step, above)
        known = inside == high
        if not np.isfinite(last - first):
            # The difference overflows; where that of quarters vanishes, so does the numerator.
            inside, low, high = inside / 4, low / 4, high / 4
        gap = high - low
        share = (inside - low) / xp.where(gap > 0, gap, xp.ones_like(gap))
        found = start + share * (end - start)
        found = xp.where(known, xp.take(middle, above), found)
        found = xp.where(numbers <= first, float(self.middle[0]), found)
        return 12**0.5 * (found - 0.5)


@storable
class ColumnQuantiles:
    """The distributions of the columns of a table.

    Attributes
    ----------
    columns : list of Quantiles
        One for each column, of the blocks up to the last :meth:`flush`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing.quantiles import ColumnQuantiles
    >>> found = ColumnQuantiles()
    >>> found.add(np.asarray([[1.0, 5.0], [2.0, 5.0]]))
    >>> found.flush()
    >>> [column.values.tolist() for column in found.columns]
    [[1.0, 2.0], [5.0]]
    """

    def __init__(self) -> None:
        self.columns: list[Quantiles] = []
        self._pending: list[np.ndarray] = []

    def add(self, block: Any) -> None:
        """Add a block of finite numbers, NaN for missing ones.

        The block must not change before :meth:`flush`.

        Parameters
        ----------
        block : array of any library, or CSR, of shape (n_rows, n_columns)
            The rows.
        """
        if is_sparse(block):
            self._merge(_of_csr(block))
            return
        if not isinstance(block, np.ndarray):
            block = to_numpy(as_floating(block, floating_name(block)))
        self._wait([block])

    def flush(self) -> None:
        """Learn from the blocks that were added, and let go of them."""
        if self._pending:
            blocks, self._pending = self._pending, []
            numbers = range(blocks[0].shape[1])
            self._merge(
                [Quantiles.of(np.concatenate([block[:, j] for block in blocks])) for j in numbers]
            )

    def merge(self, other: ColumnQuantiles) -> None:
        """Add the rows that another has seen; ``other`` stays as it is."""
        self._merge(other.columns)
        self._wait(other._pending)

    def copy(self) -> ColumnQuantiles:
        """Return distributions that can be added to without a change in these."""
        other = ColumnQuantiles()
        other.merge(self)
        return other

    def _wait(self, blocks: list[np.ndarray]) -> None:
        """Keep blocks until they are worth a look: few long columns are sorted sooner."""
        self._pending += blocks
        if sum(block.size for block in self._pending) >= MOST_PENDING:
            self.flush()

    def _merge(self, found: list[Quantiles]) -> None:
        if not self.columns:
            self.columns = list(found)
        elif found:
            self.columns = [
                mine.merged(theirs) for mine, theirs in zip(self.columns, found, strict=True)
            ]


def _of_csr(block: Any) -> list[Quantiles]:
    """Return the distributions of the columns of a CSR block, which is not made dense."""
    by_column = scipy.sparse.csc_array(block)
    by_column.sum_duplicates()
    n_rows, ends = by_column.shape[0], by_column.indptr
    return [
        Quantiles.of(by_column.data[start:end], zeros=int(n_rows - (end - start)))
        for start, end in pairwise(ends)
    ]


def _compacted(ordered: np.ndarray, last: np.ndarray, total: np.ndarray, exact: bool) -> Quantiles:
    """Return the distribution of sorted numbers in bounded memory.

    Parameters
    ----------
    ordered : array of shape (n,)
        The numbers, ties included.
    last : integer array of shape (n_values,)
        The last place of each different number.
    total : integer array of shape (n_values,)
        The weight of the numbers up to there.
    exact : bool
        Whether no numbers stand for others yet.
    """
    if len(last) <= MOST_POINTS:
        return Quantiles(ordered[last].astype(float), np.diff(total, prepend=0), exact)
    # A point belongs to the part in which the middle of its weight lies, so a part of several
    # points weighs less than twice its share: only half of the first and half of the last can
    # lie outside. All in integers, and only where parts begin: the rest need not be looked at.
    n, part = total[-1], np.arange(GROUPS)
    near = np.searchsorted(total, -(-part * n // GROUPS))
    weights = _weights(total, near)
    begin = near + ((2 * total[near] - weights) * GROUPS < 2 * part * n)
    # A part begins within each heavy point.
    heavy = near[_heavy(weights, n)]
    begin = np.sort(np.concatenate([begin, heavy, heavy + 1]))
    begin = begin[np.append(begin[1:] != begin[:-1], True) & (begin < len(total))]
    before = total[begin] - _weights(total, begin)
    weights = np.diff(before, append=n)
    median = np.searchsorted(total, before + (weights + 1) // 2)
    return Quantiles(ordered[last[median]].astype(float), weights, exact=False)


def _last_places(ordered: np.ndarray) -> np.ndarray:
    """Return the last place of each different number of a sorted array."""
    ends = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=ends[:-1])
    return np.flatnonzero(ends)


def _weights(total: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the weights of some points from the running total of all."""
    return total[at] - np.where(at > 0, total[at - 1], 0)


def _heavy(weights: np.ndarray, total: int) -> np.ndarray:
    """Return which points outweigh two parts: they are single values that occur often."""
    return weights * GROUPS > 2 * total
