"""
Sample only what has no closed form: deflated arc-cosine features
=================================================================

Half of the ReLU function is linear and half of the step function is constant. The kernels
of those halves are known, and so is the mean of the remainder. The deflated map represents
them exactly by ``d + 1`` deterministic columns and uses its random directions for the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import ArcCosineFeatures

X = np.random.default_rng(0).standard_normal((200, 20))
exact_columns = X.shape[1] + 1
sizes = np.asarray([24, 32, 64, 128, 256, 512, 1024])
maps = {
    "plain": ({"method": "plain", "sampling": "gaussian"}, "s--", "0.45"),
    "antithetic": ({"method": "antithetic"}, "^-", "C1"),
    "deflated": ({"method": "deflated"}, "o-", "C0"),
}


def error(order, size, seed, parameters):
    features = ArcCosineFeatures(order, n_components=size, random_state=seed, **parameters)
    Z = features.fit_transform(X)
    K = features.kernel_(X)
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


fig, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for order, axes in zip((1, 0), panels, strict=True):
    title = f"Order {order} ({'ReLU' if order else 'step'})"
    print(f"{title}, {X.shape[1]} columns: relative error, mean of 10 seeds")
    for name, (parameters, style, colour) in maps.items():
        mean = np.asarray(
            [
                np.mean([error(order, size, seed, parameters) for seed in range(10)])
                for size in sizes
            ]
        )
        axes.plot(sizes, mean, style, color=colour, label=name)
        print(f"{name:>12}: " + ", ".join(f"{m} {e:.4f}" for m, e in zip(sizes, mean, strict=True)))
    axes.axvline(1.25 * exact_columns, color="0.7", linewidth=1)
    axes.annotate(
        "auto: deflated from here",
        (1.25 * exact_columns, 0.98),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color="0.35",
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, labels=sizes)
    axes.minorticks_off()
    axes.set(xlabel="number of features", title=title)
    axes.grid(alpha=0.3)
panels[0].set_ylabel("relative error of the kernel matrix")
panels[0].set_yticks([0.01, 0.03, 0.1, 0.3], labels=["1 %", "3 %", "10 %", "30 %"])
panels[0].legend(loc="lower left")

plt.show()
