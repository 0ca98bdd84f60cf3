"""
How good are the features? Four measures, against the number of components
==========================================================================

Left: the error of kernel entries as measured on 300 of 1,500 rows, with its 95 % interval, beside
that of all rows (crosses). Middle: the spectral approximation, of which the worst direction
counts, for three ridge parameters: the smaller it is, the more features are needed. Dotted: below 1
ridge regression on the features is worth something. Right: what k-means and principal components
care about, projection costs of rank 10; and how many frequencies a theorem asks for.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import Gaussian, RandomFourier, approximation_error
from mercer.diagnostics import (
    projection_cost,
    spectral_approximation,
    statistical_dimension,
    sufficient_fourier,
)

X = np.random.default_rng(0).standard_normal((1500, 3)) * [2, 1, 0.5]
kernel = Gaussian("median").fitted_to(X)
SIZES = (32, 64, 128, 256, 512, 1024, 2048)
ALPHAS = {15.0: "C3", 1.5: "C1", 0.15: "C4"}

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
fitted = [RandomFourier(kernel, n_components=m, random_state=0).fit(X) for m in SIZES]

found = [approximation_error(features, X, n_rows=300) for features in fitted]
known = [approximation_error(features, X, n_rows=len(X)).relative for features in fitted]
values = np.array([error.relative for error in found])
ends = np.array([[error.low, error.high] for error in found]).T
left.errorbar(SIZES, values, abs(ends - values), fmt="o", capsize=3, label="from 300 rows")
left.plot(SIZES, known, "x", color="0.2", label="all rows")
left.set(title="relative error of the kernel matrix", yscale="log")
left.legend(fontsize=9)

for alpha, colour in ALPHAS.items():
    dimension = statistical_dimension(kernel, X, alpha).value
    epsilons = [spectral_approximation(features, X, alpha).epsilon for features in fitted]
    label = f"alpha = {alpha:g}, dimension {dimension:.0f}"
    middle.plot(SIZES, epsilons, "o-", color=colour, label=label)
    needed = 2 * sufficient_fourier(len(X), alpha, dimension, epsilon=0.5)
    print(f"alpha = {alpha:5g}: epsilon {np.round(epsilons, 2)}, theorem {needed:,} components")
middle.axhline(1, color="0.5", linestyle=":")
middle.set(title="spectral approximation, epsilon", yscale="log")
middle.legend(fontsize=9)

costs = [projection_cost(features, X, rank=10) for features in fitted]
right.plot(SIZES, [cost.epsilon for cost in costs], "o-", color="C2", label="deviation of costs")
right.plot(
    SIZES, [cost.excess - 1 for cost in costs], "s-", color="C0", label="excess over the best"
)
right.set(title="projections of rank 10", yscale="log")
right.legend(fontsize=9)
for axes in (left, middle, right):
    axes.set(xscale="log", xlabel="components")
    axes.set_xticks(SIZES, labels=SIZES)
    axes.minorticks_off()
    axes.grid(alpha=0.3)

plt.show()
