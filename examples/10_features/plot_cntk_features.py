"""
Convolutional tangent features: the kernel of images at the price of rows
=========================================================================

The exact kernel compares every position of an image with every position of another, pair by pair.
Features go through the layers image by image: their time grows with the images, not with the pairs
of them. Left, how near their inner products come to the kernel; middle, the seconds of both; right,
the accuracy on digits that stand anywhere in the image.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mercer
from mercer import CNTK, CNTKSketch, FeatureRidgeClassifier, KernelRidgeClassifier

mercer.set_config(progress=False)
SIDE, DEPTH = 12, 2
digits, labels = load_digits(return_X_y=True)
generator = np.random.default_rng(0)
order = generator.permutation(len(digits))
digits, labels = digits[order].reshape(-1, 8, 8) / 16, labels[order]
images = np.zeros((len(digits), SIDE, SIDE, 1), dtype="float32")
for image, digit, (top, left) in zip(
    images, digits, generator.integers(SIDE - 7, size=(len(digits), 2)), strict=True
):
    image[top : top + 8, left : left + 8, 0] = digit
rows, tested = images.reshape(len(images), -1), slice(-400, None)


def features(n_components, degree="auto", method="random", seed=0):
    return CNTKSketch(
        *(DEPTH, 3, n_components),
        degree=degree,
        method=method,
        image_shape=(SIDE, SIDE, 1),
        random_state=seed,
    )


fig, panels = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
error, seconds, accuracy = panels

exact, few = CNTK(DEPTH)(images[:40]), images[:40]
sizes = [64, 256, 1024]
kinds = [("ReLU", None, "random"), ("degree 2", 2, "random"), ("sketch", 8, "sketch")]
for (label, degree, method), style in zip(kinds, ("o-", "^-", "s--"), strict=True):
    means = []
    for size in sizes:
        found = [
            features(size, degree, method, seed).fit_transform(few.reshape(40, -1))
            for seed in range(8)
        ]
        apart = [np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact) for Z in found]
        means.append(np.mean(apart))
    error.loglog(sizes, means, style, label=label)
    print(f"{label}: relative error", dict(zip(sizes, np.round(means, 4).tolist(), strict=True)))
error.set(xlabel="features", ylabel="relative error", title="Error of the kernel")
error.legend()


def timed(function):
    function()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


counts = [25, 50, 100, 200]
fitted = features(256).fit(rows)
ours = [timed(lambda n=n: fitted.transform(rows[:n])) for n in (*counts, 800)]
theirs = [timed(lambda n=n: CNTK(DEPTH)(images[:n])) for n in counts]
seconds.loglog((*counts, 800), ours, "o-", label="256 features")
seconds.loglog(counts, theirs, "k^-", label="exact kernel")
seconds.set(xlabel="images", ylabel="seconds", title="Time")
seconds.legend()

for size, style in ((256, "o-"), (1024, "D-")):
    counts = [100, 400, 1200]
    found = []
    for n in counts:
        model = FeatureRidgeClassifier(features(size)).fit(rows[:n], labels[:n])
        found.append(model.score(rows[tested], labels[tested]))
    accuracy.semilogx(counts, found, style, label=f"{size:,} features")
    print(f"{size} features: accuracy", dict(zip(counts, np.round(found, 3).tolist(), strict=True)))
model = KernelRidgeClassifier(CNTK(DEPTH)).fit(images[:100], labels[:100])
accuracy.plot(100, model.score(images[tested], labels[tested]), "k^", label="exact kernel")
accuracy.set(xlabel="training images", title="Accuracy, digits anywhere")
accuracy.legend(loc="lower right")
for axes, ticks in ((error, sizes), (seconds, (25, 100, 200, 800)), (accuracy, counts)):
    axes.minorticks_off()
    axes.set_xticks(ticks, labels=[f"{tick:,}" for tick in ticks])
error.set_yticks([0.05, 0.1, 0.2], labels=["5 %", "10 %", "20 %"])
for axes in panels:
    axes.spines[["top", "right"]].set_visible(False)

plt.show()
