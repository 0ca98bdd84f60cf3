"""CountSketch: columns are added up in random places with random signs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._array import frozen, is_numpy, is_sparse, like
from .._random import Stream
from .._registry import storable
from ..ops.count_sketch import Gathering, count_sketch, gathered_sketch, gathering
from ..ops.products import densified


@storable
class CountSketch:
    r"""A random linear map to ``size`` columns that keeps inner products in expectation.

    Every column j of the input is added to column h(j) with sign s(j). For two rows with
    :math:`N = \|x\|^2 \|y\|^2`, :math:`t = \langle x, y \rangle` and
    :math:`q = \sum_i x_i^2 y_i^2`, the variance of the inner product of their sketches is
    :math:`(N + t^2 - 2q) / m`.

    Parameters
    ----------
    stream : Stream
        Where places and signs come from.
    n_features, size : int
        Columns of the input and of the sketch.
    keeps_places : bool, default=False
        Whether columns only change signs, and h(j) = j. Then nothing is added up, and the sketch is
        for one factor of a tensor product only, whose other factors have places at random: two
        products that differ in another factor still meet with probability 1 / m, those that
        differ in this one alone never do.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import CountSketch
    >>> sketch = CountSketch(Stream(0), n_features=1000, size=64)
    >>> X = np.random.default_rng(0).standard_normal((2, 1000))
    >>> sketch.sketch(X, np).shape
    (2, 64)
    """

    n_features: int
    size: int
    keeps_places: bool

    def __init__(
        self, stream: Stream, n_features: int, size: int, keeps_places: bool = False
    ) -> None:
        if keeps_places and n_features > size:
            raise ValueError(f"{n_features} columns cannot keep their places among {size}.")
        stream.reserve((1 if keeps_places else 2) * n_features)
        generator = stream.generator()
        self.n_features, self.size, self.keeps_places = n_features, size, keeps_places
        places = (
            np.arange(n_features) if keeps_places else generator.integers(size, size=n_features)
        )
        self.places: np.ndarray = frozen(places)
        self.signs: np.ndarray = frozen(generator.choice([-1.0, 1.0], n_features))

    def sketch(self, X: Any, xp: Any) -> Any:
        """Return the sketch of a block of rows, dense or CSR."""
        if self.keeps_places and self.n_features == self.size and not is_sparse(X):
            return X * like(X, self.signs)
        X = densified(X) if is_sparse(X) else X
        if not is_numpy(X):
            return gathered_sketch(X, self._gathering, self.size, xp)
        X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        return count_sketch(X, self.places, self.signs, self.size)

    def on_device(self, X: Any) -> Any:
        """Return the sketch from the side of its places, for the fused kernels of a library."""
        from ..ops._cuda.convolution import Gathered

        found = self._gathering
        starts, columns = like(X, found.starts), like(X, found.columns)
        return Gathered(starts, columns, like(X, found.signs))

    @cached_property
    def spectrum(self) -> np.ndarray:
        """The matrix that takes rows to the real and the imaginary parts of their spectra.

        Both have some columns more than there are frequencies: products of odd widths are slow.
        """
        frequencies = np.arange(-(-(self.size // 2 + 1) // 8) * 8)
        angles = 2 * np.pi / self.size * np.outer(self.places, frequencies)
        parts = np.cos(angles), -np.sin(angles)
        return frozen(self.signs[:, None] * np.concatenate(parts, axis=1))

    @cached_property
    def _gathering(self) -> Gathering:
        return gathering(self.places, self.signs, self.size)
