"""
Which map for a Gaussian kernel: it depends on how many lengthscales the rows are apart
=======================================================================================

Errors of three maps of 512 features by the reach of the rows, the root of their mean squared
distance from their mean over the lengthscale, measured on rows that no map has seen. Circles are
the choices of ``choose_map``: Gegenbauer polynomials for a small reach, where few degrees hold the
kernel, random Fourier features beyond. Nyström features see the rows and have the smallest error,
but not as seeds: they store their landmarks. Left: normal rows; right: rows on a sphere.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from mercer import (
    Gaussian,
    GegenbauerFeatures,
    NystromFeatures,
    RandomFourier,
    approximation_error,
    choose_map,
)

REACHES = 2.0 ** np.arange(-2, 2.6, 0.5)
MAPS = {"RandomFourier": RandomFourier, "GegenbauerFeatures": GegenbauerFeatures}
COLOURS = {"RandomFourier": "C0", "GegenbauerFeatures": "C5", "NystromFeatures": "C2"}
normal = np.random.default_rng(0).standard_normal((2000, 8)) / 8**0.5
sphere = normal / np.linalg.norm(normal, axis=1, keepdims=True)


def error(features, rows):
    """Return the relative error of a map on rows that it has not seen."""
    with warnings.catch_warnings():
        # Gegenbauer features say that they miss much of the kernel, which is to be seen here.
        warnings.simplefilter("ignore")
        return approximation_error(features.fit(rows[:1500]), rows[1500:]).relative


figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
for axis, rows, title in zip(axes, (normal, sphere), ("normal rows", "on a sphere"), strict=True):
    for name, make in {**MAPS, "NystromFeatures": NystromFeatures}.items():
        errors = [
            error(make(Gaussian(1 / reach), n_components=512, random_state=0), rows)
            for reach in REACHES
        ]
        style = "--" if name == "NystromFeatures" else "-"
        axis.plot(REACHES, errors, style, color=COLOURS[name], label=name)
    for reach in REACHES:
        choice = choose_map(Gaussian(1 / reach), rows[:1500], n_components=512, random_state=0)
        kind = type(choice.features).__name__
        found = error(choice.features, rows)
        label = "choose_map" if reach == REACHES[0] else None
        axis.plot(reach, found, "o", color=COLOURS[kind], markersize=8, label=label)
        print(f"{title:>12}, reach {reach:.2f}: {kind}, error {found:.2g}")
    axis.set(xscale="log", yscale="log", xlabel="reach", title=f"{title}, 8 columns")
    axis.set_xticks(REACHES[::2], labels=[f"{reach:g}" for reach in REACHES[::2]])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
axes[0].set_ylabel("relative error of the kernel matrix")
axes[0].legend(fontsize=9)

plt.show()
