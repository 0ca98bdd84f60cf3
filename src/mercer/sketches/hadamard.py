"""Directions from Hadamard matrices and random signs: O(m log d) a row, O(m) memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from ..ops.columns import join
from ..ops.hadamard import padded_length, walsh_hadamard
from ..ops.products import dense
from .projection import Projection

#: Below this padded dimension the directions are visibly not uniform.
SMALLEST = 64


class HadamardProjection(Projection):
    r"""Blocks of orthonormal directions :math:`H D_1 H D_2 H D_3` (HD3).

    H is the orthonormal Hadamard matrix of the padded dimension p and the D are random
    signs. The directions are not exactly uniform: for dense rows the bias cannot be seen from
    p = 64 on and is gross below, where this class refuses to work. Rows with one or two
    non-zero entries have projections that are exactly 0, which the step function feels.

    Parameters
    ----------
    stream : Stream
        Where the signs come from.
    n_features, size : int
        Shape.
    radii : array of shape (size,)
        Length of every direction, in the padded space.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import HadamardProjection
    >>> W = HadamardProjection(Stream(0), 64, 64, np.ones(64)).weights
    >>> bool(np.allclose(W.T @ W, np.eye(64)))
    True
    """

    def __init__(self, stream: Stream, n_features: int, size: int, radii: np.ndarray) -> None:
        self.n_features, self.size = n_features, size
        self.length = padded_length(n_features)
        # Padded rows, two temporaries of a transform, and the blocks until they are joined.
        self.scratch = 3 * self.length + self.length * -(-size // self.length)
        if self.length < SMALLEST:
            raise ValueError(
                f"Hadamard directions (hd3) are visibly biased for {n_features} columns; they "
                f"need more than {SMALLEST // 2}. Use orthogonal directions, which are exact and "
                "no slower there."
            )
        blocks = -(-size // self.length)
        signs = [
            stream.child(b).generator().choice([-1.0, 1.0], (3, self.length)) for b in range(blocks)
        ]
        self._signs = [[frozen(row) for row in block] for block in signs]
        self._scales = frozen(np.asarray(radii, dtype=float) * self.length**-1.5)

    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given (NumPy only)."""
        rows = pad_columns(dense(X), self.length, xp)
        parts = []
        for b, block in enumerate(self._signs):
            part = rows
            for signs in block:
                part = walsh_hadamard(part * like(X, signs), xp)
            parts.append(part[:, : min(self.length, self.size - b * self.length)])
        return scaled_columns(parts, like(X, self._scales), xp, out)


def scaled_columns(parts: list[Any], scales: Any, xp: Any, out: Any = None) -> Any:
    """Return the blocks side by side, each column multiplied by its scale."""
    result = join(parts, xp, out)
    if out is None:
        return result * scales
    result *= scales
    return result


def pad_columns(X: Any, length: int, xp: Any) -> Any:
    """Return the rows with zeros appended up to ``length`` columns."""
    missing = length - X.shape[1]
    if missing == 0:
        return X
    zeros = xp.zeros((X.shape[0], missing), dtype=X.dtype, device=X.device)
    return xp.concat([X, zeros], axis=1)
