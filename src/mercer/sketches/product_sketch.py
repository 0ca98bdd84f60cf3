"""Products of random signs: the monomials of random Maclaurin features."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from .._registry import storable
from ..ops.products import product


@storable
class ProductSketch:
    """A sketch of a tensor power: every column is a product of projections on random signs.

    Only of use for low degrees: the variance on the diagonal grows like 3 to the degree.

    Parameters
    ----------
    stream : Stream
        Where the signs come from.
    n_features, size, degree : int
        Columns of the input and of the sketch, and the power.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import ProductSketch
    >>> ProductSketch(Stream(0), n_features=3, size=8, degree=2).sketch(np.eye(3), np).shape
    (3, 8)
    """

    def __init__(self, stream: Stream, n_features: int, size: int, degree: int) -> None:
        self.size = size
        stream.reserve(degree * n_features * size, draws=degree)
        self._signs = [
            frozen(stream.child(k).generator().choice([-1.0, 1.0], (n_features, size)))
            for k in range(degree)
        ]

    def sketch(self, X: Any, xp: Any) -> Any:
        """Return the sketch of the power of the rows."""
        result = product(X, like(X, self._signs[0])) * self.size**-0.5
        for signs in self._signs[1:]:
            result = result * product(X, like(X, signs))
        return np.asarray(result) if isinstance(X, np.ndarray) else result
