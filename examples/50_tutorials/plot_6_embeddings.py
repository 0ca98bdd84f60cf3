"""
Probing embeddings: thousands of targets at once, on a GPU if there is one
==========================================================================

A language model turns each sentence into 256 numbers, its embedding, and a scanner has measured
the activity of 2,000 places of a brain while somebody heard these sentences. Which places can be
predicted from the embedding, and from which *kind* of function of it? The usual probe is ridge
regression with one ridge parameter for all targets, on the embedding as it is.

You will fit all targets in one pass with a ridge parameter for *each*, compare a linear probe
with a kernel probe, and run the same lines on a GPU. Without torch or CUDA the script runs on the
CPU.
"""

# %%
# Sentences and places
# --------------------
# 3,000 sentences to learn from, 1,000 to test. The brain is made up: a third of the places answer
# linearly, a third to a nonlinear function of a few directions, and a third is noise. The quality
# of the measurement varies from place to place, and nobody tells us which is which.

import importlib.util
import time

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier

SENTENCES, WIDTH, PLACES = 4000, 256, 2000
TRAIN, TEST = slice(0, 3000), slice(3000, 4000)
generator = np.random.default_rng(0)
# Embeddings lie near a subspace: 40 directions hold most of their variance.
directions = generator.standard_normal((40, WIDTH)) / np.arange(1, 41)[:, None] ** 0.5
meaning = generator.standard_normal((SENTENCES, 40))
X = meaning @ directions + 0.05 * generator.standard_normal((SENTENCES, WIDTH))
X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)

kind = generator.integers(0, 3, PLACES)
linear = meaning @ generator.standard_normal((40, PLACES)) / 40**0.5
bent = np.abs(meaning[:, :6] @ generator.standard_normal((6, PLACES)) / 6**0.5)
signal = np.select([kind == 0, kind == 1], [linear, bent], 0.0)
signal = (signal - signal.mean(axis=0)) / np.maximum(signal.std(axis=0), 1e-12)
ceiling = np.where(kind == 2, 0.0, generator.uniform(0.1, 0.9, PLACES))
noise = generator.standard_normal((SENTENCES, PLACES))
Y = (np.sqrt(ceiling) * signal + np.sqrt(1 - ceiling) * noise).astype(np.float32)

# %%
# Where to compute
# ----------------
# Rows that are torch or CuPy arrays are learnt where they are. Rows of the host, NumPy arrays and
# streams from a disk, are sent block by block to the device that :obj:`mercer.config` names.

device = None
if importlib.util.find_spec("torch"):
    import torch

    device = "cuda" if torch.cuda.is_available() else None
print(f"device: {device or 'the host'}")


def scores_of(machine):
    """Return R2 of each place on the test sentences."""
    error = np.square(Y[TEST] - machine.predict(X[TEST])).mean(axis=0)
    return 1 - error / Y[TEST].var(axis=0)


# %%
# Linear probes
# -------------
# ``per_target=True`` chooses ``alpha`` for each place by itself. With one parameter for all, noisy
# places are smoothed too little and clear ones too much; choosing for each costs next to nothing,
# as one decomposition serves all.

r2, alphas = {}, {}
with mercer.config(device=device):
    for name, each in (("one alpha", False), ("an alpha for each", True)):
        started = time.perf_counter()
        probe = FeatureRidge(per_target=each).fit(X[TRAIN], Y[TRAIN])
        r2[f"linear, {name}"] = scores_of(probe)
        print(f"linear, {name}: {PLACES:,} targets in {time.perf_counter() - started:.2f} s")

# %%
# Kernel probes
# -------------
# A Gaussian kernel on the embedding, through 1,024 random features: the same machine, with a map in
# front. Rows go by as a stream of blocks here, as they would from a disk.

median = Gaussian("median").fitted_to(X[TRAIN]).lengthscale
features = RandomFourier(Gaussian(median), n_components=1024, random_state=0)
blocks = ((X[k : k + 500], Y[k : k + 500]) for k in range(0, 3000, 500))
with mercer.config(device=device):
    started = time.perf_counter()
    probe = FeatureRidge(features, per_target=True).fit(blocks)
    r2["kernel, an alpha for each"] = scores_of(probe)
    print(f"kernel, an alpha for each: {time.perf_counter() - started:.2f} s")

print(f"{'mean R2 of places that are':28}{'linear':>9}{'bent':>9}{'noise':>9}")
for name, values in r2.items():
    print(f"{name:28}" + "".join(f"{values[kind == k].mean():9.3f}" for k in range(3)))
print(f"{'ceiling':28}" + "".join(f"{ceiling[kind == k].mean():9.3f}" for k in range(3)))

# %%
# On a card the coefficients are the same to the rounding of float32. On an H200 this fit took
# 0.15 s, on the 16 cores beside it 1.0 s; the first fit of a process takes some seconds more, to
# start the card.
#
# Two answers in this table. The kernel sees places that a linear probe takes for noise; where the
# answer is linear it loses a little, so keep the better probe of each place, by held-out rows. And
# a parameter for each place keeps noise near zero, where one for all is worse than the mean.

GREY, BLUE, RED = "#7d8590", "#2f7fd1", "#c2591b"
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for k, (label, colour) in enumerate((("linear", BLUE), ("bent", RED), ("noise", GREY))):
    there = kind == k
    pair = r2["linear, an alpha for each"][there], r2["kernel, an alpha for each"][there]
    left.plot(*pair, ".", ms=3, color=colour, label=f"{label} places")
    right.semilogx(probe.alpha_[there], ceiling[there], ".", ms=3, color=colour)
left.axline((0, 0), slope=1, color="k", lw=0.8)
left.set(xlabel="R² of the linear probe", ylabel="R² of the kernel probe", title="2,000 places")
left.legend(markerscale=4)
right.set(xlabel="ridge parameter of the place (kernel probe)", ylabel="best possible R²")
right.set_title("noisier places are smoothed more")
for axes in (left, right):
    axes.grid(alpha=0.25)
plt.show()

# %%
# What to read next
# -----------------
# - What runs where, and how fast: :doc:`on a GPU </guide/gpu>`; how to set it up:
#   :doc:`use a GPU </howto/gpu>`.
# - How ``alpha`` is chosen from the sums: :doc:`ridge machines </guide/ridge>`.
# - Embeddings that do not fit in memory:
#   :ref:`a folder of files <sphx_glr_auto_examples_50_tutorials_plot_3_larger_than_memory.py>`.
