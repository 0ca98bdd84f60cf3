"""
Exact kernels as parameters of scikit-learn's estimators
========================================================

A kernel object works wherever scikit-learn takes a callable kernel. As it is an estimator
itself, a grid search reaches its parameters by name, also inside sums and multiples of kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MultipleLocator, PercentFormatter
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC

from mercer import NTK, Gaussian, Laplace

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=600, random_state=0)

# A grid over a parameter inside the kernel.
median = Gaussian("median").fitted_to(X_train).lengthscale
grid = {"kernel__lengthscale": list(median * 2.0 ** np.arange(-3, 2.5, 0.5))}
search = GridSearchCV(SVC(kernel=Gaussian(), C=10), grid, cv=3).fit(X_train, y_train)
best = search.best_params_["kernel__lengthscale"]
print(f"median distance {median:.2f}; best lengthscale {best:.2f}")

# A sum of kernels: its parts have parameter names too.
mixture = SVC(kernel=Gaussian("median") + 0.5 * NTK(depth=1), C=10)
grid = {"kernel__right__kernel__depth": [1, 2, 3], "kernel__right__scale": [0.1, 1.0]}
mixed = GridSearchCV(mixture, grid, cv=3).fit(X_train, y_train)
print(f"best sum: {mixed.best_estimator_.kernel}")

models = {
    "linear": SVC(kernel="linear", C=10),
    "Laplace, median": SVC(kernel=Laplace("median"), C=10),
    "NTK, depth 2": SVC(kernel=NTK(depth=2), C=10),
    "Gaussian, median": SVC(kernel=Gaussian("median"), C=10),
    "Gaussian, searched": search.best_estimator_,
    "Gaussian + NTK, searched": mixed.best_estimator_,
}
scores = {name: m.fit(X_train, y_train).score(X_test, y_test) for name, m in models.items()}
error = {name: np.sqrt(score * (1 - score) / len(y_test)) for name, score in scores.items()}
for name, score in scores.items():
    print(f"{name:>25}: {score:.1%} ± {error[name]:.1%} of {len(y_test)} test digits")

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
lengthscales = np.asarray(search.cv_results_["param_kernel__lengthscale"], dtype=float)
left.plot(lengthscales, search.cv_results_["mean_test_score"], "o-")
left.axvline(median, color="0.6", linewidth=1)
left.annotate(
    "median\ndistance",
    (median, left.get_ylim()[0]),
    xytext=(4, 4),
    textcoords="offset points",
    fontsize=8,
    color="0.35",
)
left.set(xscale="log", xlabel="kernel__lengthscale", ylabel="cross-validated accuracy")
left.set_xticks([0.25, 0.5, 1, 2, 4, 8], labels=["0.25", "0.5", "1", "2", "4", "8"])
left.minorticks_off()
left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
left.set_title("SVC(kernel=Gaussian())")
left.grid(alpha=0.3)
right.errorbar(list(scores.values()), list(scores), xerr=list(error.values()), fmt="o", capsize=3)
right.xaxis.set_major_locator(MultipleLocator(0.01))
right.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
right.set(xlabel="test accuracy, ± one standard error")
right.set_title(f"{len(y_train)} training digits")
right.margins(x=0.1, y=0.12)
right.grid(alpha=0.3)

plt.show()
