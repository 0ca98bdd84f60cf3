"""
Nearly equal rows: where the textbook formula of the NTK loses accuracy
=======================================================================

The neural tangent kernel is a function of the angle between two rows. The textbook formula
takes the arc cosine of their inner product, and the slope of the arc cosine at 1 is infinite:
a rounding error of 6e-8 in a float32 product becomes 3e-4 in the angle. mercer computes small
angles from differences of rows, and its recursion over the layers runs on the angle itself.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import NTK

DEPTH = 3


def textbook(X, Y, dtype):
    """The NTK of pairs of unit rows, from cosines, all in one dtype."""
    t = np.clip(np.einsum("ij,ij->i", X.astype(dtype), Y.astype(dtype)), -1, 1)
    S, K, pi = t, t, dtype(np.pi)
    for _ in range(DEPTH):
        theta = np.arccos(np.clip(S, -1, 1))
        S, D = (np.sin(theta) + (pi - theta) * np.cos(theta)) / pi, 1 - theta / pi
        K = K * D + S
    return K


def reference(X, Y):
    """The same in float64, from accurate angles."""
    X, Y = ([row / np.linalg.norm(row) for row in rows.astype(float)] for rows in (X, Y))
    chord = np.linalg.norm(np.subtract(X, Y), axis=1)
    theta = 2 * np.arctan2(chord, np.linalg.norm(np.add(X, Y), axis=1))
    K = np.cos(theta)
    for _ in range(DEPTH):
        delta = 2 * np.sin(theta / 2) ** 2 - (np.sin(theta) - theta * np.cos(theta)) / np.pi
        K = K * (1 - theta / np.pi) + 1 - delta
        theta = 2 * np.arcsin(np.sqrt(np.clip(delta / 2, 0, 1)))
    return K


rng = np.random.default_rng(0)
angles = np.geomspace(1e-6, 1, 600)
x = rng.standard_normal((600, 50))
x /= np.linalg.norm(x, axis=1, keepdims=True)
y = rng.standard_normal((600, 50))
y -= x * np.sum(x * y, axis=1, keepdims=True)
y /= np.linalg.norm(y, axis=1, keepdims=True)
X = x.astype(np.float32)
Y = (np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y).astype(np.float32)

exact = reference(X, Y)
norms = np.linalg.norm(X.astype(float), axis=1) * np.linalg.norm(Y.astype(float), axis=1)
pairs = np.diagonal(NTK(depth=DEPTH)(X, Y)) / norms
wrong = {
    "arccos formula, float32": (abs(textbook(X, Y, np.float32) - exact), "C1"),
    "mercer, float32 rows": (abs(pairs - exact), "C0"),
}

print(f"NTK of depth {DEPTH}, 600 pairs of float32 rows at angles from 1e-6 to 1")
fig, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, (error, colour) in wrong.items():
    print(f"{name:>24}: largest error {error.max():.1e}, median error {np.median(error):.1e}")
    axes.plot(angles, np.maximum(error, 1e-9), ".", markersize=4, color=colour, label=name)
spacing = np.spacing(np.float32(DEPTH + 1))
axes.axhline(spacing, color="0.3", linewidth=1, label=f"spacing of float32 at {DEPTH + 1}")
axes.set(xscale="log", yscale="log", xlabel="angle between the rows", ylabel="error of the kernel")
axes.set_title(f"NTK of depth {DEPTH} on nearly equal rows")
axes.grid(alpha=0.3)
axes.legend(loc="upper right")

plt.show()
