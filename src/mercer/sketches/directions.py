"""Random unit vectors, drawn in blocks that never change when more are asked for.

Every function returns an array of shape (n_features, size) whose columns have norm 1 and
are each uniform on the sphere (the Gibbs sampler only nearly so). Block number b comes
from branch b of the stream.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from .._random import Stream

#: Directions in a block of independent draws.
BLOCK = 256
#: Steps of the bisection that inverts the conditional distribution: 2^-60 of its range.
BISECTIONS = 60


def spherical_directions(stream: Stream, n_features: int, size: int) -> np.ndarray:
    """Return independent directions, uniform on the sphere.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> few = spherical_directions(Stream(0), 3, 4)
    >>> many = spherical_directions(Stream(0), 3, 900)
    >>> bool(np.array_equal(few, many[:, :4]))
    True
    """

    def block(generator: np.random.Generator) -> np.ndarray:
        return _normalised(generator.standard_normal((BLOCK, n_features)))

    return _in_blocks(stream, block, BLOCK, size)


def haar_directions(stream: Stream, n_features: int, size: int) -> np.ndarray:
    """Return directions in blocks of ``n_features`` orthonormal ones, the last block cut.

    A block is the orthogonal factor of a Gaussian matrix with the signs that make it
    uniform over all rotations (Stewart 1980).
    """

    def block(generator: np.random.Generator) -> np.ndarray:
        q, r = np.linalg.qr(generator.standard_normal((n_features, n_features)))
        return (q * np.where(np.diag(r) < 0, -1.0, 1.0)).T

    return _in_blocks(stream, block, n_features, size)


def gibbs_directions(stream: Stream, n_features: int, size: int, sweeps: int = 1) -> np.ndarray:
    """Return the directions of Algorithm 2 of the NTK random features paper.

    Starting from normal vectors, each coordinate in turn is redrawn from its conditional
    distribution under the density proportional to |v|² exp(-|v|²/2). Exact draws from that
    density need no Gibbs sampling (its direction is uniform): this is here to compare with.
    """

    def block(generator: np.random.Generator) -> np.ndarray:
        v = generator.standard_normal((BLOCK, n_features))
        for _ in range(sweeps):
            for j in range(n_features):
                others = (v**2).sum(axis=1) - v[:, j] ** 2
                v[:, j] = _conditional_quantile(generator.random(BLOCK), others)
        return _normalised(v)

    return _in_blocks(stream, block, BLOCK, size)


def conditional_distribution(x: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return P(v_j <= x) given the sum of squares of the other coordinates."""
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return special.ndtr(x) - x * density / (1 + others)


def _conditional_quantile(probabilities: np.ndarray, others: np.ndarray) -> np.ndarray:
    low = np.full_like(probabilities, -40.0)
    high = -low
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = conditional_distribution(middle, others) < probabilities
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _in_blocks(
    stream: Stream, block: Callable[[np.random.Generator], np.ndarray], rows: int, size: int
) -> np.ndarray:
    """Return the first ``size`` directions of as many blocks as that takes, as columns."""
    blocks = [block(stream.child(b).generator()) for b in range(-(-size // rows))]
    return np.concatenate(blocks)[:size].T


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
