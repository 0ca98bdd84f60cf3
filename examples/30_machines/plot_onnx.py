"""
Models where there is no Python: ONNX graphs, their size, their speed and their difference
==========================================================================================

``to_onnx`` writes a fitted model as a graph that onnxruntime computes in C++, on a telephone, or in
a browser. Several machines learn the same table; each is written, read by onnxruntime, and asked
for one row after the other, as a service is. Left: the time for one row. Middle: the size of the
graph beside that of a compact model file, from which random features are drawn again. Right: the
largest difference from what mercer predicts in float64, over the largest prediction.
"""

import os
import tempfile
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import make_friedman1

import mercer
from mercer import FeatureRidge, Gaussian, KernelRegressor, KernelRidge, Matern

X, y = make_friedman1(1500, noise=1.0, random_state=0)
X = X.astype(np.float32)
train, test = slice(0, 1000), slice(1000, None)
kernel = Gaussian(1.0)
models = {
    "linear": FeatureRidge(),
    "1,024 Fourier features": FeatureRidge(
        mercer.RandomFourier(kernel, n_components=1024, random_state=0)
    ),
    "1,024 Gegenbauer features": FeatureRidge(
        mercer.GegenbauerFeatures(kernel, n_components=1024, random_state=0)
    ),
    "256 landmarks": FeatureRidge(
        mercer.NystromFeatures(Matern(1.0), n_components=256, random_state=0)
    ),
    "exact kernel, 1,000 rows": KernelRidge(kernel),
    "front door, 512 features": KernelRegressor("gaussian", n_components=512),
}


def microseconds(predict, rows):
    """Return the median time of a prediction for a single row."""
    times = []
    for row in rows[:60]:
        start = time.perf_counter()
        predict(row[None, :])
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times[10:]))


options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
found = []
print("model                      mercer, µs  ONNX, µs  file, kB  ONNX, kB  difference")
with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    for name, model in models.items():
        model.fit(X[train], y[train])
        graph = mercer.to_onnx(model, X).SerializeToString()
        file = Path(folder) / "model.mercer"
        mercer.save(model, file, compact=True)
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

        def ask(rows, session=session):
            return session.run(None, {"X": rows})[0]

        exact = model.predict(X[test].astype(float))
        gap = float(np.abs(ask(X[test])[:, 0] - exact).max() / np.abs(exact).max())
        here, there = microseconds(model.predict, X[test]), microseconds(ask, X[test])
        sizes = os.path.getsize(file) / 1e3, len(graph) / 1e3
        found.append((name, here, there, *sizes, gap))
        print(
            f"{name:<26} {here:>10,.0f} {there:>9,.0f} {sizes[0]:>9,.1f} {sizes[1]:>9,.1f}"
            f"  {gap:.1e}"
        )

figure, panels = plt.subplots(1, 3, figsize=(10.6, 3.4), sharey=True, layout="constrained")
names, here, there, files, graphs, gaps = zip(*found, strict=True)
rows = np.arange(len(names))[::-1]
ours, theirs = "#2f7fd1", "#c2591b"
for axes, left, right, label in (
    (panels[0], here, there, "µs for one row"),
    (panels[1], files, graphs, "kB"),
):
    axes.hlines(rows, left, right, color="0.7", lw=1.5, zorder=1)
    axes.scatter(left, rows, color=ours, label="mercer", zorder=2)
    axes.scatter(right, rows, color=theirs, marker="D", label="ONNX", zorder=2)
    axes.set(xscale="log", xlabel=label)
panels[2].scatter(gaps, rows, color=theirs, marker="D")
panels[2].axvline(1e-5, color="0.5", ls="--", lw=1)
panels[2].set(xscale="log", xlabel="largest relative difference", xlim=(1e-9, 1e-4))
panels[0].set_yticks(rows, names)
panels[1].legend(loc="upper right", fontsize="small")
for axes, title in zip(panels, ("time", "size", "difference"), strict=True):
    axes.set_title(title, fontsize="medium")
    axes.grid(axis="x", alpha=0.3)

plt.show()
