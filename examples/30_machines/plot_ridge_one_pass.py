"""
Ridge regression on features: one pass, a chosen ridge parameter, and error bars
================================================================================

A machine never holds the features of all rows: it adds up their products block by block.
The same sums give the coefficients for every ridge parameter, the score by which one is
chosen, and the uncertainty of every prediction. Left: predictions and error bars, and those of
an exact Gaussian process. Right: the score that chose the ridge parameter, and the error on
held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from mercer import FeatureRidge, Gaussian, RandomFourier

NOISE = 0.2


def signal(x):
    """Return the true function."""
    return np.sin(2 * x) * np.exp(-(x**2) / 8)


generator = np.random.default_rng(0)
X = generator.uniform(-4, 4, (400, 1))
X = X[abs(X[:, 0] - 1.5) > 0.8]
y = signal(X[:, 0]) + NOISE * generator.standard_normal(len(X))
grid = np.linspace(-6, 6, 400)[:, None]

features = RandomFourier(Gaussian(1.0), n_components=300, random_state=0)
model = FeatureRidge(features).fit((X[rows], y[rows]) for rows in np.array_split(range(len(X)), 5))
mean, std = model.predict(grid, return_std=True)
noise = model.noise_variance_[0]
kernel = noise / model.alpha_ * RBF(1.0) + WhiteKernel(noise)
process = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=False)
exact_mean, exact_std = process.fit(X, y - y.mean()).predict(grid, return_std=True)

solution = model.solution_
print(f"{len(X)} rows in 5 blocks, {solution.coef.shape[0]} features, method {solution.method}")
print(f"ridge parameter {model.alpha_:.3g} of {len(solution.alphas)} candidates")
print(f"degrees of freedom {solution.degrees_of_freedom[0]:.1f}")
print(f"noise {noise**0.5:.3f} estimated, {NOISE} true")

new = generator.uniform(-4, 4, (2000, 1))
truth = signal(new[:, 0]) + NOISE * generator.standard_normal(2000)
errors = [
    ((FeatureRidge(features, alpha=alpha).fit(X, y).predict(new) - truth) ** 2).mean()
    for alpha in solution.alphas
]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(X[:, 0], y, ".", color="0.6", markersize=4, label="data")
left.plot(grid[:, 0], mean, color="C0", label="mercer, ± 2 standard deviations")
left.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color="C0", alpha=0.2, lw=0)
for sign in (-2, 0, 2):
    label = "exact Gaussian process" if sign == 0 else None
    left.plot(grid[:, 0], exact_mean + y.mean() + sign * exact_std, "k--", lw=0.8, label=label)
left.set(xlabel="x", ylabel="y", title="predictions and their error bars")
left.legend(loc="upper right", fontsize=8)
right.loglog(
    solution.alphas, solution.scores[:, 0], "o-", markersize=3, label="score (no second pass)"
)
right.loglog(solution.alphas, errors, "--", label="error on new rows")
right.axvline(model.alpha_, color="0.5", lw=1, label="chosen")
right.set(
    xlabel="ridge parameter", ylabel="mean squared error", title="choice of the ridge parameter"
)
right.legend()

plt.show()
