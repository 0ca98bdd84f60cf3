"""Rows with targets, standardised, as often as a machine asks for them."""

from __future__ import annotations

import numpy as np

from .._array import floating_name, to_numpy
from ..engine.blocks import take
from ..engine.streams import as_weights, learning_rows, sliced
from ..ops.products import dense
from .learner_rows import parted

#: Spread of a column, over its mean, that is rounding.
ROUNDING = 16 * np.finfo(float).eps


class Spread:
    """Weighted means and squared deviations of columns, added up block by block.

    Examples
    --------
    >>> spread = Spread()
    >>> spread.add(np.asarray([[1.0], [3.0]]))
    >>> spread.add(np.asarray([[2.0]]))
    >>> float(spread.mean[0]), float(spread.deviation()[0].round(4))
    (2.0, 0.8165)
    """

    def __init__(self):
        self.weight, self._mean, self._squares = 0.0, 0.0, 0.0
        self._reference, self._unit = None, 1.0

    def add(self, block, weights=None):
        """Add a block of rows."""
        if weights is not None:
            block, weights = block[weights > 0], weights[weights > 0]
        if not len(block):
            return
        self._extend(block)
        weights = np.ones(len(block)) if weights is None else weights
        total = float(weights.sum())
        # About the first row: a column that does not vary is exactly 0.
        block = block / self._unit - self._reference / self._unit
        mean = weights @ block / total
        shift = mean - self._mean
        together = self.weight + total
        self._squares = self._squares + weights @ (block - mean) ** 2
        self._squares = self._squares + shift**2 * (self.weight * total / together)
        self._mean = self._mean + shift * (total / together)
        self.weight = together

    def _extend(self, block):
        """Choose units, powers of two near the largest entries: no square vanishes or overflows."""
        largest = np.abs(block).max(axis=0)
        unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))
        if self._reference is None:
            self._reference, self._unit = block[0], unit
            return
        # What was all 0 has no unit yet.
        known = np.where(self._squares > 0, self._unit, 0.0)
        known = np.where(self._reference != 0, self._unit, known)
        unit = np.where(largest > 0, np.maximum(known, unit), self._unit)
        self._mean = self._mean * (self._unit / unit)
        self._squares = self._squares * (self._unit / unit) ** 2
        self._unit = unit

    @property
    def mean(self):
        """The means."""
        return self._reference + self._mean * self._unit

    def deviation(self):
        """Return the standard deviations, 0 for what is rounding."""
        found = np.sqrt(self._squares / self.weight)
        return np.where(found * self._unit <= ROUNDING * abs(self.mean), 0.0, found) * self._unit


class Scales:
    """Means and standard deviations of columns and targets.

    Parameters
    ----------
    columns, targets : Spread
        Of the rows and of their targets.
    standardize : bool
        Whether columns are scaled; targets always are.

    Examples
    --------
    >>> columns, targets = Spread(), Spread()
    >>> columns.add(np.asarray([[1.0], [3.0]]))
    >>> targets.add(np.asarray([[0.0], [4.0]]))
    >>> Scales(columns, targets, True).rows(np.asarray([[3.0]]))
    array([[1.]])
    """

    def __init__(self, columns, targets, standardize):
        spread = columns.deviation()
        self.center = columns.mean if standardize else np.zeros_like(spread)
        self.scale = np.where(spread > 0, spread, 1.0) if standardize else np.ones_like(spread)
        self.spread = spread / self.scale
        #: What a typical row is, far from the origin or not.
        self.typical = np.sqrt(self.spread**2 + ((columns.mean - self.center) / self.scale) ** 2)
        self.target_center = targets.mean
        deviation = targets.deviation()
        self.n_varying = int(np.sum(deviation > 0))
        self.target_scale = np.where(deviation > 0, deviation, 1.0)

    def keep_columns(self, other):
        """Scale columns as others do."""
        for name in ("center", "scale", "spread", "typical"):
            setattr(self, name, getattr(other, name))

    def rows(self, X):
        """Return rows of mean 0 and spread 1."""
        return (X - self.center.astype(X.dtype)) / self.scale.astype(X.dtype)

    def targets(self, Y):
        """Return targets of mean 0 and spread 1."""
        return (Y - self.target_center) / self.target_scale

    def original(self, predicted):
        """Return predictions in the unit of the targets."""
        return predicted * self.target_scale + self.target_center


class Standardized:
    """Rows, targets and weights in blocks of any size, again and again.

    Parameters
    ----------
    source : callable
        Called for a new iterator over blocks of checked rows, targets and weights.
    scales : Scales
        How to standardise them.
    n_rows, weight : int, float
        How many rows come, and their weight.
    """

    def __init__(self, source, scales, n_rows, weight):
        self._source, self._scales = source, scales
        self.n_rows, self.weight = n_rows, weight

    def parts(self, share, stream):
        """Return most of the rows, and a share of them that is kept aside."""
        parts = parted(self._source, share, stream)
        return tuple(Standardized(part, self._scales, *size_of(part())) for part in parts)

    def variance(self):
        """Return the variance of all targets, once standardised."""
        return float(max(self._scales.n_varying, 1))

    def blocks(self, width):
        """Yield blocks whose features, ``width`` numbers a row, are a handful."""
        for X, Y, weights in self._source():
            rows = learning_rows(width + X.shape[1], 8)
            for block in sliced(X, Y, as_weights(weights, X.shape[0]), rows):
                part = self._scales.rows(dense_block(block.X))
                targets = self._scales.targets(block.y)
                if block.weights is None or block.weights.all():
                    yield part, targets, block.weights
                else:
                    # A row of weight 0 is no row.
                    kept = block.weights > 0
                    if kept.any():
                        yield part[kept], targets[kept], block.weights[kept]

    def whole(self):
        """Return all rows as one block, in float64."""
        parts = list(self.blocks(1))
        X = np.concatenate([part[0] for part in parts]).astype(float, copy=False)
        Y = np.concatenate([part[1] for part in parts])
        if all(part[2] is None for part in parts):
            return X, Y, None
        weights = [np.ones(len(part[1])) if part[2] is None else part[2] for part in parts]
        return X, Y, np.concatenate(weights)


def scales_of(blocks, standardize, sample):
    """Return the scales of blocks of rows and targets, how many rows, and their weight.

    Parameters
    ----------
    blocks : iterable
        Rows, targets and weights.
    standardize : bool
        Whether columns are to be scaled.
    sample : RowSample
        Gets the rows that have weight.

    Examples
    --------
    >>> from mercer.engine.sample import RowSample
    >>> scales_of([(np.eye(2), np.ones((2, 1)), None)], True, RowSample(1))[1]
    2
    """
    columns, targets, n_rows = Spread(), Spread(), 0
    for X, Y, weights in blocks:
        weights = as_weights(weights, X.shape[0])
        for block in sliced(X, Y, weights, learning_rows(X.shape[1], 8)):
            rows, kept = dense_block(block.X), slice(None)
            columns.add(rows.astype(float), block.weights)
            targets.add(block.y, block.weights)
            if block.weights is not None:
                kept = block.weights > 0
            sample.add(rows[kept])
            n_rows += len(rows[kept])
    if columns.weight == 0:
        raise ValueError("sample_weight is zero for every row; at least one must not be.")
    return Scales(columns, targets, standardize), n_rows, columns.weight


def size_of(blocks):
    """Return how many rows of blocks have weight, and their weight.

    Examples
    --------
    >>> size_of([(np.eye(2), np.ones((2, 1)), None), (np.eye(2), np.ones((2, 1)), [0.0, 0.5])])
    (3, 2.5)
    """
    n_rows, weight = 0, 0.0
    for X, _, given in blocks:
        weights = as_weights(given, X.shape[0])
        n_rows += X.shape[0] if weights is None else int((weights > 0).sum())
        weight += X.shape[0] if weights is None else float(weights.sum())
    return n_rows, weight


def dense_block(X):
    """Return a block of rows of any library as a dense NumPy array of floats.

    Examples
    --------
    >>> dense_block(np.asarray([[1]], dtype="int8"))
    array([[1.]], dtype=float32)
    """
    return to_numpy(dense(take(X, 0, X.shape[0], floating_name(X))))
