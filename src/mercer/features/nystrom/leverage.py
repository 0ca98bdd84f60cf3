"""Landmarks by ridge leverage scores, which are estimated recursively.

The ridge leverage score of a row, (K (K + λ)⁻¹)ᵢᵢ, says how much of it the other rows do not
explain. Scores of all rows come from landmarks of half of them, whose scores come from landmarks
of a quarter, and so on [1]_.

References
----------
.. [1] C. Musco and C. Musco, "Recursive sampling for the Nyström method", NeurIPS 2017.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .candidates import KernelOfRows

#: λ where as many landmarks as eigenvalues are left over, relative to the mean diagonal.
SMALL = 1e-5


def leverage_landmarks(K: KernelOfRows, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return places drawn by approximate ridge leverage scores, without repetition.

    Parameters
    ----------
    K : KernelOfRows
        The kernel of the candidates.
    size : int
        How many landmarks.
    generator : numpy.random.Generator
        Draws them.
    """
    if size >= K.size:
        return np.arange(K.size)
    order = generator.permutation(K.size)
    oversampling = max(float(np.log(size)), 1.0)
    dimension = max(1, int(np.ceil(size / (4 * oversampling))))
    sizes = [K.size]
    while sizes[-1] > size:
        sizes.append(-(-sizes[-1] // 2))
    chosen = order[: sizes[-1]]
    weights = np.ones(len(chosen))
    scores = np.ones(K.size)
    for number in sizes[-2::-1]:
        rows = order[:number]
        scores = leverage_scores(K, rows, chosen, weights, dimension)
        if number == K.size:
            break
        probabilities = np.minimum(1.0, oversampling * scores)
        kept = generator.random(number) < probabilities
        kept[np.argmax(probabilities)] = True
        chosen, weights = rows[kept], probabilities[kept] ** -0.5
    probabilities = np.minimum(1.0, scores)
    able = int(np.count_nonzero(probabilities))
    places = generator.choice(
        len(order), min(size, able), replace=False, p=probabilities / probabilities.sum()
    )
    return np.sort(order[places])


def leverage_scores(
    K: KernelOfRows,
    rows: np.ndarray,
    chosen: np.ndarray,
    weights: np.ndarray,
    dimension: int,
) -> np.ndarray:
    """Return approximate ridge leverage scores of some rows from weighted landmarks.

    Parameters
    ----------
    K : KernelOfRows
        The kernel of the candidates.
    rows, chosen : arrays of int
        Places of the rows, and of the landmarks.
    weights : array of shape (n_landmarks,)
        Their weights: the root of one over the probability of being drawn.
    dimension : int
        The scores of all rows are to add up to about this; it sets λ.
    """
    own = K.block(chosen, chosen)
    weighted = own * np.outer(weights, weights)
    if dimension >= len(chosen):
        ridge = SMALL * float(np.mean(K.diagonal))
    else:
        largest = scipy.linalg.eigvalsh(
            weighted, subset_by_index=(len(chosen) - dimension, len(chosen) - 1)
        )
        ridge = max(float(np.trace(weighted) - largest.sum()) / dimension, 0.0)
    # At least what rounding leaves of the kernel.
    ridge = max(ridge, 1e-7 * float(np.mean(K.diagonal)))
    shifted = own + ridge * np.diag(weights**-2.0)
    factor = scipy.linalg.cholesky(shifted, lower=True)
    cross = K.block(rows, chosen)
    half = scipy.linalg.solve_triangular(factor, cross.T, lower=True)
    missing = K.diagonal[rows] - np.einsum("ij,ij->j", half, half)
    # A score of 0 would never be drawn, however many rows are wanted.
    return np.asarray(np.clip(missing / ridge, 1e-12, None))
