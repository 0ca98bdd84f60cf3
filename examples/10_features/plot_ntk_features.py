"""
The neural tangent kernel without its matrix: six kinds of features
===================================================================

The gradient of a finite network is the oldest approximation, and the worst. Random features
and sketches layer by layer are better. Best are maps of the whole kernel at once, as a function
of the cosine, whose cost does not depend on the depth: a sketch of a polynomial, or Gegenbauer
polynomials with exact low degrees, which have the smallest error.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import NTK, GradientFeatures, NTKFeatures

DIMENSION = 20
generator = np.random.default_rng(0)
X = np.repeat(generator.standard_normal((10, DIMENSION)), 20, axis=0)
X = X + 0.5 * generator.standard_normal(X.shape)
sizes = np.asarray([128, 256, 512, 1024])


def width_for(depth, size):
    """Return the width of the network whose gradient has about ``size`` entries."""
    widths = np.arange(1, 200)
    return int(widths[abs(widths * (DIMENSION + 1 + (depth - 1) * widths) - size).argmin()])


def tangent(**options):
    return lambda depth, size, seed: NTKFeatures(
        depth, n_components=size, random_state=seed, **options
    )


maps = {
    "gradient of a network": (
        lambda depth, size, seed: GradientFeatures(
            depth, width=width_for(depth, size), random_state=seed
        ),
        ("x:", "0.45"),
    ),
    "random, as published": (tangent(method="random", variant="paper"), ("s--", "C3")),
    "random, improved": (tangent(method="random"), ("^-", "C1")),
    "sketch of each layer": (tangent(method="sketch"), ("v-", "C2")),
    "one-shot sketch": (tangent(method="one-shot"), ("o-", "C0")),
    "zonal (default)": (tangent(method="zonal"), ("D-", "C4")),
}

fig, panels = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained", sharey=True)
for depth, axes in zip((1, 2, 4), panels, strict=True):
    K = NTK(depth)(X)
    print(f"{depth} hidden layer(s): relative error, mean of 3 seeds")
    for name, (make, (style, colour)) in maps.items():
        mean, columns = [], []
        for size in sizes:
            errors = []
            for seed in range(3):
                Z = make(depth, int(size), seed).fit_transform(X)
                errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
            mean.append(np.mean(errors))
            columns.append(Z.shape[1])
        axes.plot(columns, mean, style, color=colour, label=name)
        values = zip(columns, mean, strict=True)
        print(f"{name:>22}: " + ", ".join(f"{m} {e:.3f}" for m, e in values))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, labels=sizes)
    axes.minorticks_off()
    axes.set(xlabel="number of features", title=f"{depth} hidden layer{'s' * (depth > 1)}")
    axes.grid(alpha=0.3)
panels[0].set_ylabel("relative error of the kernel matrix")
panels[0].set_yticks([0.01, 0.03, 0.1, 0.3, 1.0], labels=["1 %", "3 %", "10 %", "30 %", "100 %"])
handles, labels = panels[0].get_legend_handles_labels()
fig.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)

plt.show()
