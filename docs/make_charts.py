"""Draw the two pictures of the front page, for light and for dark paper.

``peers.svg`` shows accuracy against time beside the peers, from ``benchmarks/results``; and
``choose.svg`` which method to take when. Usage: ``python docs/make_charts.py``; takes seconds.
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FixedLocator

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs/_parts"))

import figures

from mercer.diagnostics.comparison.palette import looks

IMAGES = ROOT / "docs/images"
#: Method of the results: what it is called here, the name whose colour it has on the whole site,
#: and on which side of its point it stands.
PEERS = {
    "linear": ("linear model", "linear", "right"),
    "nystroem": ("Nystroem\n(scikit-learn)", "Nystroem (sklearn)", "above"),
    "hgb": ("gradient boosting\n(scikit-learn)", "gradient boosting", "aside"),
    "lgbm": ("LightGBM", "exact, Gaussian", "above"),
    "xrfm": ("xRFM, on a GPU", "IRKM", "below"),
    "mercer": ("mercer", "Fourier, Gaussian", "above"),
}
#: Questions from the top, the answer to "yes", and what to take; the last is for all others.
CHOICES = (
    (
        "Shall everything be\nchosen for you?",
        "KernelRegressor\nKernelClassifier",
        "a table as it is",
    ),
    ("Do only a few columns\nor directions matter?", "IRKM..., RFM...", "and which they are"),
    (
        "Up to 8,000 rows?\nOr up to a million, with\naccuracy before time?",
        "KernelRidge",
        "no approximation",
    ),
    ("More rows, a stream,\nfiles, a cluster", "FeatureRidge", "one pass over features"),
)
MAPS = (
    ("Gaussian, Laplace, Matérn", "RandomFourier"),
    ("zonal kernels, the sphere", "GegenbauerFeatures"),
    ("tangent kernels of networks", "NTKFeatures"),
    ("images", "CNTKSketch"),
    ("any kernel, or a sum", "NystromFeatures"),
    ("bits in place of floats", "WaveFeatures"),
)


def draw_peers():
    """Errors beside the smallest of all methods, over the seconds of a fit."""
    cases = json.loads((ROOT / "benchmarks/results/accuracy_peers.json").read_text())
    rows = {(row["table"], row["method"]): row for row in cases["tables"]["Cases"]}
    tables = sorted({table for table, _ in rows})
    best = np.array([min(rows[table, method]["error"] for method in PEERS) for table in tables])
    fig, axes = plt.subplots(figsize=(4.9, 4.2), layout="constrained")
    for method, (label, name, side) in PEERS.items():
        colour = looks([name])[name].colour
        own = [rows[table, method] for table in tables]
        seconds = np.quantile([row["seconds"] for row in own], (0.25, 0.5, 0.75))
        shares = np.quantile([row["error"] for row in own] / best, (0.25, 0.5, 0.75))
        style = {"color": colour, "lw": 2.5, "alpha": 0.45, "solid_capstyle": "round"}
        axes.plot(seconds[[0, 2]], shares[[1, 1]], **style)
        axes.plot(seconds[[1, 1]], shares[[0, 2]], **style)
        axes.plot(seconds[1], shares[1], "o", color=colour, ms=12)
        place, shift, across, up = {
            "above": ((seconds[1], shares[2]), (0, 6), "center", "bottom"),
            "aside": ((seconds[1], shares[2]), (16, 6), "center", "bottom"),
            "below": ((seconds[1], shares[0]), (0, -9), "center", "top"),
            "right": ((seconds[1], shares[1]), (10, 6), "left", "bottom"),
        }[side]
        style = {"color": colour, "weight": "bold", "ha": across, "va": up}
        axes.annotate(label, place, shift, textcoords="offset points", **style)
    axes.set(xscale="log", yscale="log", xlim=(0.008, 500), ylim=(0.72, 20))
    axes.set_xlabel("seconds of a fit with defaults")
    axes.set_ylabel("error / smallest error of the six")
    axes.xaxis.set_major_locator(FixedLocator([0.01, 0.1, 1, 10, 100]))
    axes.set_xticklabels(["0.01", "0.1", "1", "10", "100"])
    axes.yaxis.set_major_locator(FixedLocator([1, 1.5, 2, 3, 5, 10]))
    axes.set_yticklabels(["1", "1.5", "2", "3", "5", "10"])
    axes.minorticks_off()
    axes.set_title(f"{len(tables)} tables: median and quartiles", fontsize=11)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figures.save_both(fig, IMAGES / "peers.svg")
    plt.close(fig)


def draw_choices():
    """Questions down the left, answers on the right; narrow, for a phone."""
    fig, axes = plt.subplots(figsize=(4.1, 7.3))
    fig.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(0, 100), ylim=(152, 0))
    axes.axis("off")
    blue, orange = (
        looks([name])[name].colour for name in ("Fourier, Gaussian", "gradient boosting")
    )
    arrow = {"arrowstyle": "-|>", "color": "0.4", "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    for number, (question, answer, about) in enumerate(CHOICES):
        top = 2 + 22 * number
        box(axes, 1, top, 47, 15, "0.4")
        axes.text(24.5, top + 7.5, question, ha="center", va="center", fontsize=9.5)
        box(axes, 60, top, 39, 15, blue)
        name = axes.text(79.5, top + 5.6, answer, ha="center", va="center", fontsize=9.5)
        name.set(weight="bold", color=blue)
        axes.text(79.5, top + 12, about, ha="center", va="center", fontsize=8.5, color="0.35")
        axes.annotate("", (60, top + 7.5), (48, top + 7.5), arrowprops=arrow)
        if number + 1 < len(CHOICES):
            axes.text(54, top + 6.2, "yes", ha="center", fontsize=9)
            axes.annotate("", (24.5, top + 22), (24.5, top + 15), arrowprops=arrow)
            axes.text(26.5, top + 19.6, "no", fontsize=9)
    top = 2 + 22 * len(CHOICES)
    axes.annotate("", (79.5, top), (79.5, top - 7), arrowprops=arrow)
    box(axes, 1, top, 98, 60, orange)
    axes.text(4, top + 6, "Which features, of which kernel?", va="center", weight="bold",
              fontsize=9.5, color=orange)  # fmt: skip
    for number, (case, features) in enumerate(MAPS):
        y = top + 14.5 + 8 * number
        axes.text(5, y, case, va="center", fontsize=9.5)
        axes.text(57, y, features, va="center", fontsize=9.5, weight="bold", color=orange)
    figures.save_both(fig, IMAGES / "choose.svg")
    plt.close(fig)


def box(axes, x, y, width, height, colour):
    """A rounded box without filling."""
    shape = FancyBboxPatch((x + 2, y + 2), width - 4, height - 4, boxstyle="round,pad=2",
                           fc="none", ec=colour, lw=1.4)  # fmt: skip
    axes.add_patch(shape)


def main():
    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "mercer"
    draw_peers()
    draw_choices()


if __name__ == "__main__":
    main()
