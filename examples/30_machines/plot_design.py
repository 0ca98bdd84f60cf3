"""
Which rows to label: greedy designs against random ones
=======================================================

``GreedyDesign`` chooses rows by their features alone, before any label is known. Left: the rows of
a design spread over the data, and further ones fill the gaps. Middle: the criterion falls fastest
with the first rows. Right: a classifier of digits learns more from a greedy design than from
random rows. The files of MNIST are read from the folder ``MERCER_DATA`` if it is set; without it
the small digits of scikit-learn serve.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import FeatureRidgeClassifier, Gaussian, GreedyDesign, NTKFeatures

N_RANDOM = 10
generator = np.random.default_rng(0)


def images():
    """Return images of digits of length one, to choose from and to test on."""
    folder = os.environ.get("MERCER_DATA")
    if folder:
        with np.load(Path(folder) / "mnist.npz") as file:
            X, X_test = (file[name].reshape(-1, 784) for name in ("x_train", "x_test"))
            y, y_test = file["y_train"].astype(int), file["y_test"].astype(int)
        name, X, y, X_test, y_test = "MNIST", X[:10_000], y[:10_000], X_test[:5000], y_test[:5000]
    else:
        X, y = load_digits(return_X_y=True)
        name, X, y, X_test, y_test = "digits", X[:1200], y[:1200], X[1200:], y[1200:]
    X, X_test = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, X_test))
    return name, X.astype(np.float32), y, X_test.astype(np.float32), y_test


# A ring, a heap and some rows between them.
angle = generator.uniform(0, 2 * np.pi, 500)
ring = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle)])
X = np.concatenate(
    [ring + generator.normal(0, 0.12, ring.shape), generator.normal(0, 0.3, (500, 2))]
)
design = GreedyDesign(kernel=Gaussian(0.7), n_points=24, alpha=0.1).fit(X)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
left.plot(*X.T, ".", color="0.78", markersize=4)
left.plot(*X[design.indices_].T, "o", color="C0", markersize=11)
for number, place in enumerate(design.indices_, 1):
    left.annotate(str(number), X[place], color="white", fontsize=7, ha="center", va="center")
left.set(title="24 rows to label, in their order", aspect="equal")

more = np.concatenate([design.indices_, design.more(36)])
shares = design.criterion_ / design.criterion_[-1]
print(f"criterion after 1, 6, 24 and 60 rows: {shares[[1, 6, 24, 60]].round(3)} of its end")
middle.plot(np.arange(len(shares)), shares, color="C0")
middle.set(title="criterion, as a share of its end", xlabel="labelled rows", ylim=(0, 1.05))
middle.grid(alpha=0.3)

name, X, y, X_test, y_test = images()
features = NTKFeatures(depth=2, n_components=512, random_state=0).fit(X)


def accuracy(chosen):
    """Return the accuracy of a classifier that learns from some rows."""
    model = FeatureRidgeClassifier(features, selection="gcv").fit(X[chosen], y[chosen])
    return model.score(X_test, y_test)


budgets = (20, 50, 100, 200, 400)
order = GreedyDesign(features, n_points=budgets[-1], alpha=1e-2).fit(X).indices_
greedy = [accuracy(order[:k]) for k in budgets]
random = np.array(
    [
        [accuracy(np.random.default_rng(s).permutation(len(X))[:k]) for s in range(N_RANDOM)]
        for k in budgets
    ]
)
for k, ours, others in zip(budgets, greedy, random, strict=True):
    print(
        f"{k:>4} labels: greedy {ours:.3f}, random {others.mean():.3f} ± {others.std(ddof=1):.3f}"
    )
right.plot(budgets, greedy, "o-", color="C0", label="greedy design")
right.errorbar(
    budgets,
    random.mean(axis=1),
    random.std(axis=1, ddof=1),
    fmt="s-",
    color="C1",
    capsize=3,
    label=f"random, {N_RANDOM} designs",
)
right.set(xscale="log", xlabel="labelled rows", title=f"{name}: accuracy on test rows")
right.set_xticks(budgets, labels=budgets)
right.minorticks_off()
right.grid(alpha=0.3)
right.legend(loc="lower right")

plt.show()
