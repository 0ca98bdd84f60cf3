"""Fastfood (Le et al. 2013): Gaussian-like directions from two Hadamard transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from ..ops.hadamard import padded_length, walsh_hadamard
from ..ops.products import dense
from .hadamard import pad_columns, scaled_columns
from .projection import Projection


class FastfoodProjection(Projection):
    r"""Directions :math:`S H G \Pi H B` with random signs, permutation and Gaussians.

    Unbiased for shift-invariant kernels, with a squared error above that of independent
    directions (1.3 times at d = 8, 1.9 times at d = 64); worth it only where d is large and
    time matters more.

    Parameters
    ----------
    stream : Stream
        Where the randomness comes from.
    n_features, size : int
        Shape.
    radii : array of shape (size,)
        Length of every direction, in the padded space.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import FastfoodProjection
    >>> W = FastfoodProjection(Stream(0), 8, 20, np.full(20, 3.0)).weights
    >>> bool(np.allclose(np.linalg.norm(W, axis=0), 3.0))
    True
    """

    def __init__(self, stream: Stream, n_features: int, size: int, radii: np.ndarray) -> None:
        self.n_features, self.size = n_features, size
        self.length = padded_length(n_features)
        # Padded rows, two temporaries of a transform, and the blocks until they are joined.
        self.scratch = 3 * self.length + self.length * -(-size // self.length)
        self._signs, self._permutations, self._gaussians, norms = [], [], [], []
        for b in range(-(-size // self.length)):
            generator = stream.child(b).generator()
            self._signs.append(frozen(generator.choice([-1.0, 1.0], self.length)))
            self._permutations.append(frozen(generator.permutation(self.length)))
            gaussian = generator.standard_normal(self.length)
            self._gaussians.append(frozen(gaussian))
            norms.append(np.full(self.length, np.linalg.norm(gaussian)))
        lengths = np.concatenate(norms)[:size] * self.length**0.5
        self._scales = frozen(np.asarray(radii, dtype=float) / lengths)

    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given (NumPy only)."""
        rows = pad_columns(dense(X), self.length, xp)
        parts = []
        for b, signs in enumerate(self._signs):
            part = walsh_hadamard(rows * like(X, signs), xp)
            part = xp.take(part, like(X, self._permutations[b]), axis=1)
            part = walsh_hadamard(part * like(X, self._gaussians[b]), xp)
            parts.append(part[:, : min(self.length, self.size - b * self.length)])
        return scaled_columns(parts, like(X, self._scales), xp, out)
