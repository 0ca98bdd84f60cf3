"""Passes over the rows of a step: what a block adds to sums, and how sums come together.

A pass is a pure function of what it holds and of a block, so that it may run anywhere, and again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._array import as_floating, brought, dtype_name, is_numpy, namespace, to_numpy
from ...features import RandomFourier
from ...features.nystrom.root import LandmarkRoot
from ...kernels import Kernel
from ...kernels.derivatives import derivative_norm, mean_squared_gradients
from ...ops.products import product_beside_scipy
from ...solvers import accumulator_for
from ..calibration import PredictedSample
from .functions import Function
from .rows import Rows
from .weights import Weights


@dataclass
class FeatureSums:
    """Sums of products of features, of some rows.

    Attributes
    ----------
    statistics : Accumulator or None
        The sums; ``None`` of no rows.
    single : bool
        Whether features were float32.
    """

    statistics: Any = None
    single: bool = False

    def merge(self, other: FeatureSums) -> None:
        """Add the sums of rows that stand below."""
        self.statistics.merge(other.statistics)
        self.single = self.single or other.single


@dataclass(frozen=True)
class FeaturePass:
    """The first pass of a step: what ridge regression needs of the features of reweighted rows.

    Attributes
    ----------
    features : callable
        Gives the features of reweighted rows.
    weights : Weights
        The weights of the columns.
    width : int
        How many features there are.
    """

    label: ClassVar[str] = "feature-sums"
    features: Callable[[Any], Any]
    weights: Weights
    width: int

    def begin(self, n_above: int) -> FeatureSums:
        """Return sums of no rows."""
        return FeatureSums()

    def add(self, sums: FeatureSums, block: Rows) -> None:
        """Add a block."""
        Z = self.features(self.weights.reweighted(block.X))
        if sums.statistics is None:
            sums.statistics = accumulator_for(Z, Z.shape[1], block.Y.shape[1])
        sums.statistics.add(Z, block.Y, block.weights)
        sums.single = sums.single or dtype_name(Z) == "float32"


@dataclass
class GradientSums:
    """What new weights follow from, of some rows.

    Attributes
    ----------
    sample : PredictedSample
        Some rows, with what was predicted for them.
    E : array
        Sums of squared gradients, or of their outer products.
    D : array
        What the derivatives of the norm follow from.
    """

    sample: PredictedSample
    E: Any = 0.0
    D: Any = 0.0

    def merge(self, other: GradientSums) -> None:
        """Add the sums of rows that stand below."""
        self.sample.merge(other.sample)
        self.E, self.D = self.E + other.E, self.D + other.D


@dataclass(frozen=True)
class Predictor:
    """A ridge solution, as far as predictions for training rows and dual coefficients need it.

    Attributes
    ----------
    coef, intercept : array
        Coefficients of features or kernel functions, and constants.
    alpha : float
        The ridge parameter.
    """

    coef: Any
    intercept: Any
    alpha: float

    def dual(self, predicted: Any, block: Rows) -> Any:
        """Return the dual coefficients of the rows of a block."""
        beta = (block.Y - predicted) / self.alpha
        return beta if block.weights is None else beta * block.weights[:, None]


@dataclass(frozen=True)
class FourierGradients:
    """The second pass with random Fourier features: gradients, derivatives, predictions.

    Its sums ``D`` have a row for each frequency.

    Attributes
    ----------
    features : RandomFourier
        The features.
    frequencies : array of shape (n_frequencies, n_features)
        Their frequencies.
    weights : Weights
        The weights of the columns.
    solution : Predictor
        The coefficients of the features.
    """

    label: ClassVar[str] = "gradients"
    features: RandomFourier
    frequencies: np.ndarray
    weights: Weights
    solution: Predictor

    @property
    def width(self) -> int:
        """How many features there are."""
        return 2 * len(self.frequencies)

    def begin(self, n_above: int) -> GradientSums:
        """Return sums of no rows."""
        return GradientSums(PredictedSample(n_above))

    def add(self, sums: GradientSums, block: Rows) -> None:
        """Add a block."""
        theta, half = self.solution.coef, len(self.frequencies)
        own = block.weights
        rows = self.weights.reweighted(block.X)
        Z = self.features.transform(rows)
        # The coefficients in the precision of the features, and in that of the sums.
        rounded, exact = brought(Z, theta), brought(block.Y, theta)
        cosines, sines = exact[:half, :], exact[half:, :]
        C, S = Z[:, :half], Z[:, half:]
        predicted = _double(product_beside_scipy(Z, rounded))
        predicted = predicted + brought(predicted, self.solution.intercept)
        sums.sample.add(rows, predicted, block.Y, own, block.counts)
        beta = as_floating(self.solution.dual(predicted, block), dtype_name(Z))
        for k in range(theta.shape[1]):
            slope = C * rounded[half:, k] - S * rounded[:half, k]
            gradients = product_beside_scipy(slope, brought(Z, self.frequencies))
            sums.E = sums.E + to_numpy(_squares(gradients, own, self.weights.matrix))
            pulled = _double(product_beside_scipy(Z, beta[:, k : k + 1] * rows, transpose=True))
            moved = (
                pulled[half:, :] * cosines[:, k : k + 1] - pulled[:half, :] * sines[:, k : k + 1]
            )
            sums.D = sums.D + to_numpy(moved)


@dataclass(frozen=True)
class LandmarkFeatures:
    """Features of reweighted rows from the kernel functions of landmarks.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array of shape (n_landmarks, n_features)
        The landmarks, reweighted.
    root : LandmarkRoot
        Makes the kernel functions orthonormal. It is found once: another machine might choose
        other pivots.
    """

    kernel: Kernel
    landmarks: np.ndarray
    root: LandmarkRoot

    def __call__(self, rows: Any) -> Any:
        """Return the features of rows."""
        return self.root.features(self.kernel(rows, brought(rows, self.landmarks)))


@dataclass(frozen=True)
class LandmarkGradients:
    """The second pass with kernel functions of landmarks: gradients, derivatives, predictions.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array of shape (n_landmarks, n_features)
        The landmarks, reweighted.
    weights : Weights
        The weights of the columns.
    solution : Predictor
        The coefficients of the kernel functions.
    """

    label: ClassVar[str] = "gradients"
    kernel: Kernel
    landmarks: np.ndarray
    weights: Weights
    solution: Predictor

    @property
    def width(self) -> int:
        """How many landmarks there are."""
        return len(self.landmarks)

    def begin(self, n_above: int) -> GradientSums:
        """Return sums of no rows."""
        return GradientSums(PredictedSample(n_above))

    def add(self, sums: GradientSums, block: Rows) -> None:
        """Add a block."""
        kernel, own, matrix = self.kernel, block.weights, self.weights.matrix
        rows = self.weights.reweighted(block.X)
        places, coef = brought(rows, self.landmarks), brought(block.Y, self.solution.coef)
        predicted = kernel.matvec(rows, coef, places)
        predicted = predicted + brought(predicted, self.solution.intercept)
        sums.sample.add(rows, predicted, block.Y, own, block.counts)
        beta = self.solution.dual(predicted, block)
        weight = rows.shape[0] if own is None else float(to_numpy(own).sum())
        sums.E = sums.E + weight * to_numpy(
            mean_squared_gradients(kernel, rows, places, coef, sample_weight=own, matrix=matrix)
        )
        sums.D = sums.D + 2 * to_numpy(
            derivative_norm(kernel, rows, places, beta, coef, matrix=matrix)
        )


@dataclass
class Errors:
    """Errors of predictions for some rows.

    Attributes
    ----------
    sample : PredictedSample
        Some of the rows, with what was predicted for them.
    squares : float
        The weighted sum of squared errors.
    """

    sample: PredictedSample
    squares: float = 0.0

    def merge(self, other: Errors) -> None:
        """Add the errors of rows that stand below."""
        self.sample.merge(other.sample)
        self.squares += other.squares


@dataclass(frozen=True)
class ErrorPass:
    """A pass over held-out rows.

    Attributes
    ----------
    function : Function
        Gives predictions for reweighted rows.
    weights : Weights
        The weights of the columns.
    """

    label: ClassVar[str] = "errors"
    width: ClassVar[int] = 1
    function: Function
    weights: Weights

    def begin(self, n_above: int) -> Errors:
        """Return errors of no rows."""
        return Errors(PredictedSample(n_above))

    def add(self, sums: Errors, block: Rows) -> None:
        """Add a block."""
        own = block.weights
        rows = as_floating(self.weights.reweighted(block.X), "float64")
        predicted = self.function(rows)
        sums.sample.add(rows, predicted, block.Y, own, block.counts)
        errors = (block.Y - predicted) ** 2
        weighted = errors if own is None else own[:, None] * errors
        sums.squares += float(namespace(weighted).sum(weighted))


def _squares(gradients: Any, own: Any, matrix: bool) -> Any:
    """Return sums of squares, or of outer products, of gradients."""
    xp = namespace(gradients)
    if own is not None:
        gradients = gradients * as_floating(xp.sqrt(own)[:, None], dtype_name(gradients))
    if matrix:
        return _double(product_beside_scipy(gradients, gradients, transpose=True))
    if is_numpy(gradients):
        return _double(np.einsum("ij,ij->j", gradients, gradients))
    return _double(xp.sum(gradients * gradients, axis=0))


def _double(values: Any) -> Any:
    return as_floating(values, "float64")
