"""The sums that ridge regression needs of features on an accelerator, gathered where these are."""

from __future__ import annotations

import copy
from functools import singledispatch
from typing import Any

import numpy as np

from .._array import (
    as_floating,
    device_of,
    dtype_name,
    is_foreign,
    is_numpy,
    moved,
    namespace,
    to_numpy,
    zeros_beside,
)
from .._devices import algebra_of
from .statistics import Moments, RidgeStatistics

#: What sums hold as arrays; the rest are numbers of Python.
ARRAYS = ("z_reference", "y_reference", "z_sum", "y_sum", "gram", "cross", "y_squares")
#: Below the one or above the other, weights would vanish or overflow in float32.
SINGLE_RANGE = (1e-30, 1e30)


class DeviceMoments(Moments):
    """Weighted sums of features and targets on a device, in float64.

    The products of float32 features are computed in float32, as the setting ``precision`` says,
    and added up in float64. Without weights nothing waits for the device.

    Parameters
    ----------
    n_features, n_targets : int
        Columns of features and targets.
    like : array
        Names library and device.
    """

    n_rows: int
    n_positive: int
    z_reference: Any
    z_sum: Any
    y_reference: Any
    y_sum: Any

    def __init__(self, n_features: int, n_targets: int, like: Any) -> None:
        self.n_rows = self.n_positive = 0
        self.weight: float = 0.0
        self.rounding: float = float(np.finfo(float).eps)
        self.z_reference, self.z_sum = (zeros_beside(like, (n_features,)) for _ in range(2))
        self.y_reference, self.y_sum = (zeros_beside(like, (n_targets,)) for _ in range(2))
        self.y_squares: Any = zeros_beside(like, (n_targets,))
        self.gram: Any = zeros_beside(like, (n_features, n_features))
        self.cross: Any = zeros_beside(like, (n_features, n_targets))
        # What a block of float32 subtracts, if float32 holds the reference.
        self._single: Any = None

    def add(self, Z: Any, Y: Any, weights: Any = None, overwrite: bool = False) -> None:
        """Add a block of features, its targets and, if there are any, its weights."""
        self.n_rows += Z.shape[0]
        known = _Weights.of(weights, Z.shape[0])
        if known.positive == 0:
            return
        xp, single = namespace(Z), dtype_name(Z) == "float32"
        self.rounding = max(self.rounding, float(np.finfo(dtype_name(Z)).eps))
        if self.n_positive == 0:
            z_mean = as_floating(as_floating(known.mean(Z), dtype_name(Z)), "float64")
            # Rounded to the dtype of the features, so that what is subtracted is what is kept.
            self.z_reference, self.y_reference = z_mean, known.mean(Y)
            self._single = None
        Z, Y = self._centred_block(Z, overwrite), as_floating(Y, "float64") - self.y_reference
        if known.roots is not None:
            if single and known.beyond_single:
                Z = as_floating(Z, "float64")
            Z, Y = Z * as_floating(known.roots, dtype_name(Z))[:, None], Y * known.roots[:, None]
        self.weight += known.total
        self.n_positive += known.positive
        self.z_sum += _column_sums(Z, known.roots)
        self.y_sum += _column_sums(Y, known.roots)
        self.y_squares += xp.sum(Y * Y, axis=0)
        # Targets beyond float32 are none in units of their largest.
        unit = xp.max(xp.abs(Y), axis=0)
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))
        right, algebra = as_floating(Y / unit, dtype_name(Z)), algebra_of(Z)
        self.cross += algebra.sum_of_products(Z, right) * unit
        algebra.add_gram(self.gram, Z)

    def _centred_block(self, Z: Any, overwrite: bool) -> Any:
        """Return features about the reference, in their own dtype if it can hold that."""
        if dtype_name(Z) == "float64":
            reference = self.z_reference
        else:
            reference = self._single_reference(Z)
            if reference is None:
                return as_floating(Z, "float64") - self.z_reference
        if not overwrite:
            return Z - reference
        Z -= reference
        return Z

    def _single_reference(self, Z: Any) -> Any:
        """Return the reference in float32, or nothing if that would round it."""
        if self._single is None:
            xp, rounded = namespace(Z), as_floating(self.z_reference, "float32")
            exact = xp.all(as_floating(rounded, "float64") == self.z_reference)
            self._single = (rounded if bool(exact) else None,)
        return self._single[0]

    def merge(self, other: Moments, sign: float = 1.0) -> None:
        """Add (or, with ``sign=-1``, take away) the rows of other moments."""
        super().merge(beside(other, self.gram), sign)
        self._single = None

    def empty(self) -> Moments:
        """Return moments of no rows, of the same features and targets."""
        return DeviceMoments(self.n_features, self.n_targets, self.gram)

    def _plain(self) -> type[Moments]:
        return DeviceMoments

    def __deepcopy__(self, memo: Any) -> DeviceMoments:
        found = object.__new__(DeviceMoments)
        found.__dict__.update(self.__dict__)
        for name in ARRAYS:
            setattr(found, name, _copy(getattr(self, name)))
        return found


class _Weights:
    """The weights of a block: their sum, how many are positive, and their roots."""

    def __init__(self, weights: Any, n_rows: int) -> None:
        self.weights, self.roots = weights, None
        self.total, self.positive, self.beyond_single = float(n_rows), n_rows, False

    @classmethod
    def of(cls, weights: Any, n_rows: int) -> _Weights:
        """Return what is known of weights, or of rows without any; the device is asked once."""
        found = cls(weights, n_rows)
        if weights is None or n_rows == 0:
            return found
        xp, positive = namespace(weights), weights > 0
        least = xp.min(xp.where(positive, weights, xp.ones_like(weights)))
        parts = [xp.sum(weights), xp.sum(xp.astype(positive, xp.float64)), least, xp.max(weights)]
        total, count, low, high = to_numpy(xp.stack(parts)).tolist()
        found.total, found.positive = total, int(count)
        found.beyond_single = low < SINGLE_RANGE[0] or high > SINGLE_RANGE[1]
        found.roots = xp.sqrt(weights)
        return found

    def mean(self, rows: Any) -> Any:
        """Return the mean of rows in float64."""
        xp = namespace(rows)
        if self.weights is None:
            return xp.sum(rows, axis=0, dtype=xp.float64) / rows.shape[0]
        return (self.weights[None, :] @ as_floating(rows, "float64"))[0, :] / self.total


def _column_sums(rows: Any, roots: Any) -> Any:
    """Return float64 sums of rows that have been multiplied by the roots of their weights."""
    xp = namespace(rows)
    own = rows if roots is None else rows * as_floating(roots, dtype_name(rows))[:, None]
    return xp.sum(own, axis=0, dtype=xp.float64)


class DeviceStatistics(RidgeStatistics):
    """Moments of features on a device, of all rows or of every fold.

    Copies stay on the device; a pickle, and a model file, hold :class:`RidgeStatistics` of NumPy
    arrays in their place.

    Parameters
    ----------
    n_features, n_targets, n_folds : int
        As in :class:`RidgeStatistics`: a row is in the same fold as there.
    like : array
        Names library and device.
    """

    def __init__(self, n_features: int, n_targets: int, n_folds: int, like: Any) -> None:
        super().__init__(n_features, n_targets, n_folds)
        self.folds: list[DeviceMoments] = [
            DeviceMoments(n_features, n_targets, like) for _ in self.folds
        ]

    def __deepcopy__(self, memo: Any) -> DeviceStatistics:
        found = object.__new__(DeviceStatistics)
        found.__dict__.update(self.__dict__)
        found._generator = copy.deepcopy(self._generator)
        found.folds = [copy.deepcopy(fold) for fold in self.folds]
        return found

    def __reduce__(self) -> Any:
        return _identity, (on_host(self),)


def _identity(statistics: RidgeStatistics) -> RidgeStatistics:
    return statistics


def beside(moments: Moments, like: Any) -> Moments:
    """Return moments in the library and on the device of an array; as they are if they are there.

    Examples
    --------
    >>> moments = Moments(2, 1)
    >>> beside(moments, np.empty(0)) is moments
    True
    """
    if is_beside(moments, like):
        return moments
    kind = Moments if is_numpy(like) else DeviceMoments
    found = object.__new__(kind)
    found.__dict__.update(moments.__dict__)
    found.__dict__.pop("_single", None)
    for name in ARRAYS:
        # Libraries may share memory, which sums that are added to must not.
        setattr(found, name, _copy(moved(getattr(moments, name), like)))
    if isinstance(found, DeviceMoments):
        found._single = None
    else:
        found.gram = np.asfortranarray(found.gram)
    return found


def _copy(values: Any) -> Any:
    return namespace(values).asarray(values, copy=True)


def is_beside(moments: Moments, like: Any) -> bool:
    """Return whether moments are in the library and on the device of an array."""
    return device_of(moments.gram) == device_of(like)


@singledispatch
def gathered_beside(gathered: Any, like: Any) -> Any:
    """Return what was gathered in the library and on the device of features; as it is if there.

    Parameters
    ----------
    gathered : RidgeStatistics or FewRows
        What was gathered.
    like : array of any kind
        A block of features.

    Examples
    --------
    >>> statistics = RidgeStatistics(2, 1)
    >>> gathered_beside(statistics, np.empty(0)) is statistics
    True
    """
    raise TypeError(f"A {type(gathered).__name__} cannot be moved to a device.")


@gathered_beside.register
def _(gathered: RidgeStatistics, like: Any) -> RidgeStatistics:
    # Packed features are counted on the host.
    like = like if is_foreign(like) else np.empty(0)
    return gathered if is_beside(gathered.folds[0], like) else _of_folds(gathered, like)


def on_host(gathered: Any) -> Any:
    """Return what was gathered as NumPy arrays, which every machine can load.

    Examples
    --------
    >>> type(on_host(RidgeStatistics(2, 1))).__name__
    'RidgeStatistics'
    """
    return None if gathered is None else gathered_beside(gathered, np.empty(0))


def _of_folds(statistics: RidgeStatistics, like: Any) -> Any:
    found = object.__new__(RidgeStatistics if is_numpy(like) else DeviceStatistics)
    found.__dict__.update(statistics.__dict__)
    found._generator = copy.deepcopy(statistics._generator)
    found.folds = [beside(fold, like) for fold in statistics.folds]
    return found
