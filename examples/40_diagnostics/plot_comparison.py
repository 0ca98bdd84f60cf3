"""
Is it worth a kernel? Maps and kernels side by side, with what they must beat
=============================================================================

``mercer.compare`` fits every method with every number of features on the same rows and tests it on
the same others. Left: the test error by the number of features; dashed are methods without one.
Middle: by the time of the fit. Right: the spectra of the kernels: the faster the eigenvalues fall,
the fewer features are needed.
``found.save(folder)`` writes all of them, as a page to open in a browser.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.diagnostics.comparison.figures import figures_of

generator = np.random.default_rng(0)
X = generator.uniform(-1, 1, (4000, 6))
y = (
    np.sin(4 * X[:, 0]) * X[:, 1]
    + np.exp(-4 * X[:, 2] ** 2)
    + 0.1 * generator.standard_normal(4000)
)

found = mercer.compare(
    X,
    y,
    maps=["linear", "boosting", "exact", "gaussian", "ntk", "nystrom", "sklearn-rbf"],
    dims=[32, 64, 128, 256, 512],
    exact_rows=1000,
)
for trial in found.trials:
    mark = "*" if found.is_tied(trial) else " "
    interval = f"({trial.low:.3f} to {trial.high:.3f})"
    print(f"{trial.label:36} {trial.error:.3f}{mark} {interval}  fit {trial.fit_seconds:.2f} s")

figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
drawn = {each.name: each for each in figures_of(found)}
for ax, name in zip(axes, ("error_by_dimension", "error_by_time", "spectrum"), strict=True):
    drawn[name].draw(ax)
    ax.set_title(drawn[name].title)
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
axes[2].legend(fontsize="small")

plt.show()
