"""Directions from Hadamard matrices and random signs: O(m log d) a row, O(m) memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from .._registry import storable
from ..ops.hadamard import walsh_hadamard
from .structured import StructuredProjection

#: Below this padded dimension the directions are visibly not uniform.
SMALLEST = 64


@storable
class HadamardProjection(StructuredProjection):
    r"""Blocks of orthonormal directions :math:`H D_1 H D_2 H D_3` (HD3).

    H is the orthonormal Hadamard matrix of the padded dimension p and the D are random
    signs. The directions are not exactly uniform: for dense rows the bias cannot be seen from
    p = 64 on and is gross below, where this class refuses to work. Rows with one or two
    non-zero entries have projections that are exactly 0, which shows in the step function.

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
    >>> W = HadamardProjection(Stream(0), 64, 64, np.ones(64)).matrix
    >>> bool(np.allclose(W.T @ W, np.eye(64)))
    True
    """

    def __init__(self, stream: Stream, n_features: int, size: int, radii: np.ndarray) -> None:
        super().__init__(n_features, size)
        if self.length < SMALLEST:
            raise ValueError(
                f"Hadamard directions (hd3) are visibly biased for {n_features} columns; they "
                f"need more than {SMALLEST // 2}. Use orthogonal directions, which are exact and "
                "no slower there."
            )
        blocks = range(self.n_blocks)
        stream.reserve(3 * self.length * len(blocks), draws=3 * len(blocks))
        signs = [stream.child(b).generator().choice([-1.0, 1.0], (3, self.length)) for b in blocks]
        self._signs = [[frozen(row) for row in block] for block in signs]
        self._scales = frozen(np.asarray(radii, dtype=float) * self.length**-1.5)

    def _block(self, number: int, rows: Any, xp: Any) -> Any:
        for signs in self._signs[number]:
            rows = walsh_hadamard(rows * like(rows, signs), xp)
        return rows
