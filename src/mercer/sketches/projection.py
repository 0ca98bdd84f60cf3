"""Projections: random matrices, known by their product with rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from .._array import frozen, like
from .._devices import has_fused_kernels
from .._registry import storable
from ..ops.products import product

#: Columns that products on devices take together.
ALIGNED = 8


class Projection(ABC):
    """A random matrix of shape (n_features, size) that multiplies blocks of rows.

    Attributes
    ----------
    n_features, size : int
        The shape.
    scratch : int
        Numbers that the product holds for each row while it works, beside the result.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sketches import DenseProjection, Projection
    >>> isinstance(DenseProjection(np.eye(2)), Projection)
    True
    """

    n_features: int
    size: int
    scratch: int = 0

    @abstractmethod
    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given."""

    @property
    def matrix(self) -> np.ndarray:
        """The matrix W itself, of shape (n_features, size)."""
        return np.asarray(self.project(np.eye(self.n_features), np))


@storable
class DenseProjection(Projection):
    """A projection that is stored as a matrix.

    Parameters
    ----------
    matrix : array of shape (n_features, size)
        The matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sketches import DenseProjection
    >>> DenseProjection(np.ones((2, 3))).project(np.eye(2), np)
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    def __init__(self, matrix: np.ndarray) -> None:
        self._matrix = frozen(matrix)
        self.n_features: int = self._matrix.shape[0]
        self.size: int = self._matrix.shape[1]

    def project(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return ``X @ W`` for a block, in ``out`` if given."""
        if out is None and has_fused_kernels(X) and self.size % ALIGNED:
            return product(X, like(X, self._padded))[:, : self.size]
        return product(X, like(X, self._matrix), out)

    @cached_property
    def _padded(self) -> np.ndarray:
        """The matrix with columns of zeros: products of odd widths are slow on devices."""
        return frozen(np.pad(self._matrix, ((0, 0), (0, -self.size % ALIGNED))))

    @property
    def matrix(self) -> np.ndarray:
        """The matrix W itself, of shape (n_features, size)."""
        return self._matrix
