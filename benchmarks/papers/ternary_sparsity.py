"""Error and time against the zeros of a ternary projection, digits 7 and 9: Figures 3, 8 and 9.

"Random matrices in service of ML footprint: ternary random features with no performance loss"
(H. T. Ali, Z. Liao and R. Couillet, ICLR 2022). Kernel ridge regression of 1,024 images on labels
-1 and 1, by the inner products of their features; moments of the Gaussian kernel, at a mean squared
norm of the centred rows of 1.35 squared lengthscales (where d0 is the paper's 0.39); five runs,
each with other images and other features.

The paper names 512 columns and does not say how they are made of 784 pixels, nor how images are
scaled: here once as rows of length one, all pixels; once as the 512 pixels that vary most, all with
the same variance. What differs, too: all 2,037 test images of the digits where it takes 512; the
ridge parameter is chosen on 1,024 further images, the paper shows all; 16,384 features at most
where Figure 3 has 50,000. The kernels of infinitely many features are compared, too. Fourier
features are counted both ways: m numbers a row, and m frequencies, which the paper calls m features
and which are 2 m numbers. ``WaveFeatures`` of 2, 3 and 4 values, with the largest sparsity, are not
in the paper. Where lengthscales are chosen, every method chooses from the same three candidates, in
every run, by the error on the validation rows.

Seconds are those of features and inner products of training rows; the decomposition is the same for
all.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import Gaussian, PackedFeatures, RandomFourier, TernaryFeatures, WaveFeatures
from mercer.kernels import Kernel, WaveKernel

from ..report import Report, Table, Target
from . import data
from .plot import Axis, Panel, draw

DIGITS, ROWS = (7, 9), 1024
#: How images are prepared, and the columns that the paper names.
UNIT, SCALED, COLUMNS = "rows of length one", "512 scaled pixels", 512
#: The mean squared norm of centred rows, in squared lengthscales.
TAU = 1.35
#: Others, for the exact kernels.
TAUS = (0.8, 1.35)
SPARSITIES = (0.1, 0.5, 0.9)
#: Waves by their number of values, with the largest sparsity.
WAVES = {2: "waves, 1 bit", 3: "waves, ternary", 4: "waves, 2 bits"}
#: Squared norms in lengthscales that every method chooses from, and the most features it does with.
CHOICES, MOST_CHOSEN = (0.5, 0.8, 1.35), 4096
COMPONENTS, QUICK_COMPONENTS = (512, 4096, 16_384), (512,)
N_RUNS, QUICK_RUNS = 5, 2
ALPHAS = np.logspace(-4, 2, 25)
FOURIER, FREQUENCIES = "Fourier, m numbers", "Fourier, m frequencies"
WITHIN = 1.05
#: With more, twice as many numbers would make no difference that can be seen.
MOST_FREQUENCIES = 4096

#: Returns the inner products of the training rows, and of other rows with them.
Grams = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, float]]


@dataclass
class Runs:
    """What was measured on one preparation of the images, run by run."""

    curves: dict[tuple[int, str], list[dict[str, Any]]] = field(default_factory=dict)
    chosen: dict[tuple[int, str], list[dict[str, Any]]] = field(default_factory=dict)
    limits: dict[tuple[float, str], list[dict[str, Any]]] = field(default_factory=dict)


def run(folder: Path, quick: bool = False) -> Report:
    """Return errors and seconds of every sparsity, and of every ridge parameter."""
    tables, targets = [], []
    for name, images in prepared(folder).items():
        with mercer.config(progress=False), warnings.catch_warnings():
            # The norms of standardised rows vary by more than half of their mean.
            warnings.simplefilter("ignore", UserWarning)
            measured = measure(images, quick)
        ratios = [compared(measured.curves, *key) for key in measured.curves if is_own(key[1])]
        chosen = [compared(measured.chosen, *key) for key in measured.chosen if is_own(key[1])]
        tables += tables_of(measured, ratios, chosen, name, len(images[2]))
        targets += targets_of(ratios, name) + targets_of(chosen, f"{name}, chosen lengthscales")
    return Report(tables, targets)


def is_own(method: str) -> bool:
    """Return whether a method is none of those that are compared with."""
    return not method.startswith("Fourier")


def targets_of(ratios: list[dict[str, Any]], name: str) -> list[Target]:
    """Return the ratios of errors of the sparsest features as targets."""
    found = []
    for row in ratios:
        if row["method"] in WAVES.values() or row["method"].endswith("0.9"):
            for measure in ("mse", "wrong"):
                label = f"{name}: {measure} of {row['method']} over {FOURIER}, m={row['m']:,}"
                found.append(Target(label, "at most", WITHIN, row[f"{measure} / {FOURIER}"]))
    return found


def prepared(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return images of two digits and labels -1 and 1, to train on and to test on."""
    X, y, X_test, y_test = data.mnist(folder)
    own, own_test = np.isin(y, DIGITS), np.isin(y_test, DIGITS)
    labels, test_labels = (np.where(v == DIGITS[1], 1.0, -1.0) for v in (y[own], y_test[own_test]))
    X, X_test = X[own], X_test[own_test]
    deviation = X.std(axis=0)
    most = np.sort(np.argsort(-deviation)[:COLUMNS])
    scaled = X[:, most] / deviation[most], X_test[:, most] / deviation[most]
    return {
        UNIT: (X, labels, X_test, test_labels),
        SCALED: (scaled[0], labels, scaled[1], test_labels),
    }


def measure(
    images: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], quick: bool = False
) -> Runs:
    """Return the errors of all methods in every run."""
    X, y, X_test, y_test = images
    found = Runs()
    for seed in range((QUICK_RUNS if quick else N_RUNS) + 1):
        chosen = np.random.default_rng(seed).permutation(len(X))[: 2 * ROWS]
        train, validation = chosen[:ROWS], chosen[ROWS:]
        rows = X[train], np.concatenate([X[validation], X_test])
        labels = y[train], np.concatenate([y[validation], y_test])
        norm = float(np.sqrt(np.var(rows[0], axis=0).sum()))
        # The first run compiles; it is not counted.
        for m in QUICK_COMPONENTS if quick or seed == 0 else COMPONENTS:
            for name, grams in methods(Gaussian(norm / TAU**0.5), m, seed).items():
                one = errors(grams(*rows), *labels)
                print(seed, m, name, one["mse"], one["seconds"], file=sys.stderr, flush=True)
                if seed > 0:
                    found.curves.setdefault((m, name), []).append(one)
        if seed == 0:
            continue
        for m in QUICK_COMPONENTS if quick else COMPONENTS:
            if m <= MOST_CHOSEN:
                for name, one in best_of(rows, labels, norm, m, seed).items():
                    found.chosen.setdefault((m, name), []).append(one)
        for tau in TAUS:
            for name, grams in exact(Gaussian(norm / tau**0.5)).items():
                found.limits.setdefault((tau, name), []).append(errors(grams(*rows), *labels))
    return found


def best_of(rows: Any, labels: Any, norm: float, m: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return the errors of methods with the lengthscale that is best for the validation rows."""
    found: dict[str, list[dict[str, Any]]] = {}
    for tau in CHOICES:
        kernel = Gaussian(norm / tau**0.5)
        for name, grams in methods(kernel, m, seed, SPARSITIES[-1:], twice=False).items():
            found.setdefault(name, []).append({**errors(grams(*rows), *labels), "tau": tau})
    return {name: min(runs, key=lambda run: run["validation"]) for name, runs in found.items()}


def tables_of(
    found: Runs,
    ratios: list[dict[str, Any]],
    chosen: list[dict[str, Any]],
    name: str,
    n_test: int,
) -> list[Table]:
    """Return errors, errors by ridge parameter, those of exact kernels, and ratios of errors."""
    results = [{"m": m, "method": method, **summary(r)} for (m, method), r in found.curves.items()]
    limits = [{"tau": tau, "method": k, **summary(runs)} for (tau, k), runs in found.limits.items()]
    own = [
        {"m": m, "method": k, "tau": float(np.median([run["tau"] for run in r])), **summary(r)}
        for (m, k), r in found.chosen.items()
    ]
    counts = f"{ROWS:,} + {n_test:,} rows, alpha chosen on {ROWS:,} others"
    return [
        Table(f"MNIST, 7 and 9, {name}: {counts}", results),
        Table(f"{name}: mean squared error by alpha", by_alpha(found.curves)),
        Table(f"{name}: exact kernels by the squared norm of rows in lengthscales, tau", limits),
        Table(f"{name}: error of features of few bits over that of Fourier features", ratios),
        Table(f"{name}: lengthscales chosen on the validation rows", own),
        Table(f"{name}: ratios of errors with chosen lengthscales", chosen),
    ]


def methods(
    kernel: Gaussian,
    m: int,
    seed: int,
    sparsities: tuple[float, ...] = SPARSITIES,
    twice: bool = True,
) -> dict[str, Grams]:
    """Return functions that make inner products, by method."""
    fourier = {"projection": "gaussian", "stratified": False, "random_state": seed}
    found = {FOURIER: of_features(RandomFourier(kernel, n_components=m, **fourier))}
    if twice and m <= MOST_FREQUENCIES:
        found[FREQUENCIES] = of_features(RandomFourier(kernel, n_components=2 * m, **fourier))
    for sparsity in sparsities:
        features = TernaryFeatures(
            kernel, n_components=m, sparsity=sparsity, output="packed", random_state=seed
        )
        found[f"ternary, sparsity {sparsity}"] = of_features(features)
    for levels, name in WAVES.items():
        waves = WaveFeatures(
            kernel,
            n_components=m,
            levels=levels,
            sparsity=SPARSITIES[-1],
            output="packed",
            random_state=seed,
        )
        found[name] = of_features(waves)
    return found


def exact(kernel: Gaussian) -> dict[str, Grams]:
    """Return functions that make the matrices of the kernels of infinitely many features."""
    ternary = TernaryFeatures(kernel, n_components=1, sparsity=0.0)
    return {
        "exact Gaussian kernel": partial(of_kernel, kernel),
        "exact ternary kernel": partial(of_kernel, ternary),
        **{f"exact {WAVES[k]}": partial(of_kernel, WaveKernel(kernel, k)) for k in (3, 4)},
    }


def of_features(features: Any) -> Grams:
    """Return the inner products of features, at the scale of the kernel."""

    def grams(X: np.ndarray, X_other: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        features.fit(X)
        start = time.perf_counter()
        Z = features.transform(X)
        K = Z.gram() if isinstance(Z, PackedFeatures) else Z @ Z.T
        seconds = time.perf_counter() - start
        Z_other = features.transform(X_other)
        if isinstance(Z, PackedFeatures):
            own = features.cosine_ if isinstance(features, WaveFeatures) else features.activation_
            scale = own.scale**2 / features.n_components
            return K * scale, Z_other.gram(Z) * scale, seconds
        return K.astype(float), (Z_other @ Z.T).astype(float), seconds

    return grams


def of_kernel(
    kernel: Kernel | TernaryFeatures, X: np.ndarray, X_other: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return matrices of a kernel, or of that of features which learn from the rows."""
    own = kernel.fit(X).kernel_ if isinstance(kernel, TernaryFeatures) else kernel
    start = time.perf_counter()
    K = own(X.astype(float))
    seconds = time.perf_counter() - start
    return K, own(X_other.astype(float), X.astype(float)), seconds


def errors(
    grams: tuple[np.ndarray, np.ndarray, float], y: np.ndarray, y_other: np.ndarray
) -> dict[str, Any]:
    """Return the errors on test rows for every alpha, and which one the validation rows prefer."""
    K, K_other, seconds = grams
    K_other = K_other - K_other.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(K)
    rotated = vectors.T @ (y - y.mean())
    weights = rotated[:, None] / (np.maximum(values, 0)[:, None] + ALPHAS)
    predicted = (K_other @ vectors) @ weights + y.mean()
    n_chosen = len(y)
    squares = (predicted - y_other[:, None]) ** 2
    wrong = np.sign(predicted) != y_other[:, None]
    place = int(squares[:n_chosen].mean(axis=0).argmin())
    return {
        "curve": squares[n_chosen:].mean(axis=0),
        "mse": float(squares[n_chosen:, place].mean()),
        "wrong": float(100 * wrong[n_chosen:, place].mean()),
        "validation": float(squares[:n_chosen, place].mean()),
        "alpha": float(ALPHAS[place]),
        "seconds": seconds,
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return means over runs, and standard errors."""
    mse, wrong = (np.asarray([run[key] for run in runs]) for key in ("mse", "wrong"))
    root = np.sqrt(len(runs))
    return {
        "mse": float(mse.mean()),
        "standard error": float(mse.std(ddof=1) / root),
        "wrong %": float(wrong.mean()),
        "± wrong %": float(wrong.std(ddof=1) / root),
        "alpha": float(np.median([run["alpha"] for run in runs])),
        "seconds": float(np.median([run["seconds"] for run in runs])),
    }


def compared(curves: dict[tuple[int, str], Any], m: int, name: str) -> dict[str, Any]:
    """Return ratios of errors: means over the same runs and standard errors, and of all wrong."""
    row: dict[str, Any] = {"m": m, "method": name}
    for other in (FOURIER, FREQUENCIES):
        row |= dict.fromkeys(f"{measure} / {other}" for measure in ("mse", "± mse", "wrong"))
        if (m, other) not in curves:
            continue
        own, its = curves[m, name], curves[m, other]
        ratios = np.asarray([a["mse"] / b["mse"] for a, b in zip(own, its, strict=True)])
        wrong = sum(run["wrong"] for run in own) / sum(run["wrong"] for run in its)
        row[f"mse / {other}"] = float(ratios.mean())
        row[f"± mse / {other}"] = float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
        row[f"wrong / {other}"] = wrong
    return row


def by_alpha(curves: dict[tuple[int, str], Any]) -> list[dict[str, Any]]:
    """Return the mean errors for every alpha, of the largest m, a column for every method."""
    most = max(m for m, _ in curves)
    means = {
        name: np.mean([run["curve"] for run in runs], axis=0)
        for (m, name), runs in curves.items()
        if m == most
    }
    return [
        {"alpha": float(alpha), **{name: float(mse[k]) for name, mse in means.items()}}
        for k, alpha in enumerate(ALPHAS)
    ]


def picture(report: Report, path: Path) -> None:
    """Draw the error against alpha for the largest m, and against seconds for all."""
    panels = []
    for name, first in ((UNIT, 0), (SCALED, 6)):
        table, curves = report.tables[first : first + 2]
        most = max(row["m"] for row in table.rows)
        lines = [
            {"method": method, "alpha": row["alpha"], "mse": row[method]}
            for method in curves.rows[0]
            if method != "alpha"
            for row in curves.rows
        ]
        panels += [Panel(f"{name}, m = {most:,}", lines), Panel(f"{name}, every m", table.rows)]
    xs = [Axis("alpha", "alpha"), Axis("seconds", "seconds of features and inner products")] * 2
    draw(path, panels, xs, Axis("mse", "mean squared error on test images"), one_scale=False)
