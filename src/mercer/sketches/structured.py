"""Projections that are products of fast transforms: blocks of directions, never a matrix."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .._array import is_numpy, like
from ..ops.columns import join
from ..ops.hadamard import padded_length
from ..ops.products import dense
from .projection import Projection


class StructuredProjection(Projection):
    """Blocks of as many directions as the padded rows have columns, the last one cut.

    A subclass draws its blocks and the lengths of all directions (``_scales``), and applies
    one block.

    Parameters
    ----------
    n_features, size : int
        Shape.
    """

    _scales: Any

    def __init__(self, n_features: int, size: int) -> None:
        self.n_features: int = n_features
        self.size: int = size
        self.length: int = padded_length(n_features)
        # Padded rows, two temporaries of a transform, and the blocks until they are joined.
        self.scratch: int = 3 * self.length + self.length * self.n_blocks

    @property
    def n_blocks(self) -> int:
        """How many blocks it takes."""
        return -(-self.size // self.length)

    @abstractmethod
    def _block(self, number: int, rows: Any, xp: Any) -> Any:
        """Return the products of padded rows with the directions of a block, unscaled."""

    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given."""
        rows = pad_columns(dense(X), self.length, xp)
        parts = []
        for b in range(self.n_blocks):
            part = self._block(b, rows, xp)
            parts.append(part[:, : min(self.length, self.size - b * self.length)])
        place = out if is_numpy(out) else None
        result, scales = join(parts, xp, place), like(X, self._scales)
        if not is_numpy(result):
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
