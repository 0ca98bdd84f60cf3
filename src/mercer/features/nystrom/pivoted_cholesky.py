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
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..._array import as_floating, beside, is_numpy, namespace, take_rows, to_numpy, zeros_beside
from ...engine.tall import tall_times, tall_transposed_times

#: Proposals that are drawn at once.
BLOCK = 128
#: Proposals for each pivot, where the best are selected.
PROPOSALS = 4
#: Share of a proposal's diagonal that the others selected with it must leave.
EXPLAINED = 1e-2
#: Share of the trace below which there is nothing left to approximate.
EXHAUSTED = 1e-12


class LowRank(NamedTuple):
    """A factor F with K ≈ F Fᵀ, the rows it was made from, and the diagonal that is missing."""

    factor: Any
    pivots: np.ndarray
    missing: np.ndarray


def pivoted_cholesky(
    columns: Callable[[np.ndarray], Any],
    diagonal: np.ndarray,
    rank: int,
    generator: np.random.Generator,
    n_selected: int = 0,
) -> LowRank:
    """Return a factor of a positive semi-definite matrix from randomly pivoted columns.

    Parameters
    ----------
    columns : callable
        Gives the columns of the matrix at some places, as an array of shape (n, size) of any
        library; the factor is of that library. Small matrices are decomposed on the host.
    diagonal : array of shape (n,)
        The diagonal of the matrix.
    rank : int
        Columns of the factor, at most.
    generator : numpy.random.Generator
        Draws the pivots.
    n_selected : int, default=0
        So many of the first pivots are those of several proposals that leave the smallest trace,
        which takes several times their columns; the others follow the law of proportion.

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
    factor: Any = None
    missing = np.maximum(diagonal.astype(float), 0.0)
    pivots: list[int] = []
    floor, done = EXHAUSTED * missing.sum(), 0
    while done < rank and missing.sum() > floor:
        size = min(BLOCK, int(np.count_nonzero(missing)))
        proposals = generator.choice(n, size, p=missing / missing.sum())
        rest = as_floating(columns(proposals), "float64")
        if factor is None:
            # By columns: blocks of them are contiguous.
            factor = np.zeros((n, rank), order="F") if is_numpy(rest) else None
            factor = zeros_beside(rest, (n, rank)) if factor is None else factor
        own = take_rows(factor, proposals)[:, :done]
        rest = rest - tall_times(factor[:, :done], own.T)
        square = to_numpy(take_rows(rest, proposals))
        if done < n_selected:
            # Never much more than were asked for, as what is selected is dear.
            most = min(max(1, size // PROPOSALS), rank - done)
            gram = to_numpy(tall_transposed_times(rest, rest))
            accepted = _selected(square, gram, most)
        else:
            accepted = _accepted(square, missing[proposals], generator)[: rank - done]
        # What the diagonal's own rounding leaves behind is not there to be found.
        left = np.maximum(np.diag(square), 0.0)
        missing[proposals] = np.minimum(missing[proposals], left)
        if not len(accepted):
            continue
        root = _root(square[np.ix_(accepted, accepted)])
        if root is None:
            # Copies of one row among the accepted: the largest alone.
            accepted = accepted[[int(np.argmax(np.diag(square)[accepted]))]]
            root = np.sqrt(square[np.ix_(accepted, accepted)])
        chosen = proposals[accepted]
        inverse = scipy.linalg.solve_triangular(root, np.eye(len(root)), lower=True)
        picked = np.zeros((len(proposals), len(accepted)))
        picked[accepted] = inverse.T
        fresh = tall_times(rest, beside(rest, picked))
        stop = done + len(chosen)
        factor[:, done:stop] = fresh
        missing = np.maximum(missing - to_numpy(namespace(fresh).sum(fresh * fresh, axis=1)), 0.0)
        missing[chosen] = 0.0
        pivots.extend(int(place) for place in chosen)
        done = stop
    if factor is None:
        factor = as_floating(columns(np.zeros(0, dtype=np.int64)), "float64")
    return LowRank(factor[:, :done], np.asarray(pivots, dtype=np.int64), missing)


def _root(H: np.ndarray) -> np.ndarray | None:
    """Return the Cholesky factor of a small matrix; ``None`` if it has none."""
    H = (H + H.T) / 2
    H[np.diag_indices_from(H)] += 1e-14 * np.trace(H)
    try:
        return np.asarray(scipy.linalg.cholesky(H, lower=True))
    except np.linalg.LinAlgError:
        return None


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


def _selected(H: np.ndarray, G: np.ndarray, size: int) -> np.ndarray:
    """Return proposals that lower the trace most, one after the other.

    ``H`` holds their rows of the columns C of what is missing, and ``G`` is CᵀC: the column of a
    proposal lowers the trace by G_ii / H_ii, and what it leaves of the others has the same form.
    """
    H, G = H.copy(), G.copy()
    # What is explained but for this is not worth a column, nor known well enough to compare.
    least = EXPLAINED * np.maximum(np.diag(H), 0.0)
    chosen: list[int] = []
    while len(chosen) < size:
        diagonal = np.diag(H)
        able = diagonal > least
        able[chosen] = False
        if not able.any():
            break
        gains = np.where(able, np.diag(G) / np.where(able, diagonal, 1.0), -np.inf)
        i = int(np.argmax(gains))
        share = H[i] / H[i, i]
        crossed = np.outer(G[:, i], share)
        G = G - crossed - crossed.T + G[i, i] * np.outer(share, share)
        H = H - np.outer(H[:, i], share)
        chosen.append(i)
    return np.asarray(chosen, dtype=np.int64)
