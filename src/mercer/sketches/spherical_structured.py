"""Spherical structured features (Lyu 2017): well-spread points on the sphere, rotated."""

from __future__ import annotations

import numpy as np

from .._random import Stream
from .directions import in_blocks, orthonormal_rows


def spherical_structured_directions(stream: Stream, n_features: int, size: int) -> np.ndarray:
    """Return the columns of randomly rotated, well-spread sets of points on the sphere.

    The points of a set come from a subgroup of the integers modulo a prime n with
    (d/2) | n - 1: 2n unit vectors that form a tight frame, at least four for each dimension.
    Alone they are biased, as all of them lie on one torus; a random rotation makes each of
    them uniform, and every set has its own, so that the error falls with the number of sets.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> W = spherical_structured_directions(Stream(0), 8, 34)
    >>> bool(np.allclose(W @ W.T, np.eye(8) * 34 / 8))
    True
    """
    width = n_features + n_features % 2
    # The points, and a rotation for every set of them.
    sets = -(-size // (4 * width))
    stream.reserve((4 + sets) * width * width, draws=sets)
    points = structured_points(width // 2, 4 * width)

    def block(generator: np.random.Generator, rows: int) -> np.ndarray:
        # The two halves of a set complete each other: a part of it takes from both alike.
        order = generator.permutation(len(points) // 2)
        mixed = points.reshape(2, -1, width)[:, order].swapaxes(0, 1).reshape(-1, width)
        rotated = mixed[:rows] @ orthonormal_rows(generator, width, width)
        # Odd dimensions are padded by one; what is left of a vector has a uniform direction.
        kept = rotated[:, :n_features]
        return kept / np.linalg.norm(kept, axis=1, keepdims=True)

    return in_blocks(stream, block, len(points), n_features, size)


def structured_points(half: int, size: int) -> np.ndarray:
    """Return at least ``size`` unit vectors in twice ``half`` dimensions, as rows."""
    prime = _prime_above(-(-size // 2), half)
    root = _primitive_root(prime)
    step = pow(root, (prime - 1) // half, prime)
    subgroup = np.asarray([pow(step, j, prime) for j in range(half)], dtype=float)
    angles = 2 * np.pi * ((subgroup[:, None] * np.arange(prime)) % prime) / prime
    real, imaginary = np.cos(angles).T, np.sin(angles).T
    top = np.concatenate([real, imaginary], axis=1)
    bottom = np.concatenate([-imaginary, real], axis=1)
    return np.concatenate([top, bottom]) / np.sqrt(half)


def _prime_above(least: int, divisor: int) -> int:
    """Return the smallest prime n >= least, n > 2, with ``divisor`` dividing n - 1."""
    n = 1 + divisor * max(1, -(-(max(least, 3) - 1) // divisor))
    while not _is_prime(n):
        n += divisor
    return n


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % p for p in range(2, int(n**0.5) + 1))


def _primitive_root(prime: int) -> int:
    """Return a generator of the multiplicative group modulo ``prime``."""
    factors = {p for p in range(2, prime) if (prime - 1) % p == 0 and _is_prime(p)}
    for candidate in range(2, prime):
        if all(pow(candidate, (prime - 1) // p, prime) != 1 for p in factors):
            return candidate
    raise ValueError(f"{prime} is not an odd prime.")
