"""
Shipping a small model
======================

A reader of handwritten digits is to run on a device that has a few hundred kilobytes for the model
and a few megabytes while it works. It was learnt on a large machine, and must answer there exactly
what it answered here.

You will see what a model file holds and what may be left out, trade size for accuracy with
numbers, bound the memory of predictions, and use the file from a shell.
"""

# %%
# Digits, and what others weigh
# -----------------------------
# 1,200 images to learn from, 597 to test. A linear model is small and makes the most errors;
# a forest and a support vector machine are more accurate and heavier, as they keep trees or images.

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mercer
from mercer import KernelClassifier
from mercer.testing import peak_bytes

images, labels = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(
    images.astype(np.float32), labels, test_size=597, random_state=0
)
folder = Path(tempfile.mkdtemp())

others = {
    "linear model": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "forest": RandomForestClassifier(200, random_state=0),
    "SVC": SVC(gamma=0.001),
}
weights = {}
for name, model in others.items():
    model.fit(X, y)
    weights[name] = len(pickle.dumps(model)) / 1e3, model.score(X_new, y_new)
    print(f"{name:14} {weights[name][0]:8,.0f} kB, accuracy {weights[name][1]:.3f}")

# %%
# Full and compact
# ----------------
# :obj:`~mercer.KernelClassifier` with 512 features of a Gaussian kernel makes half the errors of
# the linear model. A full file holds the sums of all products of features, so that it can learn
# on. A device does not: ``compact=True`` keeps what predictions need. Random features are not
# stored either, but drawn again from their seed; a few of them are kept to compare, so that a
# version of NumPy that draws other numbers would be refused instead of predicting nonsense.

model = KernelClassifier("gaussian", n_components=512).fit(X, y)
print(f"accuracy {model.score(X_new, y_new):.3f}")
path = folder / "digits.mercer"
for options in ({}, {"compact": True}, {"compact": True, "coefficients": "float16"}):
    mercer.save(model, path, **options)
    loaded = mercer.load(path)
    same = np.array_equal(loaded.predict_proba(X_new), model.predict_proba(X_new))
    agree = (loaded.predict(X_new) == model.predict(X_new)).mean()
    size = path.stat().st_size / 1e3
    print(f"{size:8,.0f} kB, identical: {same!s:5}, same label: {agree:.1%}  {options}")

# %%
# The compact file is the same model, bit by bit. Coefficients rounded to ``float16`` are
# another model, hardly different; that choice is yours and is never made for you.
#
# How small can it be?
# --------------------
# The number of features is the size: coefficients of ten classes are 20 bytes for each feature in
# float16.

sizes, accuracies, counts = [], [], (64, 128, 256, 512, 1024)
for count in counts:
    machine = KernelClassifier(model.kernel_, n_components=count, encoder=model.encoder_)
    machine.fit(X, y)
    mercer.save(machine, path, compact=True, coefficients="float16")
    sizes.append(path.stat().st_size / 1e3)
    accuracies.append(mercer.load(path).score(X_new, y_new))
    print(f"{count:5,} features: {sizes[-1]:3.0f} kB, accuracy {accuracies[-1]:.3f}")

BLUE, GREY, RED, GREEN = "#2f7fd1", "#7d8590", "#c2591b", "#4d9a2a"
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogx(sizes, accuracies, "v-", color=BLUE, label="mercer, by the number of features")
for count, size, accuracy in zip(counts, sizes, accuracies, strict=True):
    axes.annotate(f"{count}", (size, accuracy), (8, -12), textcoords="offset points", ha="center")
for (name, (size, accuracy)), colour in zip(weights.items(), (GREY, RED, GREEN), strict=True):
    axes.plot(size, accuracy, "o", color=colour, label=name)
axes.set(xlabel="size of the file, kB", ylabel="accuracy on 597 new images")
axes.grid(alpha=0.25, which="both")
axes.legend(loc="lower right")
plt.show()

# %%
# With 1,024 features the file is as accurate as the support vector machine at a ninth of its size,
# and beats the forest at a two-hundredth. Below 20 kB there is only the linear model, as columns
# and report take their share.
#
# Memory while it works
# ---------------------
# Features of many images at once would take much: 512 numbers for each. Blocks keep it bounded;
# :obj:`mercer.config` says by how much.

mercer.save(model, path, compact=True)
device_model = mercer.load(path)
many = np.tile(X_new, (50, 1))
for budget in ("200MB", "5MB"):
    with mercer.config(memory=budget, n_jobs=1):
        answers, peak = peak_bytes(lambda: device_model.predict(many))
    print(f"budget {budget:>6}: {len(many):,} images, peak {peak / 1e6:.1f} MB")
print(f"all features at once would be {len(many) * 512 * 4 / 1e6:.0f} MB")

# %%
# From a shell
# ------------
# Nobody has to write Python on the device. ``mercer show`` says what a file is, ``mercer predict``
# reads tables and arrays and writes predictions. (We call the commands from here to see that they
# answer the same.)


def shell(*arguments):
    """Run a command of mercer, and return what it prints."""
    command = [sys.executable, "-m", "mercer", *map(str, arguments)]
    settings = os.environ | {"COLUMNS": "90"}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
    return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())


np.save(folder / "new.npy", X_new)
print("$ mercer show digits.mercer")
print(shell("show", "digits.mercer"))
print("$ mercer predict digits.mercer new.npy --out labels.csv")
print(shell("predict", "digits.mercer", "new.npy", "--out", "labels.csv"))
written = np.loadtxt(folder / "labels.csv", skiprows=1, dtype=int)
print("the same labels as here:", np.array_equal(written, model.predict(X_new)))

# %%
# A file that was cut short or changed on the way is refused:

damaged = bytearray(path.read_bytes())
damaged[-100] ^= 1
path.write_bytes(damaged)
try:
    mercer.load(path)
except ValueError as error:
    print(str(error).replace(str(folder), "."))

# %%
# What to read next
# -----------------
# - What is in a file, what is refused, and why:
#   :doc:`model files and large data </guide/model-files>`; recipes:
#   :doc:`store and load models </howto/model-files>`.
# - Features of two bits, for devices that count better than they multiply:
#   :doc:`features of few bits </guide/few-bits>`.
# - All commands: :doc:`command line </guide/command-line>`.
