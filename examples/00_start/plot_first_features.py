"""
Ten lines to a kernel machine: random features in a scikit-learn pipeline
=========================================================================

A linear classifier on raw pixels of handwritten digits is good; a kernel is better, and
random features give the linear classifier the kernel. The lengthscale is estimated from the
data, and the approximation error is measured.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from mercer import Gaussian, RandomFourier, approximation_error

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

linear = RidgeClassifier(alpha=0.1).fit(X_train, y_train).score(X_test, y_test)

sizes = [64, 128, 256, 512, 1024]
scores, errors = [], []
for size in sizes:
    features = RandomFourier(Gaussian("median"), n_components=size, random_state=0)
    model = make_pipeline(features, RidgeClassifier(alpha=0.1)).fit(X_train, y_train)
    scores.append(model.score(X_test, y_test))
    errors.append(approximation_error(features, X_test))

print(f"linear on {X.shape[1]} pixels: {linear:.1%} accuracy on {len(y_test)} test digits")
print(f"lengthscale from the data: {features.kernel_.lengthscale:.1f}")
for size, score, error in zip(sizes, scores, errors, strict=True):
    print(f"{size:5d} features: {score:.1%} accuracy; {error}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
Z = features.transform(X_test[:300])
left.plot([0, 1], [0, 1], color="0.6", linewidth=1)
left.plot(features.kernel_(X_test[:300]).ravel(), (Z @ Z.T).ravel(), ",", color="C0")
left.set(xlabel="exact kernel", ylabel="inner product of features", aspect="equal")
left.set_title(f"{sizes[-1]} features: relative error {errors[-1].relative:.1%}")
right.plot(sizes, scores, "o-", label="linear on random features")
right.axhline(linear, color="0.4", linestyle="--", label="linear on pixels")
right.set_xscale("log", base=2)
right.set_xticks(sizes, labels=sizes)
right.set(xlabel="number of features", ylabel="test accuracy", title="Handwritten digits")
right.grid(alpha=0.3)
right.legend(loc="center right")

plt.show()
