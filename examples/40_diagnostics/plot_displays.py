"""
Four pictures of a fitted machine: its features, its ridge parameter, spectrum and error bars
=============================================================================================

From the left: entries of the kernel matrix, exact and by features; the error that generalised
cross-validation expects of each ridge parameter; the effective dimension of the kernel, with the
ridge parameter marked; and how many targets lie inside the error bars, which should follow the
dashed line.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.diagnostics import (
    ApproximationDisplay,
    IntervalDisplay,
    PathDisplay,
    SpectrumDisplay,
)

generator = np.random.default_rng(0)
X = generator.standard_normal((3000, 4))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.2 * generator.standard_normal(3000)
train, test = slice(0, 2000), slice(2000, None)

features = RandomFourier(Gaussian(2.0), n_components=512, random_state=0)
model = FeatureRidge(features).fit(X[train], y[train])

figure, axes = plt.subplots(1, 4, figsize=(17, 4.2), layout="constrained")
ApproximationDisplay.from_estimator(model, X[train], ax=axes[0])
PathDisplay.from_estimator(model, ax=axes[1])
alpha = float(model.alpha_)
kernel = model.features_.kernel_
SpectrumDisplay.from_estimator(kernel, X[train], alpha=alpha, kind="dimension", ax=axes[2])
display = IntervalDisplay.from_estimator(model, X[test], y[test], ax=axes[3])
print(f"{display.coverage(0.95):.1%} of the test targets are inside the 95 % intervals")

plt.show()
