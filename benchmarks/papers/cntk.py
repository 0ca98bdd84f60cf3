"""CNTK features on a CPU: CIFAR-10 images, depth 3, filter 3, beside the exact kernel.

Seconds of the features of 1,000 images against those of the exact 1,000 x 1,000 matrix, which is
projected from few images by the number of pairs; the error of the kernel; and the accuracy of a
ridge classifier on some of the training images, by the number of features. On the slides, sketches
reach 67.58, 70.46 and 72.06 % with 4,096, 8,192 and 16,384 features of all 50,000 original images:
``benchmarks.gpu.cntk`` is that experiment.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import CNTK, CNTKSketch, FeatureRidgeClassifier
from mercer.datasets import LabelledImages, load_cifar10_jpeg
from mercer.preprocessing import ImageWhitening

from ..report import Report, Table, Target
from .cntk_exact import measured
from .plot import Axis, Panel, draw

DEPTH, FILTER = 3, 3
#: All training images of CIFAR-10.
ALL = 50_000


@dataclass(frozen=True)
class Sizes:
    """How much is computed.

    Attributes
    ----------
    timed, components : int
        Images whose features are timed, and features.
    sketched, exact : int
        Images of which the time of the sketch, and of the exact kernel, is projected.
    learnt, tested : int
        Images to learn from and to test on.
    by_components : tuple of int
        Numbers of features of the accuracy.
    """

    timed: int
    components: int
    sketched: int
    exact: int
    learnt: int
    tested: int
    by_components: tuple[int, ...]


FULL = Sizes(1000, 2048, 20, 40, 1000, 1000, (256, 512, 1024, 2048))
QUICK = Sizes(12, 64, 2, 3, 40, 20, (16, 32))


def run(folder: Path, quick: bool = False) -> Report:
    """Return seconds, errors and accuracies."""
    sizes = QUICK if quick else FULL
    data = load_cifar10_jpeg(folder / "cifar10.npz", n_train=max(sizes.timed, sizes.learnt))
    with mercer.config(progress=False, memory="4GB"):
        whitening = ImageWhitening(30.0).fit(data.images)
        images = whitening.transform(data.images)
        times, targets = seconds(images, sizes)
        errors = kernel_errors(images, sizes)
        accuracies = accuracy(data, images, whitening.transform(data.test_images), sizes)
    return Report([times, errors, accuracies], [] if quick else targets)


def features_for(components: int, method: str, seed: int = 0) -> CNTKSketch:
    """Return the features of the benchmark."""
    return CNTKSketch(
        *(DEPTH, FILTER, components),
        method=method,
        image_shape=(32, 32, 3),
        random_state=seed,
    )


def seconds(images: np.ndarray, sizes: Sizes) -> tuple[Table, list[Target]]:
    """Return the seconds of features, and those of the exact kernel as projected."""
    exact = measured(CNTK(DEPTH, FILTER), images[: sizes.exact], "cpu")
    pairs = exact["pairs_per_second"]
    rows = []
    for method, n in (("random", sizes.timed), ("sketch", sizes.sketched)):
        features = features_for(sizes.components, method).fit(images[:1])
        features.transform(images[:2])
        start = time.perf_counter()
        features.transform(images[:n])
        each = (time.perf_counter() - start) / n
        rows.append(
            {
                "method": method,
                "features": sizes.components,
                "images": n,
                "seconds": n * each,
                f"seconds of {sizes.timed:,}": sizes.timed * each,
                f"exact, {sizes.timed:,} images": sizes.timed * (sizes.timed + 1) / 2 / pairs,
                f"ratio at {sizes.timed:,}": (sizes.timed + 1) / 2 / pairs / each,
                f"ratio at {ALL:,}": (ALL + 1) / 2 / pairs / each,
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    target = Target(f"ratio at {ALL:,} images", "at least", 190.0, rows[0][f"ratio at {ALL:,}"])
    return Table("Seconds of features and of the exact kernel (projected)", rows), [target]


def kernel_errors(images: np.ndarray, sizes: Sizes) -> Table:
    """Return the relative error of the kernel matrix of a few images."""
    few = images[: sizes.exact]
    exact = CNTK(DEPTH, FILTER)(few)
    rows = []
    for m in sizes.by_components:
        found = []
        for seed in range(3):
            Z = features_for(m, "random", seed).fit_transform(few)
            found.append(float(np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)))
        rows.append({"features": m, "relative error": float(np.mean(found))})
    return Table(f"Error of the kernel, {len(few)} images, 3 seeds", rows)


def accuracy(
    data: LabelledImages, images: np.ndarray, test_images: np.ndarray, sizes: Sizes
) -> Table:
    """Return the accuracy by the number of features; alpha by 5-fold cross-validation."""
    learnt, tested = slice(sizes.learnt), slice(sizes.tested)
    rows: list[dict[str, Any]] = []
    for m in sizes.by_components:
        start = time.perf_counter()
        features = features_for(m, "random").fit(images[:1])
        Z, Z_test = (features.transform(part) for part in (images[learnt], test_images[tested]))
        took = time.perf_counter() - start
        model = FeatureRidgeClassifier(None, selection=5).fit(Z, data.labels[learnt])
        right = model.predict(Z_test) == data.test_labels[tested]
        rows.append(
            {
                "features": m,
                "accuracy %": 100 * float(right.mean()),
                "seconds of features": took,
                "alpha": float(np.max(model.alpha_)),
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return Table(f"Accuracy, {sizes.learnt:,} + {sizes.tested:,} images, whitened", rows)


def picture(report: Report, path: Path) -> None:
    """Draw the error of the kernel against the number of features."""
    named = [{**row, "method": "random"} for row in report.tables[1].rows]
    draw(
        path,
        [Panel("CIFAR-10, exact CNTK", named)],
        [Axis("features", "features")],
        Axis("relative error", "relative error of the kernel"),
    )
