"""Some of the rows, drawn with known probabilities: what is found of them speaks for all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import stdtrit

from .._array import take_rows, to_numpy
from .._random import Stream, seed_of
from .._sklearn import check_rows
from ..kernels import Kernel

#: What an interval is to cover.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class SomeRows:
    """Checked rows that were drawn from others.

    Attributes
    ----------
    chosen : array of shape (n_rows, n_features)
        The rows.
    n_total : int
        How many there are.
    inclusion : array of shape (n_rows,)
        The probability with which each of them was to be drawn.
    """

    chosen: Any
    n_total: int
    inclusion: np.ndarray


def some_rows(
    owner: Any, X: Any, n_rows: int, random_state: Any = 0, kernel: Kernel | None = None
) -> SomeRows:
    """Return rows of ``X`` at random, or all if there are no more than asked for.

    Parameters
    ----------
    owner : fitted transformer or None
        Whose columns they must have.
    X : array of shape (n_samples, n_features)
        The data.
    n_rows : int
        How many.
    random_state : int, RandomState, Generator or None, default=0
        Which.
    kernel : Kernel, default=None
        Rows are drawn the more often the larger their kernel with themselves is: few rows may
        hold most of a matrix. ``None``: all alike.

    Examples
    --------
    >>> rows = some_rows(None, np.eye(5), 2)
    >>> rows.chosen.shape, rows.n_total, rows.inclusion
    ((2, 5), 5, array([0.4, 0.4]))
    """
    if isinstance(n_rows, bool) or not isinstance(n_rows, Integral) or n_rows < 1:
        raise ValueError(f"n_rows must be a positive integer, got {n_rows!r}.")
    X = check_rows(X, owner=owner)
    total = int(X.shape[0])
    if total <= n_rows:
        return SomeRows(X, total, np.ones(total))
    sizes = np.ones(total)
    if kernel is not None:
        diagonal = np.maximum(to_numpy(kernel.diag(X)).astype(float), 0.0)
        mean = float(diagonal.mean())
        # Half of the draws are for rows that only look small.
        sizes += diagonal / mean if 0 < mean < math.inf else 0.0
    inclusion = inclusion_probabilities(sizes, int(n_rows))
    generator = Stream(seed_of(random_state)).child("rows").generator()
    chosen = drawn(inclusion, generator)
    return SomeRows(take_rows(X, chosen), total, inclusion[chosen])


def inclusion_probabilities(sizes: np.ndarray, n_rows: int) -> np.ndarray:
    """Return probabilities in proportion to sizes, at most 1, whose sum is a number of rows.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 1.0, 8.0]), 2)
    array([0.5, 0.5, 1. ])
    """
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        rest = sizes[~certain].sum()
        found = np.where(certain, 1.0, sizes * (n_rows - certain.sum()) / rest)
        if not (found > 1).any():
            return found
        certain |= found > 1


def drawn(inclusion: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return places drawn with given probabilities, as many as these sum to, in order.

    Examples
    --------
    >>> drawn(np.array([1.0, 0.0, 1.0]), np.random.default_rng(0))
    array([0, 2])
    """
    order = generator.permutation(len(inclusion))
    ends = np.cumsum(inclusion[order])
    n_rows = round(float(ends[-1]))
    marks = generator.uniform() + np.arange(n_rows)
    return np.sort(order[np.minimum(np.searchsorted(ends, marks), len(order) - 1)])


def relative_norm(
    above: np.ndarray, below: np.ndarray, inclusion: np.ndarray
) -> tuple[float, float, float]:
    """Return the root of a ratio of sums over all pairs of rows, and an interval, from some rows.

    Every entry counts as often as the probability asks for with which its two rows were to be
    drawn. The interval is that of the linearised logarithm; rows that were certain to be drawn add
    nothing to it.

    Parameters
    ----------
    above, below : arrays of shape (n_rows, n_rows)
        Squares of a symmetric difference, and of what it is compared with.
    inclusion : array of shape (n_rows,)
        The probabilities of the rows.

    Examples
    --------
    >>> squares = np.ones((5, 5))
    >>> relative_norm(4 * squares, squares, np.full(5, 0.1))
    (2.0, 2.0, 2.0)
    """
    n, doubt = len(above), 1 - inclusion
    if n < 3:
        raise ValueError(f"An interval needs at least 3 of the rows, got {n}.")
    # How often two rows are drawn together: a little less than independent ones.
    together = 1 - np.outer(doubt, doubt) / max(float(doubt.sum()), 1e-300)
    weights = 1 / (inclusion[:, None] * inclusion * np.maximum(together, 1e-300))
    np.fill_diagonal(weights, 1 / inclusion)
    own, other = float(np.sum(weights * above)), float(np.sum(weights * below))
    if not (own > 0 and other > 0):
        return 0.0, 0.0, 0.0
    ratio = own / other
    rest = above - ratio * below
    # What the total would change by with a row: twice beside the diagonal, once on it.
    influence = 2 * np.sum(weights * rest, axis=1) - np.diag(rest) / inclusion
    spread = math.sqrt(float(np.sum(doubt * influence**2)) * n / (n - 1)) / (2 * own)
    margin = spread * float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    value = math.sqrt(ratio)
    return value, value * math.exp(-margin), value * math.exp(margin)
