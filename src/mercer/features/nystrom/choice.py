"""Which rows become landmarks: four ways to choose, from uniform to by what is still missing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .candidates import KernelOfRows
from .leverage import leverage_landmarks
from .pivoted_cholesky import pivoted_cholesky

#: Landmarks that are the best of several proposals.
SELECTED = 256
#: Called as ``choose(K, size, generator)``; returns the places of landmarks among the candidates.
Choice = Callable[[KernelOfRows, int, np.random.Generator], np.ndarray]


def uniform_landmarks(K: KernelOfRows, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return places drawn uniformly, without repetition."""
    return np.sort(generator.permutation(K.size)[:size])


def pivoted_landmarks(K: KernelOfRows, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return the pivots of a randomly pivoted Cholesky factorisation.

    Each is drawn with a probability proportional to what the landmarks before it leave of the
    kernel's diagonal: rare groups of rows are found, and no row is taken twice. The first ones,
    which matter most, are the best of several that are drawn so.
    """
    found = pivoted_cholesky(K.columns, K.diagonal, size, generator, SELECTED).pivots
    if len(found) < min(size, K.size):
        # What is left of a smooth kernel may be less than columns in float32 can tell.
        found = pivoted_cholesky(K.exact_columns, K.diagonal, size, generator, SELECTED).pivots
    return found


def seeded_landmarks(K: KernelOfRows, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return places drawn as k-means++ draws its centers, by the distances of the kernel.

    Each is drawn with a probability proportional to its squared distance from the nearest one
    before it, k(x, x) + k(y, y) - 2 k(x, y).
    """
    first = int(generator.integers(K.size))
    chosen, nearest = [first], np.full(K.size, np.inf)
    while len(chosen) < size:
        column = K.columns(np.asarray(chosen[-1:]))[:, 0]
        squared = K.diagonal + K.diagonal[chosen[-1]] - 2 * column
        nearest = np.minimum(nearest, np.maximum(squared, 0.0))
        nearest[chosen] = 0.0
        total = nearest.sum()
        if not total > 0:
            break
        chosen.append(int(generator.choice(K.size, p=nearest / total)))
    return np.asarray(chosen, dtype=np.int64)


#: The ways to choose, by name.
CHOICES: dict[str, Choice] = {
    "rpcholesky": pivoted_landmarks,
    "uniform": uniform_landmarks,
    "kmeans++": seeded_landmarks,
    "leverage": leverage_landmarks,
}
