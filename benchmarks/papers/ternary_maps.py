"""Accuracy and time of feature maps of the Gaussian kernel, by m / p: Figures 10 and 12 of a paper.

"Random matrices in service of ML footprint: ternary random features with no performance loss"
(H. T. Ali, Z. Liao and R. Couillet, ICLR 2022), on adult and covtype. What differs: ridge
classification in place of a support vector machine; the paper does not name the lengthscale, which
is chosen on validation rows with Fourier features and is the same for every map. The set of
Figure 11 (IJCNN1) is not at hand, and the sizes that are printed for covtype are those of it:
20,000 + 30,000 rows are taken.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import FeatureRidgeClassifier, Gaussian, RandomFourier, TernaryFeatures, WaveFeatures

from ..report import Report, Table
from .plot import Axis, Panel, draw
from .ternary_adult import adult
from .ternary_budget import Split
from .ternary_memory import covtype

LENGTHSCALES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
RATIOS, QUICK_RATIOS = (1, 2, 4, 8, 16), (2, 4)
#: The ratio m / p at which the lengthscale is chosen.
CHOICE_RATIO = 16
N_SEEDS, QUICK_SEEDS = 2, 2


def run(folder: Path, quick: bool = False) -> Report:
    """Return accuracy and seconds of every map, set and ratio."""
    sizes = (1000, 500, 500) if quick else None
    splits = {
        # The sizes of the paper's copy of the set.
        "adult": adult(folder, sizes or (22_696, 5000, 9865)),
        "covtype": covtype(folder, sizes or (20_000, 10_000, 30_000)),
    }
    with mercer.config(progress=False):
        return Report([table(name, split, quick) for name, split in splits.items()])


def picture(report: Report, path: Path) -> None:
    """Draw accuracy against m / p."""
    panels = [Panel(table.title.split(":")[0], table.rows) for table in report.tables]
    y = Axis("accuracy %", "accuracy on test rows in %", "linear")
    draw(path, panels, [Axis("m / p", "m / p")] * len(panels), y, one_scale=False)


def table(name: str, split: Split, quick: bool) -> Table:
    """Return accuracy and seconds of every map."""
    p = split.X.shape[1]
    lengthscale = chosen(split, 2 if quick else CHOICE_RATIO)
    rows = []
    for method, make in methods(Gaussian(lengthscale)).items():
        for ratio in QUICK_RATIOS if quick else RATIOS:
            runs = [
                measured(make(ratio * p, seed), split)
                for seed in range(QUICK_SEEDS if quick else N_SEEDS)
            ]
            accuracy, made, solved = np.transpose(runs)
            rows.append(
                {
                    "method": method,
                    "m / p": ratio,
                    "accuracy %": round(100 * float(accuracy.mean()), 2),
                    "± %": 100 * float(accuracy.std(ddof=1)),
                    "features s": float(np.median(made)),
                    "solution s": float(np.median(solved)),
                }
            )
            print(name, rows[-1], file=sys.stderr, flush=True)
    counts = f"{len(split.y):,} + {len(split.y_test):,} rows, p={p}, lengthscale {lengthscale:g}"
    return Table(f"{name}: {counts}", rows)


def methods(kernel: Gaussian) -> dict[str, Callable[[int, int], Any]]:
    """Return functions from a number of features and a seed to a map."""

    def fourier(projection: str, stratified: bool = False) -> Callable[[int, int], Any]:
        return lambda m, seed: RandomFourier(
            kernel, n_components=m, projection=projection, stratified=stratified, random_state=seed
        )

    def ternary(bits: int) -> Callable[[int, int], Any]:
        return lambda m, seed: TernaryFeatures(
            kernel, n_components=m, bits=bits, output="packed", random_state=seed
        )

    def waves(levels: int) -> Callable[[int, int], Any]:
        return lambda m, seed: WaveFeatures(
            kernel, n_components=m, levels=levels, output="packed", random_state=seed
        )

    return {
        "Fourier": fourier("gaussian"),
        "Fourier, orthogonal": fourier("orthogonal"),
        "Fourier, spherical structured": fourier("ssf"),
        "ternary, 2 bits": ternary(2),
        "ternary, 1 bit": ternary(1),
        "waves, 2 bits": waves(4),
        "waves, 1 bit": waves(2),
    }


def chosen(split: Split, ratio: int) -> float:
    """Return the lengthscale that classifies validation rows best, with Fourier features."""
    scores = []
    for lengthscale in LENGTHSCALES:
        m = ratio * split.X.shape[1]
        features = RandomFourier(Gaussian(lengthscale), n_components=m, random_state=1000)
        model = FeatureRidgeClassifier(features).fit(split.X, split.y)
        scores.append(model.score(split.X_validation, split.y_validation))
    return LENGTHSCALES[int(np.argmax(scores))]


def measured(features: Any, split: Split) -> tuple[float, float, float]:
    """Return accuracy on the test rows, and the seconds of features and solution."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Rows of unit length before they are centred differ in norm a little more after it.
        warnings.simplefilter("ignore", UserWarning)
        Z = features.fit(split.X).transform(split.X)
    made = time.perf_counter()
    model = FeatureRidgeClassifier().fit(Z, split.y)
    model.predict(Z[:1])
    solved = time.perf_counter()
    accuracy = model.score(features.transform(split.X_test), split.y_test)
    return float(accuracy), made - start, solved - made
