"""
All rows as centres, landmarks, and features: what each costs, and how good each is
===================================================================================

A rough function of four columns, with noise. ``KernelRidge`` with ``n_centres`` has some rows,
drawn at random, as centres of its kernel functions; without, and with many rows, it solves with
all of them by conjugate gradients. ``FeatureRidge`` has random features of the same kernel. Left:
the test error by the number of centres or features. Right: the same errors by the time of the fit.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import FeatureRidge, KernelRidge, Matern, RandomFourier

N_ROWS, N_NEW, NOISE = 9000, 3000, 0.1
SIZES = (125, 250, 500, 1000, 2000)
generator = np.random.default_rng(0)
kernel = Matern(1.0, nu=1.5)


def rough(X):
    """Return a function of four columns with kinks."""
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + abs((1.5 * X[:, 2:].sum(axis=1)) % 2 - 1)


def measured(model, name):
    """Return 1 - R2 on new rows, and the seconds of the fit."""
    start = time.perf_counter()
    model.fit(X[:N_ROWS], y[:N_ROWS])
    seconds = time.perf_counter() - start
    error = 1 - model.score(X[N_ROWS:], y[N_ROWS:])
    print(f"{name:<20} 1 - R2 {error:.4f} in {seconds:5.1f} s")
    return error, seconds


X = generator.uniform(-2, 2, (N_ROWS + N_NEW, 4))
y = rough(X) + NOISE * generator.standard_normal(len(X))
# The first fit compiles what all others use.
KernelRidge(kernel, solver="iterative").fit(X[:100], y[:100])
FeatureRidge(RandomFourier(kernel, n_components=64, random_state=0)).fit(X[:100], y[:100])
landmarks = [measured(KernelRidge(kernel, n_centres=m), f"{m:,} landmarks") for m in SIZES]
features = [
    measured(FeatureRidge(RandomFourier(kernel, n_components=m, random_state=0)), f"{m:,} features")
    for m in SIZES
]
model = KernelRidge(kernel)
error, seconds = measured(model, "all rows")
mean, deviation = model.predict(X[N_ROWS:], return_std=True)
inside = np.mean(abs(mean - y[N_ROWS:]) <= 1.96 * deviation)
print(f"{model.solver_report_}; 95 % intervals cover {inside:.1%}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for found, marker, colour, label in (
    (features, "s-", "C0", "random features"),
    (landmarks, "o-", "C2", "landmarks as centres"),
):
    errors, times = zip(*found, strict=True)
    left.plot(SIZES, errors, marker, color=colour, label=label)
    right.plot(times, errors, marker, color=colour, label=label)
left.axhline(error, color="C4", ls="--", label=f"all {N_ROWS:,} rows as centres")
right.plot([seconds], [error], "*", color="C4", markersize=14, label=f"all {N_ROWS:,} rows")
noise = NOISE**2 / y.var()
for axes in (left, right):
    axes.axhline(noise, color="0.5", ls=":", label="noise")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
left.set_yticks([0.05, 0.1, 0.2, 0.4, 0.8], labels=["0.05", "0.1", "0.2", "0.4", "0.8"])
left.set_xticks(SIZES, labels=[f"{size:,}" for size in SIZES])
left.minorticks_off()
left.set(xlabel="centres or features", ylabel="1 - R² on new rows", title="Error by size")
right.set(xlabel="seconds of the fit", title="Error by time")

plt.show()
