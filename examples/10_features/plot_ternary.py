"""
Features of two bits: accuracy by the memory that they take
===========================================================

``WaveFeatures`` are cosines of random phases, rounded to -3, -1, 1 or 3, or to their signs;
``TernaryFeatures`` are -1, 0 or 1 by two thresholds. Left: what they make of a projection. Middle:
test accuracy of a ridge classifier of digits by the bytes of the features of a row. Right:
eigenvalues of centred kernel matrices, that of the Gaussian kernel and that of features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import FeatureRidgeClassifier, Gaussian, RandomFourier, TernaryFeatures, WaveFeatures
from mercer.ops.waves import RoundedCosine

X, y = load_digits(return_X_y=True)
X = (X - X.mean(axis=0)) / np.sqrt((X**2).sum(axis=1).mean())
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:1200], order[1200:]
kernel = Gaussian("median").fitted_to(X[train])
SEEDS = range(3)


def ternary(m, seed, bits=2, output="packed"):
    """Return features of few bits."""
    return TernaryFeatures(kernel, n_components=m, bits=bits, output=output, random_state=seed)


def waves(m, seed, levels=4):
    """Return rounded cosines."""
    return WaveFeatures(kernel, n_components=m, levels=levels, output="packed", random_state=seed)


def fourier(m, seed):
    """Return features in float32."""
    return RandomFourier(kernel, n_components=m, random_state=seed)


def accuracy(features):
    """Return the accuracy of a ridge classifier on test rows."""
    model = FeatureRidgeClassifier(features).fit(X[train].astype(np.float32), y[train])
    return model.score(X[test].astype(np.float32), y[test])


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
t = np.linspace(-3, 3, 601)
fitted = ternary(64, 0).fit(X[train])
thresholds, root = fitted.activation_, fitted.tau_**0.5
print(f"thresholds {thresholds.lower:.3f} and {thresholds.upper:.3f}, scale {thresholds.scale:.3f}")
left.plot(t, thresholds.scale * thresholds.trits(t * root), "C3", label="TernaryFeatures")
phases = t * root / kernel.lengthscale + 0.7
for levels, colour in ((4, "C1"), (2, "C2")):
    cosine = RoundedCosine(levels)
    left.plot(t, cosine.scale * cosine.of(phases), colour, label=f"WaveFeatures, {levels} levels")
left.plot(t, 2**0.5 * np.cos(phases), "0.6", lw=1, label="a Fourier feature")
left.set(title="feature by projection", xlabel="projection, in standard deviations")
left.set_ylim(-2.9, 1.6)
left.legend(loc="lower left", fontsize=7, ncols=2)
left.grid(alpha=0.3)

SIZES = {
    "WaveFeatures, 2 bits": (lambda m, s: waves(m, s), (128, 512, 2048), 2 / 8, "C1"),
    "WaveFeatures, 1 bit": (lambda m, s: waves(m, s, 2), (256, 1024, 2048), 1 / 8, "C2"),
    "TernaryFeatures, 2 bits": (lambda m, s: ternary(m, s), (128, 512, 2048), 2 / 8, "C3"),
    "RandomFourier, float32": (fourier, (16, 32, 64, 128, 256), 4, "C0"),
}
for name, (make, sizes, each, colour) in SIZES.items():
    scores = np.array([[accuracy(make(m, s)) for s in SEEDS] for m in sizes])
    memory = [m * each for m in sizes]
    middle.plot(memory, scores.mean(axis=1), "o-", color=colour, label=name)
    print(f"{name}: {dict(zip(memory, scores.mean(axis=1).round(3).tolist(), strict=True))}")
middle.set(xscale="log", xlabel="bytes of the features of a row", title="accuracy on test rows")
middle.grid(alpha=0.3)
middle.legend(loc="lower right", fontsize=9)


def eigenvalues(K):
    """Return the largest eigenvalues of a centred kernel matrix."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return np.linalg.eigvalsh(K)[::-1][:200]


rows = X[train]
right.plot(eigenvalues(kernel(rows)), color="0.4", lw=3, label="Gaussian kernel")
for name, features, colour in (
    ("8,192 waves of 2 bits", waves(8192, 0), "C1"),
    ("8,192 ternary features", ternary(8192, 0), "C3"),
):
    Z = features.set_params(output="float").fit(rows).transform(rows)
    right.plot(eigenvalues(Z @ Z.T), color=colour, label=name)
right.set(yscale="log", xlabel="number", title="eigenvalues of centred matrices")
right.grid(alpha=0.3)
right.legend(fontsize=9)

plt.show()
