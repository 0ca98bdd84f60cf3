"""Random unit vectors, sampled block by block: asking for more never changes the first ones.

Every function returns an array of shape (n_features, size) whose columns have norm 1 and
are each uniform on the sphere (the Gibbs sampler only nearly so). Block number b comes
from branch b of the stream.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from .._random import Stream
from ..engine.blocks import cut
from ..engine.memory import allocate
from ..engine.threads import single_threaded_blas

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

    def block(generator: np.random.Generator, rows: int) -> np.ndarray:
        return _normalised(generator.standard_normal((rows, n_features)))

    return in_blocks(stream, block, BLOCK, n_features, size)


def haar_directions(stream: Stream, n_features: int, size: int) -> np.ndarray:
    """Return directions in blocks of ``n_features`` orthonormal ones, the last block cut.

    A block is the orthogonal factor of a Gaussian matrix with the signs that make it
    uniform over all rotations (Stewart 1980). Its first directions do not depend on the
    later ones, so a block that is cut is not drawn as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> W = haar_directions(Stream(0), 4, 4)
    >>> bool(np.allclose(W.T @ W, np.eye(4)))
    True
    """

    def block(generator: np.random.Generator, rows: int) -> np.ndarray:
        return orthonormal_rows(generator, rows, n_features)

    return in_blocks(stream, block, n_features, n_features, size)


def orthonormal_rows(generator: np.random.Generator, rows: int, n_features: int) -> np.ndarray:
    """Return the first rows of a random rotation."""
    # One thread: the same bits on every machine, and no waiting for a busy core.
    with single_threaded_blas():
        q, r = np.linalg.qr(generator.standard_normal((rows, n_features)).T)
    return (q * np.where(np.diag(r) < 0, -1.0, 1.0)).T


def gibbs_directions(stream: Stream, n_features: int, size: int, sweeps: int = 1) -> np.ndarray:
    r"""Return the directions of Algorithm 2 of the NTK random features paper.

    Starting from normal vectors, each coordinate in turn is redrawn from its conditional
    distribution under the density proportional to :math:`\|v\|^2 e^{-\|v\|^2/2}`. Exact draws from
    that density need no Gibbs sampling (its direction is uniform): this is here to compare with.

    Examples
    --------
    >>> from mercer._random import Stream
    >>> gibbs_directions(Stream(0), 3, 5).shape
    (3, 5)
    """

    def block(generator: np.random.Generator, rows: int) -> np.ndarray:
        # Whole blocks, because the draws of a sweep depend on how many there are.
        return _normalised(gibbs_vectors(generator, BLOCK, n_features, sweeps)[:rows])

    return in_blocks(stream, block, BLOCK, n_features, size)


def gibbs_vectors(
    generator: np.random.Generator, size: int, n_features: int, sweeps: int
) -> np.ndarray:
    """Return the rows of the Gibbs sampler before they are scaled to norm 1."""
    v = generator.standard_normal((size, n_features))
    for _ in range(sweeps):
        for j in range(n_features):
            others = (v**2).sum(axis=1) - v[:, j] ** 2
            v[:, j] = _conditional_quantile(generator.random(size), others)
    return v


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


def in_blocks(
    stream: Stream,
    block: Callable[[np.random.Generator, int], np.ndarray],
    rows: int,
    n_features: int,
    size: int,
) -> np.ndarray:
    """Return the first ``size`` directions of as many blocks as that takes, as columns."""
    stream.reserve(size * n_features, draws=-(-size // rows))
    out = allocate(np.empty(0), (size, n_features), "float64")
    for number, (start, stop) in enumerate(cut(size, rows)):
        out[start:stop] = block(stream.child(number).generator(), stop - start)
    return out.T


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
