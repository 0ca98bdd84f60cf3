"""
Landmarks: where they lie, and what the features they make miss of a kernel
===========================================================================

Nyström features see a kernel through some of the rows. Left: rows in a heap, and a few far from
it. Uniform landmarks fall into the heap; those of the pivoted Cholesky factorisation are where
the ones before them leave most of the kernel. Middle: what is missing of the kernel's trace by the
number of landmarks. Right: at the same number of columns Nyström features are far nearer to the
kernel than random ones, which do not look at the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import Gaussian, NystromFeatures, RandomFourier, approximation_error

generator = np.random.default_rng(0)
heap = generator.normal(0, 0.35, (2700, 2))
far = generator.uniform(-4, 4, (90, 2))
X = np.concatenate([heap, far])
kernel = Gaussian(0.7)
WAYS = {"uniform": "C1", "kmeans++": "C3", "leverage": "C4", "rpcholesky": "C2"}
SIZES = (8, 16, 32, 64, 128)
N_SEEDS = 5


def missing(way, size, seed):
    """Return the share of the kernel's trace that features miss; the diagonal is 1."""
    features = NystromFeatures(kernel, n_components=size, landmarks=way, random_state=seed)
    Z = features.fit_transform(X)
    return 1 - (Z * Z).sum() / len(X)


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
left.plot(*X.T, ".", color="0.75", markersize=3)
for way, marker in (("uniform", "x"), ("rpcholesky", "o")):
    features = NystromFeatures(kernel, n_components=32, landmarks=way, random_state=0).fit(X)
    style = {"markersize": 7, "markerfacecolor": "none", "linestyle": "none"}
    left.plot(*features.landmarks_.T, marker, color=WAYS[way], label=way, **style)
left.set(title="32 landmarks", xlabel="first column", ylabel="second column")
left.set_ylim(-4.6, 5.6)
left.legend(loc="upper center", ncols=2, fontsize=9)

for way, colour in WAYS.items():
    errors = np.array([[missing(way, m, seed) for seed in range(N_SEEDS)] for m in SIZES])
    middle.plot(SIZES, np.maximum(errors.mean(axis=1), 1e-8), "o-", color=colour, label=way)
    print(f"{way:>10}: missing of the trace {errors.mean(axis=1).round(5)}")
middle.set(xscale="log", yscale="log", xlabel="landmarks", title="missing share of the trace")
middle.set_xticks(SIZES, labels=SIZES)
middle.minorticks_off()
middle.grid(alpha=0.3)
middle.legend(fontsize=9)

rows = generator.standard_normal((2000, 3)) @ generator.standard_normal((3, 8))
wide = Gaussian("median").fitted_to(rows)
columns = (32, 64, 128, 256, 512)
for name, make, colour in (
    ("NystromFeatures", NystromFeatures, "C2"),
    ("RandomFourier", RandomFourier, "C0"),
):
    errors = []
    for m in columns:
        features = make(wide, n_components=m, random_state=0).fit(rows[:1500])
        errors.append(approximation_error(features, rows[1500:]).relative)
    right.plot(columns, errors, "s-", color=colour, label=name)
    print(f"{name:>16}: relative error on new rows {np.round(errors, 4)}")
right.set(xscale="log", yscale="log", xlabel="columns", title="relative error on new rows, d = 8")
right.set_xticks(columns, labels=columns)
right.minorticks_off()
right.grid(alpha=0.3)
right.legend(fontsize=9)

plt.show()
