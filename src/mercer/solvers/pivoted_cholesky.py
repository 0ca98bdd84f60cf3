"""Randomly pivoted Cholesky: a low-rank factor of a kernel matrix from few of its columns.

Pivots are drawn with probabilities proportional to what the factor still misses of the diagonal
[1]_. Blocks of proposals are drawn at once, and those that their predecessors in the block have
made redundant are rejected, which gives the same law as drawing one by one [2]_.

References
----------
.. [1] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky: practical
   approximation of a kernel matrix with few entry evaluations", CPAM 2025.
.. [2] E. N. Epperly, J. A. Tropp and R. J. Webber, "Embrace rejection: kernel matrix approximation
   by accelerated randomly pivoted Cholesky", SIMAX 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..engine.tall import tall_times

#: Proposals that are drawn at once.
BLOCK = 128
#: Share of the trace below which there is nothing left to approximate.
EXHAUSTED = 1e-12


class LowRank(NamedTuple):
    """A factor F with K ≈ F Fᵀ, the rows it was made from, and the diagonal that is missing."""

    factor: np.ndarray
    pivots: np.ndarray
    missing: np.ndarray


def pivoted_cholesky(
    columns: Callable[[np.ndarray], np.ndarray],
    diagonal: np.ndarray,
    rank: int,
    generator: np.random.Generator,
) -> LowRank:
    """Return a factor of a positive semi-definite matrix from randomly pivoted columns.

    Parameters
    ----------
    columns : callable
        Gives the columns of the matrix at some places, as an array of shape (n, size).
    diagonal : array of shape (n,)
        The diagonal of the matrix.
    rank : int
        Columns of the factor, at most.
    generator : numpy.random.Generator
        Draws the pivots.

    Returns
    -------
    low_rank : LowRank
        With fewer columns than asked for if nothing is left of the matrix before.

    Examples
    --------
    >>> A = np.diag([4.0, 0.0, 1.0])
    >>> found = pivoted_cholesky(lambda at: A[:, at], np.diag(A), 3, np.random.default_rng(0))
    >>> bool(np.allclose(found.factor @ found.factor.T, A)), sorted(found.pivots.tolist())
    (True, [0, 2])
    """
    n = len(diagonal)
    rank = min(rank, n)
    # By columns: blocks of them are contiguous.
    factor = np.zeros((n, rank), order="F")
    missing = np.maximum(diagonal.astype(float), 0.0)
    pivots: list[int] = []
    floor, done = EXHAUSTED * missing.sum(), 0
    while done < rank and missing.sum() > floor:
        size = min(BLOCK, int(np.count_nonzero(missing)))
        proposals = generator.choice(n, size, p=missing / missing.sum())
        proposals = np.unique(proposals)
        generator.shuffle(proposals)
        known = factor[:, :done]
        rest = columns(proposals) - tall_times(known, known[proposals].T)
        accepted = _accepted(rest[proposals], missing[proposals], generator)[: rank - done]
        if not len(accepted):
            continue
        chosen = proposals[accepted]
        inner = rest[np.ix_(chosen, accepted)]
        inner = (inner + inner.T) / 2
        inner[np.diag_indices_from(inner)] += 1e-14 * np.trace(inner)
        try:
            root = scipy.linalg.cholesky(inner, lower=True)
        except np.linalg.LinAlgError:
            # Copies of one row among the accepted: the largest alone.
            best = accepted[np.argmax(np.diag(inner))]
            chosen, root = proposals[[best]], np.sqrt(rest[proposals[best], [[best]]])
            accepted = np.asarray([best])
        fresh = scipy.linalg.solve_triangular(root, rest[:, accepted].T, lower=True).T
        stop = done + len(chosen)
        factor[:, done:stop] = fresh
        missing = np.maximum(missing - np.einsum("ij,ij->i", fresh, fresh), 0.0)
        missing[chosen] = 0.0
        pivots.extend(int(place) for place in chosen)
        done = stop
    return LowRank(factor[:, :done], np.asarray(pivots, dtype=np.int64), missing)


def _accepted(H: np.ndarray, bound: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return which proposals of a block are accepted, by rejection with the shrinking diagonal."""
    H, size = H.copy(), len(bound)
    draws = generator.random(size)
    accepted = []
    for i in range(size):
        if H[i, i] > draws[i] * bound[i] and H[i, i] > 1e-12 * bound[i]:
            accepted.append(i)
            H[i + 1 :, i + 1 :] -= np.outer(H[i + 1 :, i], H[i, i + 1 :]) / H[i, i]
    return np.asarray(accepted, dtype=np.int64)
