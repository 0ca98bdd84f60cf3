"""Kernel matrices and their asymptotic equivalent: Figure 2 of a paper, and its Theorem 1.

"Random matrices in service of ML footprint: ternary random features with no performance loss"
(H. T. Ali, Z. Liao and R. Couillet, ICLR 2022). Two classes of Gaussian rows with means
[4, 0, ...] and [0, 4, 0, ...] over the root of p and variances 1 and 1 + 4 / sqrt(p) over p.

What differs: the spectral norm of the difference, of which the paper states the limit only, is
measured at several p, for n = 2 p, and once more with d2 = 0. For normal directions the
expectation is a formula; for Student directions it is the mean over 65,536, whose own error is
shown by as many normal ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from scipy.sparse.linalg import eigsh

import mercer
from mercer import ArcCosine, Gaussian
from mercer.kernels import Ternary
from mercer.ops.asymptotic_equivalent import asymptotic_equivalent
from mercer.ops.gaussian_moments import GaussianMoments, gaussian_moments
from mercer.ops.ternary_thresholds import matched_activation

from ..report import Report, Table, Target
from .plot import DPI

SIZES, N_SEEDS = (256, 512, 1024), 3
QUICK_SIZES, QUICK_SEEDS = (128, 256), 2
#: Where the targets are, n = 2 p; p and n of the figure of the spectra.
TARGET_SIZE, TARGET_ERROR = 512, 0.12
SPECTRUM, QUICK_SPECTRUM = (512, 2048), (128, 256)
DIRECTIONS, QUICK_DIRECTIONS, BLOCK = 65_536, 8192, 8192
#: Degrees of freedom of Student's law.
FREEDOM = 7
BINS = 40


def run(folder: Path | None, quick: bool = False) -> Report:
    """Return errors and spectra; no data is needed."""
    sizes, n_seeds = (QUICK_SIZES, QUICK_SEEDS) if quick else (SIZES, N_SEEDS)
    with mercer.config(progress=False):
        rows = [row for p in sizes for row in errors(p, n_seeds)]
        spectra = spectrum(
            *(QUICK_SPECTRUM if quick else SPECTRUM), QUICK_DIRECTIONS if quick else DIRECTIONS
        )
    tables = [Table("Spectral norm of K - K~, n = 2 p", rows), *spectra]
    size = TARGET_SIZE if TARGET_SIZE in sizes else sizes[-1]
    found = next(row for row in rows if (row["kernel"], row["p"]) == ("ReLU", size))
    at = f"p={size}, n={2 * size}, ReLU"
    error, without = found["error"], found["error, d2 = 0"]
    targets = [
        Target(f"spectral norm error, {at}", "at most", TARGET_ERROR, error),
        Target(f"error over that with d2 = 0, {at}", "at most", 0.5, error / without),
    ]
    return Report(tables, targets)


def mixture(p: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, classes, means and covariances of the mixture."""
    labels = np.arange(n) // (n // 2)
    means = 4 * np.eye(2, p)
    variances = 1 + 4 * np.arange(2) / np.sqrt(p)
    noise = np.random.default_rng(seed).standard_normal((n, p))
    X = (means[labels] + np.sqrt(variances[labels])[:, None] * noise) / np.sqrt(p)
    return X, labels, means, variances[:, None, None] * np.eye(p)


def kernels(tau: float) -> dict[str, tuple[Callable[[np.ndarray], np.ndarray], GaussianMoments]]:
    """Return functions that make kernel matrices, and the moments of their activations."""
    relu = gaussian_moments("relu", tau)
    found = matched_activation(relu.d1, relu.d2, tau)
    own = Ternary(found.lower, found.upper, found.scale, found.even)
    return {
        # The kernel of max(t, 0) is half that of the arc-cosine kernel, which is 1 at unit rows.
        "ReLU": (lambda X: ArcCosine()(X) / 2, relu),
        "Gaussian": (Gaussian(1.0), gaussian_moments("fourier", tau)),
        "ternary, as ReLU": (own, found.moments(tau)),
    }


def errors(p: int, n_seeds: int) -> list[dict[str, Any]]:
    """Return how far kernel matrices are from their equivalents, with and without d2."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(n_seeds):
        X, labels, means, covariances = mixture(p, 2 * p, seed)
        tau = float(np.trace(covariances, axis1=1, axis2=2).mean() / p)
        for name, (kernel, moments) in kernels(tau).items():
            K = centred(kernel(X))
            flat = GaussianMoments(moments.d0, moments.d1, 0.0)
            norms = [
                norm(K - asymptotic_equivalent(own, X, labels, means, covariances))
                for own in (moments, flat)
            ]
            found.setdefault(name, []).append((*norms, norm(K)))
    rows = []
    for name, values in found.items():
        full, without, whole = np.mean(values, axis=0)
        deviation = float(np.std([value[0] for value in values], ddof=1))
        rows.append(
            {
                "kernel": name,
                "p": p,
                "error": float(full),
                "±": deviation,
                "error, d2 = 0": float(without),
                "ratio": float(full / without),
                "norm of K": float(whole),
            }
        )
    return rows


def spectrum(p: int, n: int, n_directions: int) -> list[Table]:
    """Return eigenvalues of kernel matrices for two laws of directions, and of the equivalent."""
    X, labels, means, covariances = mixture(p, n, 0)
    tau = float(np.trace(covariances, axis1=1, axis2=2).mean() / p)
    moments = gaussian_moments("relu", tau)
    scale = np.sqrt((FREEDOM - 2) / FREEDOM)
    matrices = {
        "equivalent": asymptotic_equivalent(moments, X, labels, means, covariances),
        "normal": centred(ArcCosine()(X) / 2),
        "normal, sampled": centred(
            sampled(X, n_directions, lambda generator, size: generator.standard_normal(size))
        ),
        f"Student, {FREEDOM} degrees, sampled": centred(
            sampled(
                X,
                n_directions,
                lambda generator, size: generator.standard_t(FREEDOM, size) * scale,
            )
        ),
    }
    pairs = {name: np.linalg.eigh(K) for name, K in matrices.items()}
    # The constant vector, to which centring gives the eigenvalue 0, is not counted.
    values = {name: np.sort(pair[0])[1:] for name, pair in pairs.items()}
    top = pairs["equivalent"][1][:, -1]
    rows = [
        {
            "directions": name,
            "largest eigenvalue": float(values[name][-1]),
            "second": float(values[name][-2]),
            "cosine of first eigenvectors": float(abs(top @ pairs[name][1][:, -1])),
            "norm of difference": norm(matrices[name] - matrices["equivalent"]),
        }
        for name in matrices
    ]
    low, high = (f([f(v[:-2]) for v in values.values()]) for f in (np.min, np.max))
    edges = np.linspace(low, high, BINS + 1)
    counts = {name: np.histogram(v, edges)[0] for name, v in values.items()}
    shown = [
        {"eigenvalue": float(middle), **{name: int(counts[name][k]) for name in counts}}
        for k, middle in enumerate((edges[1:] + edges[:-1]) / 2)
    ]
    title = f"p={p}, n={n:,}, ReLU, {n_directions:,} directions where sampled"
    return [
        Table(f"Largest eigenvalues and their vectors, {title}", rows),
        Table("Numbers of eigenvalues, all but the two largest", shown),
    ]


def sampled(
    X: np.ndarray,
    n_directions: int,
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray],
) -> np.ndarray:
    """Return the mean of products of max(t, 0) of projections on independent directions."""
    generator, X = np.random.default_rng(1), X.astype(np.float32)
    K = np.zeros((len(X), len(X)))
    for _ in range(0, n_directions, BLOCK):
        Z = np.maximum(X @ draw(generator, (X.shape[1], BLOCK)).astype(np.float32), 0)
        K += Z @ Z.T
    return K / n_directions


def centred(K: np.ndarray) -> np.ndarray:
    """Return a matrix with the means of rows and columns subtracted."""
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def norm(A: np.ndarray) -> float:
    """Return the spectral norm of a symmetric matrix."""
    if not A.any():
        return 0.0
    start = np.random.default_rng(0).standard_normal(len(A))
    return float(abs(eigsh(A, 1, which="LM", return_eigenvectors=False, v0=start)[0]))


def picture(report: Report, path: Path) -> None:
    """Draw errors against p, and the spectra."""
    norms, _, counts = report.tables
    figure = Figure(figsize=(9.6, 4.8), layout="constrained")
    axes = figure.subplots(1, 2)
    colours = matplotlib.colormaps["tab10"].colors
    for number, name in enumerate(dict.fromkeys(row["kernel"] for row in norms.rows)):
        rows = [row for row in norms.rows if row["kernel"] == name]
        p, colour = [row["p"] for row in rows], colours[number]
        axes[0].plot(p, [row["error"] for row in rows], "o-", color=colour, label=name)
        label = f"{name}, d2 = 0"
        axes[0].plot(p, [row["error, d2 = 0"] for row in rows], "o--", color=colour, label=label)
    axes[0].set(xscale="log", yscale="log", xlabel="p = n / 2", ylabel="spectral norm of K - K~")
    _plain(axes[0].xaxis, [row["p"] for row in norms.rows])
    _plain(axes[0].yaxis, [0.05, 0.1, 0.2, 0.5, 1.0])
    for number, name in enumerate(key for key in counts.rows[0] if key != "eigenvalue"):
        x, y = ([row[key] for row in counts.rows] for key in ("eigenvalue", name))
        axes[1].step(x, y, where="mid", color=colours[number], linewidth=1.2, label=name)
    axes[1].set(xlabel="eigenvalue of K, all but the two largest", ylabel="number", yscale="symlog")
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=DPI)


def _plain(axis: XAxis | YAxis, places: list[float]) -> None:
    """Mark some places of a logarithmic axis by plain numbers."""
    axis.set_major_locator(FixedLocator(sorted(set(places))))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_formatter(NullFormatter())
