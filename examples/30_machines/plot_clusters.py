"""
Clusters and principal components in the space of a kernel
==========================================================

Left: two rings. K-means on the coordinates cuts them in half along the dashed line, as its clusters
are convex; ``KernelKMeans``, k-means on random Fourier features of a Gaussian kernel, finds each of
them. Middle: two scores of ``KernelPCA`` on the same features, where the rings are apart. Right:
how much of the variance of the features the leading components explain.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from mercer import Gaussian, KernelKMeans, KernelPCA, RandomFourier

COLOURS = ("C0", "C1")
MARKERS = ("o", "^")
N_SHOWN = 700
X, rings = make_circles(20_000, factor=0.35, noise=0.07, random_state=0)
features = RandomFourier(Gaussian(0.5), n_components=512, random_state=0)

plain = KMeans(2, n_init=5, random_state=0).fit(X)
start = time.perf_counter()
clusters = KernelKMeans(features, n_clusters=2).fit(X)
seconds = time.perf_counter() - start
print(
    f"k-means on the columns: adjusted Rand index {adjusted_rand_score(rings, plain.labels_):.3f}"
)
print(
    f"{clusters.method_} on {features.n_components} features: "
    f"{adjusted_rand_score(rings, clusters.labels_):.3f} in {seconds:.1f} s"
)
print(f"objective per row in the space of the exact kernel: {clusters.objective_}")

start = time.perf_counter()
components = KernelPCA(features, n_components=20)
for block in np.array_split(X, 10):
    components.partial_fit(block)
scores = components.transform(X[:N_SHOWN])
shares = components.explained_variance_ratio_
print(f"20 components of 10 blocks in {time.perf_counter() - start:.1f} s: {shares.sum():.1%}")

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(11, 4.2), layout="constrained", facecolor="white"
)
outer = clusters.predict([[1.0, 0.0]])[0]
found = np.where(clusters.labels_ == outer, 1, 0)[:N_SHOWN]
for cluster in (0, 1):
    # scikit-learn labels the outer ring 0.
    rows, ring = found == cluster, rings[:N_SHOWN] == 1 - cluster
    style = {"color": COLOURS[cluster], "marker": MARKERS[cluster], "ls": "", "markersize": 4}
    label = f"cluster {cluster + 1} of KernelKMeans"
    left.plot(*X[:N_SHOWN][rows].T, **style, alpha=0.6, label=label)
    middle.plot(*scores[ring][:, :2].T, **style, alpha=0.6, label=("inner", "outer")[cluster])
# Plain k-means separates its two clusters by the line halfway between the centers.
centre = plain.cluster_centers_.mean(axis=0)
along = np.diff(plain.cluster_centers_, axis=0)[0] @ [[0, 1], [-1, 0]]
ends = centre + np.array([[-1.35], [1.35]]) * along / np.linalg.norm(along)
left.plot(*ends.T, "--", color="0.15", lw=2, label="boundary of plain k-means")
left.set(xlabel="first column", ylabel="second column", title="Two rings, two clusters")
left.set(xlim=(-1.5, 1.5), ylim=(-1.4, 2.4))
left.set_yticks([-1, 0, 1])
left.legend(loc="upper center", fontsize=10)

middle.set(xlabel="first score", ylabel="second score", title="Scores of KernelPCA")
middle.legend(title="ring", fontsize=10)
numbers = np.arange(1, 21)
right.bar(numbers, 100 * shares, color="C0", label="each")
right.plot(numbers, 100 * shares.cumsum(), "o-", color="0.15", markersize=4, label="cumulative")
right.set(xlabel="component", ylabel="explained variance (%)", title="Scree plot", ylim=(0, 105))
right.set_xticks([1, 5, 10, 15, 20])
right.legend(loc="center right", fontsize=10)
for panel in (left, middle, right):
    panel.grid(alpha=0.25)
    panel.set_axisbelow(True)

plt.show()
