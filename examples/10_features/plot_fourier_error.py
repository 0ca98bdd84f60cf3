"""
How many random Fourier features does a Gaussian kernel need?
=============================================================

The error of every random map falls as one over the square root of the number of features.
Better sampling improves the constant: orthogonal directions with stratified norms, against
independent frequencies, and against scikit-learn's ``RBFSampler``, which also has a random
offset where ``RandomFourier`` uses a cosine and a sine.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import RBFSampler

from mercer import Gaussian, RandomFourier

X = np.random.default_rng(0).standard_normal((300, 8))
kernel = Gaussian("median").fitted_to(X)
K = kernel(X)
gamma = 1 / (2 * kernel.lengthscale**2)


def orthogonal(size, seed):
    return RandomFourier(kernel, n_components=size, random_state=seed)


def independent(size, seed):
    return RandomFourier(
        kernel, n_components=size, projection="gaussian", stratified=False, random_state=seed
    )


def rbf_sampler(size, seed):
    return RBFSampler(gamma=gamma, n_components=size, random_state=seed)


def error(make, size, seed):
    Z = make(size, seed).fit_transform(X)
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


maps = {
    "RBFSampler": (rbf_sampler, "s--", "0.45"),
    "independent": (independent, "^-", "C1"),
    "orthogonal (default)": (orthogonal, "o-", "C0"),
}
sizes = np.asarray([32, 64, 128, 256, 512, 1024, 2048])
goal = 0.02

fig, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
print(f"relative error of the kernel matrix, mean of 20 seeds; {X.shape[1]} columns")
for name, (make, style, colour) in maps.items():
    runs = np.asarray([[error(make, size, seed) for size in sizes] for seed in range(20)])
    mean = runs.mean(axis=0)
    # The error is constant / sqrt(size): the number of features that reaches the goal.
    needed = np.mean(mean**2 * sizes) / goal**2
    print(f"{name:>21}: {mean[-1]:.4f} at {sizes[-1]}; {goal:.0%} needs about {needed:.0f}")
    axes.plot(sizes, mean, style, color=colour, label=f"{name}: {needed:.0f} for {goal:.0%}")
    low, high = np.quantile(runs, [0.1, 0.9], axis=0)
    axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)

axes.axhline(goal, color="0.7", linewidth=1)
axes.set_xscale("log", base=2)
axes.set_yscale("log")
axes.set_xticks(sizes, labels=sizes)
axes.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2], labels=["1 %", "2 %", "5 %", "10 %", "20 %"])
axes.minorticks_off()
axes.set(xlabel="number of features", ylabel="relative error of the kernel matrix")
axes.set_title("Gaussian kernel, 8 columns, 20 seeds")
axes.grid(alpha=0.3)
axes.legend()

plt.show()
