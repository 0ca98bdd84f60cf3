"""Make the pictures of the guide: run the examples, and draw what no example shows.

Usage: ``python docs/make_images.py``; takes a minute or two. The picture of the earth needs
``MERCER_DATA``, the folder of its data (see ``examples/10_features/plot_elevation.py``), and
is left as it is without.
"""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator
from PIL import Image

import mercer
from mercer import NNGP, NTK, ArcCosine, Gaussian, Laplace, Matern, RandomFourier

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs/guide/images"
EXAMPLES = {
    "first_features": "00_start/plot_first_features.py",
    "fourier_error": "10_features/plot_fourier_error.py",
    "arccosine_deflated": "10_features/plot_arccosine_deflated.py",
    "ntk_features": "10_features/plot_ntk_features.py",
    "elevation": "10_features/plot_elevation.py",
    "near_duplicates": "10_features/plot_near_duplicates.py",
    "kernels_in_sklearn": "20_kernels/plot_kernels_in_sklearn.py",
    "ridge_one_pass": "30_machines/plot_ridge_one_pass.py",
    "front_door": "30_machines/plot_front_door.py",
    "feature_learning": "30_machines/plot_feature_learning.py",
}


def save(fig, name):
    fig.savefig(IMAGES / f"{name}.png", dpi=110)
    plt.close(fig)


def draw_kernels():
    """Kernels of the distance, and kernels of the angle."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    r = np.linspace(0, 4, 200)[:, None]
    for kernel in (Gaussian(), Matern(nu=2.5), Matern(nu=1.5), Laplace()):
        label = f"Matern, nu = {kernel.nu}" if isinstance(kernel, Matern) else type(kernel).__name__
        left.plot(r, kernel(r, np.zeros((1, 1))), label=label)
    left.set(xlabel="distance / lengthscale", ylabel="kernel", title="Kernels of the distance")
    angles = np.linspace(0, np.pi, 200)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    for kernel, style in (
        (ArcCosine(order=0), "--"),
        (ArcCosine(order=1), "--"),
        (NNGP(depth=3), "-"),
        (NTK(depth=1), "-"),
        (NTK(depth=3), "-"),
    ):
        values = kernel(circle, circle[:1])[:, 0]
        right.plot(np.degrees(angles), values / values[0], style, label=repr_of(kernel))
    right.set(xlabel="angle in degrees", ylabel="kernel / its largest value")
    right.set_title("Kernels of the angle")
    right.set_xticks([0, 45, 90, 135, 180])
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    save(fig, "kernels")


def repr_of(kernel):
    name, value = next(iter(kernel.get_params().items()))
    return f"{type(kernel).__name__}, {name} {value}"


def draw_memory():
    """Memory beside input and output, as the number of rows grows."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    rng = np.random.default_rng(0)

    sizes = [2000, 5000, 10_000, 20_000, 50_000, 100_000]
    rows = rng.integers(-100, 100, (sizes[-1], 64), dtype=np.int8)
    features = RandomFourier(Gaussian(500.0), n_components=256, random_state=0).fit(rows)
    by_hand = []
    for size in sizes:

        def numpy_map(X=rows[:size]):
            P = X.astype(np.float32) @ features.frequencies_.astype(np.float32)
            return np.hstack([np.cos(P), np.sin(P)]) / np.float32(128**0.5)

        by_hand.append(beside_output(numpy_map))
    left.plot(sizes, by_hand, "s--", color="0.45", label="by hand in NumPy")
    for budget, colour in (("20MB", "tab:blue"), ("2MB", "tab:orange")):
        with mercer.config(memory=budget, n_jobs=2):
            used = [beside_output(lambda s=s: features.transform(rows[:s])) for s in sizes]
        left.plot(sizes, used, "o-", color=colour, label=f"mercer, budget {budget[:-2]} MB")
    left.set_title("int8 rows to 256 Fourier features")

    sizes = [500, 1000, 2000, 4000, 8000]
    X = rng.standard_normal((sizes[-1], 20))
    v = np.ones(sizes[-1])
    kernel = Laplace(5.0)
    formed = [beside_output(lambda s=s: kernel(X[:s]) @ v[:s]) for s in sizes[:-1]]
    right.plot(sizes[:-1], formed, "s--", color="0.45", label="kernel(X) @ v")
    for budget, colour in (("20MB", "tab:blue"), ("2MB", "tab:orange")):
        with mercer.config(memory=budget, n_jobs=2):
            used = [beside_output(lambda s=s: kernel.matvec(X[:s], v[:s])) for s in sizes]
        right.plot(sizes, used, "o-", color=colour, label=f"kernel.matvec, budget {budget[:-2]} MB")
    right.set_title("Product of a kernel matrix and a vector")

    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="rows")
        axes.set_ylim(top=4 * axes.get_ylim()[1])
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    left.set_xticks([2000, 10_000, 50_000], labels=["2000", "10 000", "50 000"], minor=False)
    right.set_xticks(sizes, labels=sizes)
    for axes in (left, right):
        axes.xaxis.set_minor_locator(NullLocator())
    left.set_ylabel("memory beside input and output, MB")
    save(fig, "memory")


def beside_output(work):
    """Return the peak of what is allocated, less the result, in MB."""
    work()
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - result.nbytes) / 1e6


def draw_nested():
    """The frequencies of three maps with the same seed."""
    fig, panels = plt.subplots(1, 3, figsize=(9, 3.9), layout="constrained", sharey=True)
    X = np.zeros((2, 2))
    before = 0
    for axes, size in zip(panels, (16, 32, 64), strict=True):
        W = RandomFourier(Gaussian(), n_components=2 * size, random_state=0).fit(X).frequencies_
        axes.plot(*W[:, :before], "o", color="0.6", label="as in the smaller map")
        axes.plot(*W[:, before:], "o", color="tab:blue", label="new")
        axes.set(xlim=(-3.6, 3.6), ylim=(-3.6, 3.6), aspect="equal")
        axes.set(title=f"n_components={2 * size}", xlabel="first coordinate")
        before = size
    panels[0].set_ylabel("second coordinate")
    handles, labels = panels[-1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save(fig, "nested")


def main():
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw_kernels()
    draw_nested()
    draw_memory()
    for name, example in EXAMPLES.items():
        if name == "elevation" and not os.environ.get("MERCER_DATA"):
            continue
        path = IMAGES / f"{name}.png"
        command = [sys.executable, ROOT / "examples" / example, path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if name == "elevation":
            # Maps are large; 128 colours are a quarter of the bytes.
            few = Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE)
            few.save(path, optimize=True)


if __name__ == "__main__":
    main()
