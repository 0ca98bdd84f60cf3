"""
An exact kernel with error bars, and random features of the same kernel
=======================================================================

``KernelRidge`` keeps all rows and has no approximation error: its predictions are those of a
Gaussian process, and exact leave-one-out chooses the ridge parameter. ``FeatureRidge`` on random
features of the same kernel costs far less with many rows. Left: a rough function of one column.
Both agree where there are rows; where there are none, the exact kernel returns to the mean with
wide error bars. Right: rough functions of three and four columns. Features approach the exact
kernel as their number grows, and need many more with every column.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import FeatureRidge, KernelRidge, Matern, RandomFourier

NOISE = 0.15
SIZES = (64, 128, 256, 512, 1024, 2048)
N_SEEDS = 3
generator = np.random.default_rng(0)


def zigzag(x):
    """Return a function of one column whose zigzag becomes finer to the right."""
    return np.sin(x / 2) + 2 * abs((x * x / 40) % 2 - 1)


def rough(X):
    """Return a function of three or four columns with kinks."""
    ridges = abs((1.5 * X[:, 2:].sum(axis=1)) % 2 - 1)
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + ridges


def noisy(values):
    """Return values with noise."""
    return values + NOISE * generator.standard_normal(len(values))


def one_column(n):
    """Return about n values between 0 and 20, none of them between 8 and 11."""
    x = generator.uniform(0, 20, n)
    return x[(x < 8) | (x > 11)]


x = one_column(1000)
y = noisy(zigzag(x))
kernel = Matern(0.5, nu=1.5)
exact = KernelRidge(kernel).fit(x[:, None], y)
few = FeatureRidge(RandomFourier(kernel, n_components=128, random_state=0)).fit(x[:, None], y)
x_test = one_column(5000)
mean, std = exact.predict(x_test[:, None], return_std=True)
inside = abs(mean - noisy(zigzag(x_test))) < 1.96 * std
print(
    f"one column, {len(x)} rows: alpha {exact.alpha_:.3g}; 95 % intervals cover {inside.mean():.1%}"
)

figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=(3, 2))
left, right = panels
grid = np.linspace(-0.5, 20.5, 1500)
mean, std = exact.predict(grid[:, None], return_std=True)
left.plot(x, y, ".", color="0.7", markersize=3, label=f"{len(x)} rows")
left.plot(grid, zigzag(grid), ":", color="0.2", lw=1, label="true function")
left.plot(grid, mean, color="C4", label="exact kernel, ± 2 standard deviations")
left.fill_between(grid, mean - 2 * std, mean + 2 * std, color="C4", alpha=0.2, lw=0)
left.plot(grid, few.predict(grid[:, None]), "--", color="C0", label="128 features of it")
left.set(xlabel="x", ylabel="y", ylim=(-2.4, 3.6), title="Matérn kernel, one column")
left.legend(loc="lower left", fontsize=8, ncols=2)

# More columns: test errors by the number of features.
for n_columns, marker in ((3, "o-"), (4, "s-")):
    X = generator.uniform(-2, 2, (4500, n_columns))
    y = noisy(rough(X))
    train, test = slice(0, 1500), slice(1500, None)

    def error(model, X=X, y=y, train=train, test=test):
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        return 1 - model.score(X[test], y[test]), seconds

    kernel = Matern(1.0, nu=1.5)
    best, seconds = error(KernelRidge(kernel))
    print(f"{n_columns} columns, exact kernel: 1 - R2 {best:.3f} in {seconds:.2f} s")
    errors = np.empty((N_SEEDS, len(SIZES)))
    for k, size in enumerate(SIZES):
        for seed in range(N_SEEDS):
            features = RandomFourier(kernel, n_components=size, random_state=seed)
            errors[seed, k], seconds = error(FeatureRidge(features, selection="loo"))
        print(f"{size:>8} features: 1 - R2 {errors[:, k].mean():.3f} in {seconds:.2f} s")
    colour = "C1" if n_columns == 3 else "C3"
    right.plot(
        SIZES, errors.mean(axis=0), marker, color=colour, label=f"{n_columns} columns, features"
    )
    right.plot(SIZES, errors.T, ".", color=colour, alpha=0.4)
    right.axhline(best, color=colour, ls="--", label=f"{n_columns} columns, exact kernel")
right.set_xscale("log", base=2)
right.set_yscale("log")
right.set_xticks(SIZES, labels=SIZES)
right.set_yticks([0.05, 0.1, 0.2, 0.4, 0.8], labels=["0.05", "0.1", "0.2", "0.4", "0.8"])
right.minorticks_off()
right.set(xlabel="number of features", ylabel="1 - R² on test rows", ylim=(0.035, 1.1))
right.set(title=f"{train.stop:,} rows, mean of {N_SEEDS} seeds")
right.grid(alpha=0.3)
right.legend(fontsize=8)

plt.show()
