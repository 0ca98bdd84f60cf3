"""Accuracy of ridge classifiers on MNIST against dimension and time, depth 1.

Features use all training images, the exact kernel some of them. Seconds are those of the fit,
including the choice of the ridge parameter, and of the predictions. The number of gradient
features is a multiple of 785: the nearest multiple is taken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import NTK, FeatureRidgeClassifier, GradientFeatures, NTKFeatures, NystromFeatures

from ..report import Report, Table
from . import data
from .exact_ridge import ExactRidge
from .plot import Axis, Panel, draw

#: Rows on which the exact machine's ridge parameter is chosen, and how many are held out.
CHOICE_ROWS, VALIDATION_ROWS = 6000, 2000
WARM_UP_ROWS, WARM_UP_COLUMNS = 1000, 64


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    n_components: tuple[int, ...]
    train_rows: int
    exact_rows: int
    choice_rows: int
    validation_rows: int


FULL = Sizes((512, 1024, 2048, 4096), 60_000, 10_000, CHOICE_ROWS, VALIDATION_ROWS)
QUICK = Sizes((128, 256), 2000, 500, 300, 100)
WARM_UP = Sizes((), WARM_UP_ROWS, 200, 120, 40)

#: Images and digits to train on and to test on.
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
#: Returns the digits of the test rows, and the dimension.
Method = Callable[[Split], tuple[np.ndarray, int]]


def run(folder: Path, quick: bool = False) -> Report:
    """Return accuracy and time of every method and dimension."""
    sizes = QUICK if quick else FULL
    X, y, X_test, y_test = data.mnist(folder)
    split = (X[: sizes.train_rows], y[: sizes.train_rows], X_test, y_test)
    few = (X[:WARM_UP_ROWS], y[:WARM_UP_ROWS], X_test[:10], y_test[:10])
    rows = []
    with mercer.config(progress=False):
        for name, method, small in methods(sizes, X.shape[1]):
            # Compiles what the method needs; not timed.
            small(few)
            rows.append({"method": name, **measured(method, split)})
            print(rows[-1], file=sys.stderr, flush=True)
    title = f"MNIST: {len(split[0]):,} + {len(X_test):,} rows; {sizes.exact_rows:,} for the exact"
    return Report([Table(f"{title} kernel", rows)])


def methods(sizes: Sizes, n_columns: int) -> Iterator[tuple[str, Method, Method]]:
    """Yield every method with its name, and a small one of the same kind."""
    for name, maker in makers(n_columns).items():
        # Several dimensions may lead to the same map.
        different = {repr(maker(m)): maker(m) for m in sizes.n_components}
        for features in different.values():
            yield name, on_features(features), on_features(maker(WARM_UP_COLUMNS))
    yield "exact NTK", exact(sizes), exact(WARM_UP)


def makers(n_columns: int) -> dict[str, Callable[[int], Any]]:
    """Return functions from a dimension to a feature map of about that dimension."""
    return {
        "zonal": lambda m: NTKFeatures(1, n_components=m, random_state=0),
        "one-shot sketch": lambda m: NTKFeatures(
            1, n_components=m, method="one-shot", random_state=0
        ),
        "random, improved": lambda m: NTKFeatures(
            1, n_components=m, method="random", random_state=0
        ),
        "network gradient": lambda m: GradientFeatures(
            1, width=max(1, round(m / (n_columns + 1))), random_state=0
        ),
        "Nyström": lambda m: NystromFeatures(
            NTK(1), n_components=m, landmarks="uniform", random_state=0
        ),
    }


def on_features(features: Any) -> Method:
    """Return the method that is a ridge classifier on features."""

    def predicted(split: Split) -> tuple[np.ndarray, int]:
        X, y, X_test, _ = split
        model = FeatureRidgeClassifier(features).fit(X, y)
        return model.predict(X_test), model.features_.transform(X[:1]).shape[1]

    return predicted


def exact(sizes: Sizes) -> Method:
    """Return the exact machine on some of the rows; its dimension is their number."""

    def predicted(split: Split) -> tuple[np.ndarray, int]:
        X, y, X_test, _ = split
        Y = np.where(y[:, None] == np.arange(10), 1.0, -1.0)
        model, some, rows = ExactRidge(depth=1), slice(sizes.choice_rows), slice(sizes.exact_rows)
        alpha = model.choose(X[some], Y[some], sizes.validation_rows)
        values = model.fit(X[rows], Y[rows], alpha).predict(X_test)
        return values.argmax(axis=1), len(X[rows])

    return predicted


def measured(method: Method, split: Split) -> dict[str, Any]:
    """Return dimension, accuracy and time of one method."""
    start = time.perf_counter()
    digits, dimension = method(split)
    seconds = time.perf_counter() - start
    accuracy = float(np.mean(digits == split[3]))
    return {
        "dimension": dimension,
        "accuracy": accuracy,
        "wrong %": 100 * (1 - accuracy),
        "seconds": seconds,
    }


def picture(report: Report, path: Path) -> None:
    """Draw the error rate against dimension, and against time."""
    rows = report.tables[0].rows
    xs = [Axis("dimension", "dimension (rows of the exact kernel)"), Axis("seconds", "seconds")]
    panels = [Panel("MNIST: error and dimension", rows), Panel("MNIST: error and time", rows)]
    draw(path, panels, xs, Axis("wrong %", "wrong test digits in %"))
