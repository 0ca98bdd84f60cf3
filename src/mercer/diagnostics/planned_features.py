"""What a feature map takes: drawn once, and measured on some hundred rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from .._sklearn import checked
from ..engine.config import config
from ..features import FeatureMap, NystromFeatures, PackedFeatures
from ..features.nystrom.candidates import n_candidates
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix
from ..solvers.steps import PROPOSED, Shape, Step
from .rates import fastest

#: Numbers of a map and of its features that are drawn and computed to measure it, and landmarks.
DRAWN, COMPUTED, LANDMARKS = 2**22, 2**20, 512
#: Rows that are measured, at least and at most, and rows of a kernel's tile.
FEWEST, MOST, TILE = 64, 2048, 512
#: Landmarks that are chosen from several proposals, and proposals for each of them.
SELECTED, PROPOSALS = 256, 4
#: Columns that are proposed at once, and how often they are held.
BLOCK, HELD = 128, 4


@dataclass(frozen=True)
class MapCost:
    """What a feature map takes.

    Attributes
    ----------
    n_components : int
        Features.
    draw : Step
        Drawing it, and learning from the rows where it does.
    row_seconds : float
        Time for a row.
    features_itemsize : int
        Bytes of a number of the features.
    """

    n_components: int
    draw: Step
    row_seconds: float
    features_itemsize: int


def map_cost(features: Any, rows: np.ndarray, shape: Shape) -> MapCost:
    """Return what a feature map takes, measured on some rows.

    A large map is measured with fewer components: its time grows with their number, and that of
    landmarks with its square.

    Parameters
    ----------
    features : transformer or None
        The map, not fitted; ``None`` for the columns as they are.
    rows : array of shape (n_rows, n_columns)
        Some rows like those it will see.
    shape : Shape
        What is learnt from.

    Examples
    --------
    >>> from mercer import RandomFourier
    >>> cost = map_cost(RandomFourier(n_components=64), np.ones((100, 3)), Shape(1000, 3))
    >>> cost.n_components, cost.row_seconds > 0
    (64, True)
    """
    itemsize = rows.dtype.itemsize
    if features is None:
        return MapCost(shape.n_columns, Step("columns as they are", 0), 1e-9, itemsize)
    parameters = features.get_params(deep=False)
    wanted = parameters.get("n_components")
    trial, growth = clone(features), 1.0
    landmarks = isinstance(features, NystromFeatures)
    if isinstance(wanted, (int, np.integer)):
        most = LANDMARKS if landmarks else max(256, DRAWN // max(1, shape.n_columns))
        if landmarks and not isinstance(parameters["landmarks"], str):
            most = int(wanted)
        if wanted > most:
            trial, growth = trial.set_params(n_components=most), float(wanted) / most
    if landmarks and isinstance(parameters["landmarks"], str):
        # Which landmarks does not matter to the time of a row.
        trial = trial.set_params(landmarks="uniform")
    with warnings.catch_warnings(), config(progress=False):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        trial.fit(_enough(rows, trial, landmarks))
        drawn = time.perf_counter() - start
        first = trial.transform(rows[:2])
        width = int(first.shape[1])
        some = _repeated(rows, int(np.clip(COMPUTED // max(1, width), FEWEST, MOST)))
        row_seconds = fastest(lambda: trial.transform(some)) / len(some)
    features_itemsize = 4 if isinstance(first, PackedFeatures) else int(first.dtype.itemsize)
    size = int(wanted) if growth > 1 else width
    power = 2 if landmarks else 1
    held = int(getattr(trial, "n_drawn_", 0) * 8 * growth)
    draw = Step("draw the map", held, seconds=drawn * growth)
    if landmarks and isinstance(parameters["landmarks"], str):
        draw = _landmarks(size, parameters["landmarks"], shape)
    return MapCost(size, draw, row_seconds * growth**power, features_itemsize)


def _landmarks(size: int, choice: str, shape: Shape) -> Step:
    """Return the choice of landmarks, and the root of their kernel matrix."""
    cube = float(size) ** 3
    if choice == "uniform":
        return Step("landmarks", 5 * 8 * size**2, {"kernel": size**2, "cholesky": cube})
    candidates = min(shape.n_rows, n_candidates(size))
    proposed = PROPOSED * size + (PROPOSALS - 1) * min(SELECTED, size)
    factor = 8 * candidates * (size + HELD * BLOCK)
    return Step(
        "landmarks",
        max(factor, 5 * 8 * size**2) + 8 * candidates * shape.n_columns,
        {
            "kernel": candidates * proposed,
            "sums64": candidates * size * proposed,
            "cholesky": cube,
        },
    )


def kernel_rate(kernel: Kernel | None, rows: np.ndarray, single: bool) -> float:
    """Return how many entries of a kernel matrix this machine computes in a second.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n_rows, n_columns)
        Some rows.
    single : bool
        Whether in float32, as iterative solvers do.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> kernel_rate(Gaussian(), np.ones((10, 3)), single=False) > 0
    True
    """
    some = _repeated(rows.astype(float), TILE)
    known: Kernel = checked(kernel).fitted_to(some + _scatter(some))
    run: Callable[[], Any] = (
        partial(float32_matrix, known, some) if single else partial(known, some)
    )
    # Compiled at the first call.
    run()
    return len(some) ** 2 / fastest(run)


def _enough(rows: np.ndarray, trial: Any, landmarks: bool) -> np.ndarray:
    """Return rows to fit on: as many different ones as there are landmarks."""
    if not landmarks:
        return rows
    more = _repeated(rows, max(len(rows), int(trial.get_params(deep=False)["n_components"])))
    return more + _scatter(more)


def _repeated(rows: np.ndarray, size: int) -> np.ndarray:
    """Return so many rows, the given ones over and over."""
    return np.ascontiguousarray(rows[np.arange(size) % len(rows)])


def _scatter(rows: np.ndarray) -> np.ndarray:
    """Return small differences that make equal rows different."""
    noise = np.random.default_rng(0).standard_normal(rows.shape)
    return (noise * (0.1 * float(rows.std()) + 1e-6)).astype(rows.dtype)


def is_map(model: Any) -> bool:
    """Return whether a model makes features, and does not predict.

    Examples
    --------
    >>> from mercer import FeatureRidge, RandomFourier
    >>> is_map(RandomFourier()), is_map(FeatureRidge())
    (True, False)
    """
    transforms = hasattr(model, "transform") and hasattr(model, "fit")
    return isinstance(model, FeatureMap) or (transforms and not hasattr(model, "predict"))
