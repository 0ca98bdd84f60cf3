"""
The convolutional tangent kernel on digits that may be anywhere
===============================================================

Digits of 8 x 8 pixels stand at random places of images of 12 x 12 pixels. A kernel that compares
pixels at the same place needs to see each digit at every place; the kernel of a convolutional
network with global average pooling compares all places with all places.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import load_digits

from mercer import CNTK, NTK, Gaussian, KernelRidgeClassifier

SIDE, TEST = 12, 150
rng = np.random.default_rng(0)
digits, y = load_digits(return_X_y=True)
order = rng.permutation(len(digits))
digits, y = digits[order].reshape(-1, 8, 8) / 16, y[order]
images = np.zeros((len(digits), SIDE, SIDE, 1), dtype=np.float32)
for image, digit in zip(images, digits, strict=True):
    top, left = rng.integers(0, SIDE - 8 + 1, 2)
    image[top : top + 8, left : left + 8, 0] = digit
X, X_test, y_test = images[TEST:], images[:TEST], y[:TEST]
labels = y[TEST:]

shape = (SIDE, SIDE, 1)
kernels = {
    "CNTK, pooled": CNTK(depth=3, image_shape=shape),
    "CNTK, no pooling": CNTK(depth=3, pooling=None, image_shape=shape),
    "NTK": NTK(depth=3),
    "Gaussian": Gaussian("median"),
}
sizes = [25, 50, 100, 200]
accuracy = {}
for name, kernel in kernels.items():
    scores = []
    for n in sizes:
        model = KernelRidgeClassifier(kernel).fit(X[:n].reshape(n, -1), labels[:n])
        scores.append(model.score(X_test.reshape(TEST, -1), y_test))
    accuracy[name] = np.asarray(scores)
    print(f"{name:>17}: " + ", ".join(f"{s:.0%} ({n})" for n, s in zip(sizes, scores, strict=True)))

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
framed = np.pad(images[:15, :, :, 0], ((0, 0), (1, 1), (1, 1)), constant_values=0.3)
left.imshow(np.vstack([np.hstack(framed[k : k + 5]) for k in (0, 5, 10)]), cmap="gray_r")
left.set_title(f"digits at random places of {SIDE} x {SIDE} pixels")
left.axis("off")
for name, scores in accuracy.items():
    right.errorbar(
        sizes, scores, yerr=np.sqrt(scores * (1 - scores) / TEST), fmt="o-", capsize=3, label=name
    )
right.set(xlabel="training images", xscale="log", ylabel="test accuracy, ± one standard error")
right.set_xticks(sizes, labels=sizes)
right.minorticks_off()
right.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
right.legend()
right.grid(alpha=0.3)

plt.show()
