"""Make the pictures of the docs: draw those that no example makes, take the others of the gallery.

Usage: ``make docs``, which runs the examples, then ``python docs/make_images.py``; the latter takes
seconds. Every picture is made for light and for dark paper. That of the earth needs ``MERCER_DATA``
while the examples run, the folder of its data (see ``examples/10_features/plot_elevation.py``), and
is not changed without it.
"""

import json
import os
import shutil
import sys
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.ticker import NullLocator

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs/_parts"))

import figures
import gallery
import themes

import mercer
from mercer import NNGP, NTK, ArcCosine, Gaussian, Laplace, Matern, RandomFourier

IMAGES = ROOT / "docs/guide/images"
EXAMPLES = {
    "first_features": "00_start/plot_first_features.py",
    "fourier_error": "10_features/plot_fourier_error.py",
    "arccosine_deflated": "10_features/plot_arccosine_deflated.py",
    "ntk_features": "10_features/plot_ntk_features.py",
    "cntk_features": "10_features/plot_cntk_features.py",
    "ternary": "10_features/plot_ternary.py",
    "elevation": "10_features/plot_elevation.py",
    "landmarks": "10_features/plot_landmarks.py",
    "choosing": "10_features/plot_choosing.py",
    "near_duplicates": "10_features/plot_near_duplicates.py",
    "cntk": "20_kernels/plot_cntk.py",
    "kernels_in_sklearn": "20_kernels/plot_kernels_in_sklearn.py",
    "ridge_one_pass": "30_machines/plot_ridge_one_pass.py",
    "exact_kernel": "30_machines/plot_exact_kernel.py",
    "all_rows": "30_machines/plot_all_rows.py",
    "clusters": "30_machines/plot_clusters.py",
    "design": "30_machines/plot_design.py",
    "front_door": "30_machines/plot_front_door.py",
    "feature_learning": "30_machines/plot_feature_learning.py",
    "measures": "40_diagnostics/plot_measures.py",
    "comparison": "40_diagnostics/plot_comparison.py",
    "displays": "40_diagnostics/plot_displays.py",
    "merge": "40_scale/plot_merge.py",
    "tables": "40_scale/plot_tables_from_elsewhere.py",
    "planning": "40_diagnostics/plot_planning.py",
}

#: Bands of the architecture from the top: their height, and folders with what they hold.
BANDS = {
    "cli": (0.85, {"cli": "commands"}),
    "around": (
        0.95,
        {
            "testing": "checks",
            "diagnostics": "error, plots",
            "io": "files, tables",
            "datasets": "generators",
        },
    ),
    "machines": (
        4.3,
        {
            "machines/auto": "the front door:\nKernelRegressor, KernelClassifier",
            "machines/feature_learning": "IRKM and RFM machines",
            "machines": "FeatureRidge, KernelRidge;\nshared by all:\ntargets, calibration, report",
        },
    ),
    "learning": (
        1.4,
        {"features": "feature maps\n(ntk, zonal)", "solvers": "linear algebra\nof learning"},
    ),
    "parts": (
        1.05,
        {"preprocessing": "tables, coordinates", "sketches": "random maps", "kernels": "k(x, y)"},
    ),
    "engine": (1.0, {"engine": "row blocks, threads, memory budget, streams"}),
    "ops": (0.95, {"ops": "formulas for one block of rows"}),
    "seams": (
        1.05,
        {"seams": "_array  _frame  _optional  _random\n_registry  _sklearn  _words"},
    ),
}
#: A walk: titles, hops as (module, band, x in the lane, y in the band), calls, flows of rows.
FRAME_WALK = {
    "title": "KernelRegressor().fit(frame, y)",
    "about": "a data frame of 1,000 rows: the exact kernel",
    "hops": [
        ("auto/estimators", "machines", 0.37, 0.09),
        ("auto/base", "machines", 0.37, 0.3),
        ("auto/source", "machines", 0.13, 0.52),
        ("targets", "machines", 0.12, 0.72),
        ("auto/preparation", "machines", 0.395, 0.72),
        ("preprocessing/encoder", "parts", 0.3, 0.5),
        ("auto/plan", "machines", 0.61, 0.52),
        ("auto/pilot", "machines", 0.6, 0.9),
        ("kernel_ridge", "machines", 0.86, 0.52),
        ("kernel_state", "machines", 0.86, 0.72),
        ("kernels/base", "parts", 0.87, 0.5),
        ("solvers/dual", "learning", 0.67, 0.5),
    ],
    "calls": [
        (1, 2),
        (2, 3),
        (3, 4),
        (2, 5),
        (5, 6),
        (2, 7),
        (2, 8),
        (2, 9),
        (9, 10),
        (10, 11),
        (10, 12),
    ],
    "flows": [],
}
STREAM_WALK = {
    "title": "FeatureRidge(features).fit(TableStream(folder))",
    "about": "Parquet files larger than memory: one pass",
    "hops": [
        ("io/tables", "around", 0.1, 0.5),
        ("ridge", "machines", 0.46, 0.09),
        ("base", "machines", 0.46, 0.3),
        ("engine/streams", "engine", 0.14, 0.5),
        ("targets", "machines", 0.53, 0.57),
        ("ridge_state", "machines", 0.82, 0.57),
        ("feature_rows", "machines", 0.62, 0.87),
        ("features/fourier", "learning", 0.45, 0.5),
        ("engine/rows", "engine", 0.45, 0.5),
        ("ops/fourier", "ops", 0.68, 0.5),
        ("solvers/statistics", "learning", 0.78, 0.24),
        ("solvers/ridge", "learning", 0.88, 0.77),
    ],
    "calls": [(2, 3), (3, 4), (3, 5), (3, 6), (6, 7), (7, 8), (8, 9), (8, 10), (6, 11), (6, 12)],
    "flows": [(1, 4)],
}


def save(fig, name):
    figures.save_both(fig, IMAGES / f"{name}.png")
    plt.close(fig)


def draw_kernels():
    """Stationary kernels, and zonal kernels."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    r = np.linspace(0, 4, 200)[:, None]
    for kernel in (Gaussian(), Matern(nu=2.5), Matern(nu=1.5), Laplace()):
        label = f"Matern, nu = {kernel.nu}" if isinstance(kernel, Matern) else type(kernel).__name__
        left.plot(r, kernel(r, np.zeros((1, 1))), label=label)
    left.set(xlabel="distance / lengthscale", ylabel="kernel", title="Stationary kernels")
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
    right.set_title("Zonal kernels")
    right.set_xticks([0, 45, 90, 135, 180])
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    save(fig, "kernels")


def repr_of(kernel):
    name, value = next(iter(kernel.get_params().items()))
    return f"{type(kernel).__name__}, {name} {value}"


def draw_memory():
    """Memory besides input and output, as the number of rows grows."""
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
    for budget, colour in (("20MB", "C0"), ("2MB", "C1")):
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
    for budget, colour in (("20MB", "C0"), ("2MB", "C1")):
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
    left.set_ylabel("memory besides input and output, MB")
    save(fig, "memory")


def beside_output(work):
    """Return the peak of allocated memory minus the result, in MB."""
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
        axes.plot(*W[:, before:], "o", color="C0", label="new")
        axes.set(xlim=(-3.6, 3.6), ylim=(-3.6, 3.6), aspect="equal")
        axes.set(title=f"n_components={2 * size}", xlabel="first coordinate")
        before = size
    panels[0].set_ylabel("second coordinate")
    handles, labels = panels[-1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save(fig, "nested")


def draw_architecture():
    """The folders as layers, and two fits as numbered calls through them."""
    fig, axes = plt.subplots(figsize=(16.5, 10.4))
    fig.subplots_adjust(0.005, 0.005, 0.995, 0.995)
    tops, y = {}, 0.0
    for name, (height, folders) in BANDS.items():
        tops[name] = y, height
        axes.add_patch(Rectangle((0.12, y), 16.9, height, color="#eef1f6", lw=0))
        draw_folders(axes, y + 0.08, height - 0.16, folders, stacked=name == "machines")
        y += height + 0.14
    bold = {"ha": "center", "va": "center", "weight": "bold"}
    axes.text(2.57, -0.4, "folders of src/mercer", fontsize=14, **bold)
    for left, colour, walk in ((5.2, "#1f6fb4", FRAME_WALK), (11.15, "#c8551b", STREAM_WALK)):
        axes.text(left + 2.9, -0.4, walk["title"], fontsize=14, color=colour, **bold)
        axes.text(
            left + 2.9, 0.4, walk["about"], fontsize=11, color=colour, ha="center", va="center"
        )
        draw_walk(axes, left, 5.8, colour, walk, tops)
    down = {"arrowstyle": "-|>,head_width=0.4,head_length=0.8", "lw": 2, "color": "0.45"}
    axes.annotate("", (-0.1, y - 0.14), (-0.1, 0), arrowprops=down)
    axes.text(
        -0.3,
        y / 2,
        "imports go down",
        rotation=90,
        color="0.35",
        fontsize=12,
        ha="center",
        va="center",
    )
    note = "numbers: the order of the hops        solid: calls        dotted: rows that are read"
    axes.text(
        11.05, tops["seams"][0] + 0.52, note, fontsize=11, color="0.3", ha="center", va="center"
    )
    axes.set(xlim=(-0.5, 17.1), ylim=(y, -0.75))
    axes.axis("off")
    figures.save_both(fig, ROOT / "docs/images/architecture.png", dpi=140)
    plt.close(fig)


def draw_folders(axes, top, height, folders, stacked):
    """The folders of a band: a box for each, side by side or one below the other."""
    n = len(folders)
    wide, tall = (4.86, (height - 0.1 * (n - 1)) / n) if stacked else ((4.96 - 0.1 * n) / n, height)
    for k, (name, holds) in enumerate(folders.items()):
        x = 0.22 if stacked else 0.22 + k * (wide + 0.1)
        y = top + k * (tall + 0.1) if stacked else top
        rounded(axes, x, y, wide, tall, "#8793a8")
        text = {"ha": "center", "va": "center"}
        lines = holds.count("\n") + 1
        middle = y + tall / 2
        size = 10.5 if n > 3 else 12
        axes.text(
            x + wide / 2, middle - 0.12 * lines - 0.02, name, fontsize=size, weight="bold", **text
        )
        axes.text(
            x + wide / 2, middle + 0.17, holds, fontsize=9.5, color="0.25", linespacing=1.1, **text
        )


def draw_walk(axes, left, width, colour, walk, tops):
    """The hops of one fit, and arrows from caller to callee."""
    places = []
    for _, band, x, y in walk["hops"]:
        top, height = tops[band]
        places.append((left + x * width, top + y * height))
    for pairs, style in ((walk["calls"], "-"), (walk["flows"], ":")):
        for first, second in pairs:
            arrow = {
                "arrowstyle": "-|>,head_width=0.28,head_length=0.5",
                "color": colour,
                "lw": 1.6,
            }
            arrow |= {"linestyle": style, "alpha": 0.8, "shrinkA": 0, "shrinkB": 0}
            (x0, y0), (x1, y1) = places[first - 1], places[second - 1]
            # From the lower edge of one box to the upper edge of the other.
            start, end = (x0 + 0.12 * (x1 - x0), y0 + 0.2), (x1, y1 - 0.21)
            axes.annotate("", end, start, arrowprops=arrow, zorder=2)
    for number, ((module, *_), (x, y)) in enumerate(zip(walk["hops"], places, strict=True), 1):
        half = 0.22 + 0.04 * len(module)
        rounded(axes, x - half, y - 0.2, 2 * half, 0.4, colour, zorder=3)
        axes.plot(x - half + 0.04, y, "o", ms=19, color=colour, zorder=4)
        text = {"ha": "center", "va": "center", "zorder": 5}
        axes.text(x - half + 0.04, y, number, color="white", fontsize=10.5, weight="bold", **text)
        axes.text(x + 0.12, y, module, fontsize=10.5, **text)


def rounded(axes, x, y, width, height, colour, **options):
    """A white box with round corners."""
    corner, pad = (x + 0.05, y + 0.05), "round,pad=0.05"
    box = FancyBboxPatch(
        corner, width - 0.1, height - 0.1, boxstyle=pad, fc="white", ec=colour, **options
    )
    axes.add_patch(box)


def draw_scale():
    """Time to learn 10^10 rows and to bring their sums together, over the workers."""
    results = json.loads((ROOT / "benchmarks/results/speed_reduction.json").read_text())
    rows = next(rows for title, rows in results["tables"].items() if title.startswith("More"))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained", facecolor="white")
    widths = sorted({row["width"] for row in rows})
    for width, colour in zip(widths, ("C0", "C1", "0.25"), strict=True):
        own = [row for row in rows if row["width"] == width]
        workers = [row["workers"] for row in own]
        axes.plot(workers, [row["learn s"] for row in own], "o-", color=colour,
                  label=f"{width:,} features: learn")  # fmt: skip
        axes.plot(workers, [row["reduce s"] for row in own], "o--", color=colour, mfc="white",
                  label="then bring sums together")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="workers of one thread", ylabel="seconds")
    axes.set_title("10 billion rows")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    save(figure, "scale")


def main():
    gallery.reset(None, None)
    draw_kernels()
    draw_nested()
    draw_memory()
    draw_architecture()
    draw_scale()
    for name, example in EXAMPLES.items():
        if name != "elevation" or os.environ.get("MERCER_DATA"):
            take_from_gallery(name, Path(example))


def take_from_gallery(name, example):
    """Copy the picture of an example, and its dark sibling."""
    folder = ROOT / "docs/auto_examples" / example.parent / "images"
    picture = folder / f"sphx_glr_{example.stem}_001.png"
    if not picture.is_file():
        raise SystemExit(f"{picture} does not exist: run `make docs` first.")
    target = IMAGES / f"{name}.png"
    shutil.copyfile(picture, target)
    shutil.copyfile(themes.dark_sibling(picture), themes.dark_sibling(target))


if __name__ == "__main__":
    main()
