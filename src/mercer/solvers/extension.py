"""Sums of products of more features, from those of some of them: only new products are computed.

With Z = [c Z₁, Z₂] the sums of Z₁ are there already: a pass over the rows adds Z₁ᵀZ₂ and Z₂ᵀZ₂.
"""

from __future__ import annotations

import copy

import numpy as np

from ..ops.products import PANEL, product_beside_scipy
from .block_rows import beyond_float32, chosen_rows
from .statistics import Moments, RidgeStatistics


class Extension:
    """What is added to statistics of features when more features stand beside them.

    Parameters
    ----------
    old : RidgeStatistics
        Of the first features, all rows.
    scale : float
        The first features are now so many times as large.
    n_new : int
        Further features.

    Examples
    --------
    >>> Z, Y = np.random.default_rng(0).standard_normal((50, 5)), np.ones((50, 1))
    >>> old, whole = RidgeStatistics(3, 1), RidgeStatistics(5, 1)
    >>> old.add(Z[:, :3], Y)
    >>> whole.add(Z, Y)
    >>> extension = Extension(old, 1.0, 2)
    >>> extension.add(Z, Y)
    >>> found = extension.joined().total().centred(intercept=True)[0]
    >>> bool(np.allclose(found, whole.total().centred(intercept=True)[0]))
    True
    """

    def __init__(self, old: RidgeStatistics, scale: float, n_new: int) -> None:
        self._old, self._scale = old, scale
        self._new = RidgeStatistics(n_new, old.folds[0].n_targets, old.n_folds)
        self._between = [np.zeros((old.n_features, n_new), order="F") for _ in old.folds]
        self._moved = [np.zeros(old.n_features) for _ in old.folds]
        self._sums = [np.zeros(n_new) for _ in old.folds]

    def add(self, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add a block of all features: the rows, in the order and with the weights of before."""
        folds = self._new.fold_numbers(Z.shape[0])
        for number in range(len(self._old.folds)):
            if folds is None:
                self._add(number, Z, Y, weights)
                continue
            rows = folds == number
            part = None if weights is None else chosen_rows(weights, rows)
            self._add(number, chosen_rows(Z, rows), chosen_rows(Y, rows), part)

    def _add(self, number: int, Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None) -> None:
        if weights is not None and not weights.all():
            kept = weights > 0
            Z, Y, weights = Z[kept], Y[kept], weights[kept]
        if Z.shape[0] == 0:
            return
        if Z.dtype == np.float32 and beyond_float32(Y, weights):
            Z = Z.astype(float)
        old, fresh, n_old = self._old.folds[number], self._new.folds[number], self._old.n_features
        fresh.add(Z[:, n_old:], Y, weights)
        # About the references of both, as near as the dtype of the features has them.
        reference = (self._scale * old.z_reference).astype(Z.dtype)
        first = Z[:, :n_old] - reference
        second = Z[:, n_old:] - fresh.z_reference.astype(Z.dtype)
        if weights is not None:
            second *= weights.astype(Z.dtype)[:, None]
        total = self._between[number]
        for start in range(0, second.shape[1], PANEL):
            stop = start + PANEL
            own = np.ascontiguousarray(second[:, start:stop])
            # By columns, as the sums are: adding across the grain is six times slower.
            total[:, start:stop] += product_beside_scipy(own, first, transpose=True).T
        # What rounding the reference has moved, times the sum of what it is multiplied with.
        self._moved[number] = reference.astype(float) - self._scale * old.z_reference
        self._sums[number] += second.sum(axis=0, dtype=float)

    def joined(self) -> RidgeStatistics:
        """Return the statistics of all features."""
        old = self._old
        # More rows go on where those of the new features have ended, fold by fold.
        found = copy.copy(self._new)
        found.n_features = old.n_features + self._new.n_features
        found.folds = [
            _joined(before, self._scale, fresh, between + moved[:, None] * sums[None, :])
            for before, fresh, between, moved, sums in zip(
                old.folds, self._new.folds, self._between, self._moved, self._sums, strict=True
            )
        ]
        return found


def _joined(old: Moments, scale: float, fresh: Moments, between: np.ndarray) -> Moments:
    """Return the moments of scaled and of further features, of the same rows."""
    n_old = old.n_features
    found = Moments(n_old + fresh.n_features, old.n_targets)
    found.n_rows, found.n_positive, found.weight = old.n_rows, old.n_positive, old.weight
    found.y_reference, found.y_sum, found.y_squares = old.y_reference, old.y_sum, old.y_squares
    found.rounding = max(old.rounding, fresh.rounding)
    if not old.n_positive:
        return found
    moved = fresh.about(fresh.z_reference, old.y_reference)
    found.z_reference = np.concatenate([scale * old.z_reference, fresh.z_reference])
    found.z_sum = np.concatenate([scale * old.z_sum, fresh.z_sum])
    found.cross = np.concatenate([scale * old.cross, moved.cross])
    np.multiply(old.gram, scale**2, out=found.gram[:n_old, :n_old])
    found.gram[:n_old, n_old:] = between
    found.gram[n_old:, n_old:] = fresh.gram
    return found
