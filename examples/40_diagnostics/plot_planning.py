"""
What will it take, and how many features are enough?
====================================================

Left: the memory that a fit of ridge regression on Fourier features takes, as planned and as
measured with smaller numbers, and budgets of 1 and 4 GB. Middle: a map grows until its error is
small enough; each step draws what the last one says is missing. Right: a ridge machine doubles its
features until further doublings promise little; in grey the scores of single fits of all sizes.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.testing import peak_bytes

generator = np.random.default_rng(0)
X = generator.uniform(-2, 2, (9000, 3)).astype(np.float32)
new = generator.uniform(-2, 2, (2000, 3)).astype(np.float32)


def observed(rows):
    """Return a function of the rows, with noise."""
    noise = 0.3 * generator.standard_normal(len(rows))
    return np.sin(6 * rows[:, 0]) * rows[:, 1] + np.cos(5 * rows[:, 2]) + noise


y, y_new = observed(X), observed(new)


def features(m, lengthscale=0.4, tolerance=0.05):
    """Return Fourier features, not fitted."""
    kernel = Gaussian(lengthscale)
    return RandomFourier(kernel, n_components=m, tolerance=tolerance, random_state=0)


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")

sizes = (256, 512, 1024, 2048, 4096, 8192, 16_384)
for folds, selection, colour in ((0, "gcv", "C0"), (5, 5, "C1")):
    plans = [mercer.plan(X, FeatureRidge(features(m), selection=selection)) for m in sizes]
    name = f"{folds} folds" if folds else "without folds"
    left.plot(sizes, [p.memory / 1e9 for p in plans], "-", color=colour, label=f"planned, {name}")
    peaks = []
    for m in sizes[:3]:
        model = FeatureRidge(features(m), selection=selection)
        peaks.append(peak_bytes(lambda model=model: model.fit(X, y))[1] / 1e9)
    left.plot(sizes[:3], peaks, "o", color=colour, label=f"measured, {name}")
for budget in (1, 4):
    left.axhline(budget, color="0.5", linestyle=":")
left.set(title="memory in GB", yscale="log")

for tolerance, colour in ((0.1, "C2"), (0.04, "C3"), (0.02, "C4")):
    path = features("auto", 1.5, tolerance).fit(X).growth_
    middle.plot(path.sizes, path.values, "o-", color=colour, label=f"tolerance {tolerance:g}")
    middle.axhline(tolerance, color=colour, linestyle=":")
    print(path)
middle.set(title="relative error of the kernel matrix", yscale="log")

grid = (128, 256, 512, 1024, 2048)
scores = [FeatureRidge(features(m)).fit(X, y).score(new, y_new) for m in grid]
right.plot(grid, scores, "s-", color="0.6", label="score on new rows, size given")
model = FeatureRidge(features("auto"), tolerance=0.01).fit(X, y)
path = model.growth_
right.plot(path.sizes, path.values, "o-", color="C0", label="held-out R2 on the way")
chosen = path.sizes[-1]
right.plot(chosen, model.score(new, y_new), "*", color="C3", markersize=14, label="chosen")
right.set(title="ridge regression that grows")
print(path)
for axes in (left, middle, right):
    axes.set(xscale="log", xlabel="features")
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
left.set_xticks(sizes, labels=[f"{m:,}" for m in sizes], fontsize=8)
for axes in (middle, right):
    axes.set_xticks((256, 512, 1024, 2048, 4096), labels=(256, 512, 1024, 2048, 4096))
middle.set_yticks((0.02, 0.04, 0.1), labels=("0.02", "0.04", "0.1"))
right.set_xlim(115, 2400)

plt.show()
