"""The sums that ridge regression needs of the rows, gathered block by block.

Everything is a sum over rows, so blocks can come in any order and the sums of two machines
can be added. They are kept in float64 whatever the features are: the product of a block of
float32 features is computed in float32, and added up in float64.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, ClassVar

import numpy as np

from .._array import is_foreign, namespace, to_numpy
from .._registry import storable
from ..ops.products import add_gram, product_beside_scipy
from .block_rows import beyond_float32, chosen_rows, mean_row
from .folds import fold_draws
from .gathered import Accumulator
from .symmetric_sums import mirrored, symmetric_times, with_outer_products

#: The share of the weight from which on a fold is not subtracted from the total.
HEAVY = 0.999


@storable
class Moments:
    """Weighted sums of features z and targets y about a reference point.

    The reference is the mean of the first block: with it the sums of features far from zero
    keep the digits of their deviations. Two sums with different references are brought to one
    before they are added.

    Attributes
    ----------
    n_rows : int
        Rows that were added.
    weight : float
        The sum of their weights.
    rounding : float
        The relative rounding error of the coarsest features among them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Moments
    >>> moments = Moments(n_features=2, n_targets=1)
    >>> moments.add(np.array([[1.0, 0.0], [3.0, 2.0]]), np.array([[1.0], [5.0]]))
    >>> moments.means(intercept=True)
    (array([2., 1.]), array([3.]))
    """

    def __init__(self, n_features: int, n_targets: int) -> None:
        self.n_rows: int = 0
        self.n_positive: int = 0
        self.weight: float = 0.0
        self.z_reference: np.ndarray = np.zeros(n_features)
        self.y_reference: np.ndarray = np.zeros(n_targets)
        self.z_sum: np.ndarray = np.zeros(n_features)
        self.y_sum: np.ndarray = np.zeros(n_targets)
        # By columns, as BLAS gives its products: adding across the grain is six times slower.
        self.gram: np.ndarray = np.zeros((n_features, n_features), order="F")
        self.rounding: float = float(np.finfo(float).eps)
        self.cross: np.ndarray = np.zeros((n_features, n_targets))
        self.y_squares: np.ndarray = np.zeros(n_targets)

    def add(
        self,
        Z: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None = None,
        overwrite: bool = False,
    ) -> None:
        """Add a block of features, its targets and, if there are any, its weights."""
        self.n_rows += Z.shape[0]
        if weights is not None and not weights.all():
            # A row of weight 0 must not even move the reference point.
            kept = weights > 0
            Z, Y, weights, overwrite = Z[kept], Y[kept], weights[kept], True
        if Z.shape[0] == 0:
            return
        self.rounding = max(self.rounding, float(np.finfo(Z.dtype).eps))
        if self.n_positive == 0:
            z_mean, y_mean = mean_row(Z, weights), mean_row(Y, weights)
            # Rounded to the dtype of the features, so that what is subtracted is what is kept.
            self.z_reference, self.y_reference = z_mean.astype(Z.dtype).astype(float), y_mean
        reference = self.z_reference.astype(Z.dtype)
        if np.array_equal(reference, self.z_reference):
            Z = np.subtract(Z, reference, out=Z if overwrite else None)
        else:
            Z = Z - self.z_reference
        Y = np.asarray(Y, dtype=float) - self.y_reference
        if weights is None:
            self.weight += Z.shape[0]
            self.n_positive += Z.shape[0]
        else:
            root = np.sqrt(weights)[:, None]
            self.weight += float(weights.sum())
            self.n_positive += Z.shape[0]
            # The plain sums take the weight itself: one root is in the rows already.
            Z, Y = Z * root.astype(Z.dtype), Y * root
        if Z.dtype == np.float32 and beyond_float32(Y, weights):
            Z = Z.astype(float)
        Z = np.ascontiguousarray(Z)
        ones = np.ones(Z.shape[0]) if weights is None else np.sqrt(weights)
        right = np.column_stack([Y, ones]).astype(Z.dtype)
        products = product_beside_scipy(Z, right, transpose=True)
        self.cross += products[:, :-1]
        self.z_sum += products[:, -1]
        self.y_sum += (ones[:, None] * Y).sum(axis=0)
        self.y_squares += (Y * Y).sum(axis=0)
        add_gram(self.gram, Z)

    def merge(self, other: Moments, sign: float = 1.0) -> None:
        """Add (or, with ``sign=-1``, take away) the rows of other moments."""
        self.n_rows += int(sign) * other.n_rows
        if other.n_positive == 0:
            return
        if self.n_positive == 0:
            self.z_reference, self.y_reference = other.z_reference, other.y_reference
        moved = other.about(self.z_reference, self.y_reference)
        for name in ("weight", "z_sum", "y_sum", "cross", "y_squares"):
            setattr(self, name, getattr(self, name) + sign * getattr(moved, name))
        if sign > 0:
            self.gram += moved.gram
        else:
            self.gram -= moved.gram
        self.n_positive += int(sign) * other.n_positive
        self.rounding = max(self.rounding, other.rounding)

    def empty(self) -> Moments:
        """Return moments of no rows, of the same features and targets."""
        return Moments(self.n_features, self.n_targets)

    def without(self, part: Moments) -> Moments:
        """Return the moments of these rows less those of a part of them."""
        rest = _added([self])
        rest.merge(part, sign=-1.0)
        return rest

    def _plain(self) -> type[Moments]:
        """Return the class of moments that are derived from these."""
        return Moments

    def about(self, z_reference: Any, y_reference: Any) -> Moments:
        """Return the same sums about another reference point."""
        dz, dy = self.z_reference - z_reference, self.y_reference - y_reference
        moved = object.__new__(self._plain())
        moved.n_rows, moved.n_positive = self.n_rows, self.n_positive
        moved.weight, moved.rounding = self.weight, self.rounding
        moved.z_reference, moved.y_reference = z_reference, y_reference
        moved.z_sum = self.z_sum + self.weight * dz
        moved.y_sum = self.y_sum + self.weight * dy
        moved.gram = self.gram
        if bool(namespace(dz).any(dz)):
            # Both triangles of one outer product, added to the upper triangle of a copy.
            moved.gram = with_outer_products(self.gram, self.z_sum + 0.5 * self.weight * dz, dz)
        right = self.y_sum + self.weight * dy
        moved.cross = self.cross + self.z_sum[:, None] * dy[None, :] + dz[:, None] * right[None, :]
        moved.y_squares = self.y_squares + 2 * dy * self.y_sum + self.weight * dy * dy
        return moved

    @property
    def n_features(self) -> int:
        """Columns of the features."""
        return int(self.z_sum.shape[0])

    @property
    def n_targets(self) -> int:
        """Columns of the targets."""
        return int(self.y_sum.shape[0])

    def means(self, intercept: bool) -> tuple[Any, Any]:
        """Return the means of features and targets; zeros where there is no intercept."""
        if not intercept:
            xp = namespace(self.z_sum)
            return xp.zeros_like(self.z_sum), xp.zeros_like(self.y_sum)
        z_mean = self.z_reference + self.z_sum / self.weight
        return z_mean, self.y_reference + self.y_sum / self.weight

    def variance(self) -> np.ndarray:
        """Return the variance of every target."""
        found = self.y_squares / self.weight - (self.y_sum / self.weight) ** 2
        return np.maximum(to_numpy(found), 0.0)

    def of_targets(self) -> Moments:
        """Return the sums of the targets alone: moments of no features."""
        part = copy.copy(self)
        part.z_reference, part.z_sum = self.z_reference[:0], self.z_sum[:0]
        part.gram, part.cross = self.gram[:0, :0], self.cross[:0, :]
        return part

    def centred(self, intercept: bool) -> tuple[Any, Any, Any]:
        """Return S, B and the squares of the targets, about the means (or about zero)."""
        moved = self.about(*self.means(intercept))
        return moved.full_gram(), moved.cross, moved.y_squares

    def squared_error(self, coef: Any) -> Any:
        """Return the sum of squares of y - zθ, both taken about the reference point."""
        xp = namespace(coef)
        fitted = xp.sum(coef * symmetric_times(self.gram, coef), axis=0)
        return self.y_squares - 2 * xp.sum(coef * self.cross, axis=0) + fitted

    def full_gram(self) -> Any:
        """Return the sums of products of features; only their upper triangle is kept up."""
        return mirrored(self.gram)


@storable
class RidgeStatistics:
    """Moments of all rows, and of every fold where cross-validation is wanted.

    Parameters
    ----------
    n_features, n_targets : int
        Columns of features and targets.
    n_folds : int, default=0
        Folds to keep apart; 0 keeps none. A row's fold is drawn at random from its position
        in the stream, the same in every run.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import RidgeStatistics
    >>> Z, y = np.random.default_rng(0).standard_normal((2, 50, 3))
    >>> whole, parts = RidgeStatistics(3, 3), RidgeStatistics(3, 3)
    >>> whole.add(Z, y)
    >>> for start in (20, 0):
    ...     part = RidgeStatistics(3, 3)
    ...     part.add(Z[start:][:20 + start], y[start:][:20 + start])
    ...     parts.merge(part)
    >>> bool(np.allclose(whole.total().full_gram(), parts.total().about(
    ...     whole.total().z_reference, whole.total().y_reference).full_gram()))
    True
    """

    #: What keeps the sums of a fold.
    moments: ClassVar[type[Moments]] = Moments

    def __init__(self, n_features: int, n_targets: int, n_folds: int = 0) -> None:
        self.n_features: int = n_features
        self.n_targets: int = n_targets
        self.n_folds: int = n_folds
        self.folds: Sequence[Moments] = [
            self.moments(n_features, n_targets) for _ in range(max(1, n_folds))
        ]
        self._generator = fold_draws()

    def draw_from(self, generator: np.random.Generator) -> None:
        """Draw the folds of further rows as one of :func:`~mercer.solvers.draws_below` does."""
        self._generator = copy.deepcopy(generator)

    @property
    def n_rows(self) -> int:
        """Rows that were added."""
        return sum(fold.n_rows for fold in self.folds)

    def add(self, Z: Any, Y: Any, weights: Any = None, overwrite: bool = False) -> None:
        """Add a block of features, its targets and, if there are any, its weights.

        With ``overwrite`` the block of features may be changed, which saves a copy.
        """
        fold_of = self.fold_numbers(Z.shape[0])
        if fold_of is None:
            self.folds[0].add(Z, Y, weights, overwrite)
            return
        for number, fold in enumerate(self.folds):
            rows = fold_of == number
            part = None if weights is None else chosen_rows(weights, rows)
            fold.add(chosen_rows(Z, rows), chosen_rows(Y, rows), part, overwrite=True)

    def fold_numbers(self, n_rows: int) -> np.ndarray | None:
        """Return the folds of the next rows of the stream; ``None`` where there are none."""
        return self._generator.integers(self.n_folds, size=n_rows) if self.n_folds else None

    @property
    def weight(self) -> float:
        """The sum of the weights of the rows."""
        return sum(fold.weight for fold in self.folds)

    @property
    def place(self) -> Any:
        """An array that names library and device of the sums."""
        return self.folds[0].gram

    def variance(self) -> np.ndarray:
        """Return the variance of every target."""
        return _added([fold.of_targets() for fold in self.folds]).variance()

    def accumulator(self) -> RidgeStatistics:
        """Return these statistics: more rows can be added to them."""
        return self

    def merge(self, other: RidgeStatistics) -> None:
        """Add the rows of other statistics, fold by fold."""
        shape = (other.n_features, other.n_targets, other.n_folds)
        if shape != (self.n_features, self.n_targets, self.n_folds):
            raise ValueError(
                "Only statistics of the same features, targets and folds can be merged, but "
                f"{(self.n_features, self.n_targets, self.n_folds)} met {shape}."
            )
        for fold, more in zip(self.folds, other.folds, strict=True):
            fold.merge(more)

    def total(self) -> Moments:
        """Return the moments of all rows."""
        return self.folds[0] if len(self.folds) == 1 else _added(self.folds)

    def without(self, number: int, total: Moments) -> Moments:
        """Return the moments of all folds but one, from those of all rows."""
        fold = self.folds[number]
        if fold.weight < HEAVY * total.weight:
            return total.without(fold)
        # A fold that outweighs all others would leave nothing but rounding errors of them.
        return _added([other for other in self.folds if other is not fold])


def _added(parts: Sequence[Moments]) -> Moments:
    """Return the moments of the rows of all parts."""
    total = parts[0].empty()
    for part in parts:
        total.merge(part)
    return total


@singledispatch
def accumulator_for(block: Any, n_features: int, n_targets: int, n_folds: int = 0) -> Accumulator:
    """Return an empty accumulator for blocks of features of a kind.

    A new kind of blocks (packed bits, arrays on a device) registers its own; machines do not
    change.

    Parameters
    ----------
    block : array
        A block of features.
    n_features, n_targets : int
        Columns of features and targets.
    n_folds : int, default=0
        Folds to keep apart; 0 keeps none.

    Examples
    --------
    >>> type(accumulator_for(np.eye(2), 2, 1)).__name__
    'RidgeStatistics'
    """
    if not is_foreign(block):
        raise TypeError(f"There is no accumulator for features in a {type(block).__name__}.")
    # Their class is not known before their library is imported, so that it cannot be registered.
    from .device_statistics import DeviceStatistics

    return DeviceStatistics(n_features, n_targets, n_folds, block)


@accumulator_for.register
def _(block: np.ndarray, n_features: int, n_targets: int, n_folds: int = 0) -> Accumulator:
    return RidgeStatistics(n_features, n_targets, n_folds)
