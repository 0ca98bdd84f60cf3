"""Features of a product of kernels, each of some of the columns."""

from __future__ import annotations

import math
from functools import reduce
from numbers import Integral

import numpy as np
from sklearn.base import clone

from .._random import Stream
from .._sklearn import RANDOM_STATE, Interval
from ..kernels import OnColumns, Product
from ..ops.columns import columns_of
from ..sketches import TensorSketch
from .base import FeatureMap

#: Columns of a tensor product that nobody wants.
TOO_MANY = 100_000


class ProductFeatures(FeatureMap):
    r"""Features of :math:`k_1(x_S, y_S)\, k_2(x_T, y_T) \dots`, with a map for each factor.

    All products of a feature of the one and a feature of the other are the features of the
    product of the kernels: for places and times, a map of the sphere and one of the line.

    Parameters
    ----------
    maps : sequence of FeatureMap
        The maps of the factors.
    columns : sequence of sequences of int
        The columns that each of them gets.
    n_components : int or None, default=None
        Sketch the products to so many columns; ``None`` keeps them all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sketch, and of those maps.

    Attributes
    ----------
    kernel_ : Kernel
        The product of the exact kernels of the maps.
    maps_ : list of FeatureMap
        The maps, fitted to a sample of the rows.
    mean_kernel_ : Kernel
        The product of what the maps give on average.
    seed_ : int
        The seed of everything that was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, GegenbauerFeatures, RandomFourier
    >>> from mercer.features import ProductFeatures
    >>> X = np.random.default_rng(0).standard_normal((50, 4)) / 3
    >>> place = GegenbauerFeatures(Gaussian(1.0), n_components=60)
    >>> time = GegenbauerFeatures(Gaussian(1.0), n_components=8)
    >>> features = ProductFeatures([place, time], [[0, 1, 2], [3]], random_state=0)
    >>> Z = features.fit_transform(X)
    >>> bool(abs(Z @ Z.T - features.kernel_(X)).max() < 0.02)
    True
    """

    _parameter_constraints = {
        "maps": [list, tuple],
        "columns": [list, tuple],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, maps, columns, *, n_components=None, random_state=None):
        self.maps = maps
        self.columns = columns
        self.n_components = n_components
        self.random_state = random_state

    #: A recipe would have to hold those of the factors: a file keeps the map as it is.
    _by_recipe = False

    def _kernel(self):
        if len(self.maps) < 1 or len(self.maps) != len(self.columns):
            raise ValueError(
                f"maps and columns must have the same number of entries, but there are "
                f"{len(self.maps)} maps and {len(self.columns)} groups of columns."
            )
        for part in self.maps:
            if not isinstance(part, FeatureMap):
                raise TypeError(f"maps must hold feature maps, but {part!r} is none.")
        parts = zip(self.maps, self.columns, strict=True)
        return reduce(Product, [OnColumns(part._kernel(), list(own)) for part, own in parts])

    def _looks_at_rows(self, kernel):
        return True

    def _learn(self, summary):
        stream = Stream(self.seed_).child("factors")
        self.maps_ = []
        for k, (part, own) in enumerate(zip(self.maps, self.columns, strict=True)):
            drawn = clone(part)
            if "random_state" in drawn.get_params(deep=False):
                seed = int(stream.child(k).generator().integers(2**32))
                drawn.set_params(random_state=seed)
            self.maps_.append(drawn.fit(columns_of(summary.sample, own, np)))

    def _draw(self, stream, n_features_in):
        kernels = [getattr(part, "mean_kernel_", part.kernel_) for part in self.maps_]
        own = [OnColumns(k, list(c)) for k, c in zip(kernels, self.columns, strict=True)]
        drawn = {"mean_kernel_": reduce(Product, own), "sketch_": None}
        widths = [part._n_features_out for part in self.maps_]
        if self.n_components is not None:
            drawn["sketch_"] = TensorSketch(stream.child("sketch"), widths, self.n_components)
        elif math.prod(widths) > TOO_MANY:
            sizes = " times ".join(f"{width:,}" for width in widths)
            raise ValueError(
                f"All products of {sizes} features would be {math.prod(widths):,} columns; give "
                "n_components to sketch them, or smaller maps."
            )
        return drawn

    def _unbiased(self):
        return all(part._unbiased() for part in self.maps)

    def _is_random(self):
        return self.sketch_ is not None or any(part._is_random() for part in self.maps_)

    def _scratch(self):
        widths = [part._n_features_out for part in self.maps_]
        return sum(widths + [part._scratch() for part in self.maps_]) + 4 * (
            self.n_components or math.prod(widths)
        )

    def _probe(self, row):
        pairs = zip(self.maps_, self.columns, strict=True)
        parts = [part._probe(row[list(own)])[None, :] for part, own in pairs]
        return self._joined(parts, np)[0]

    def _map(self, X, xp, out=None):
        pairs = zip(self.maps_, self.columns, strict=True)
        return self._joined([part._map(columns_of(X, own, xp), xp) for part, own in pairs], xp)

    def _joined(self, parts, xp):
        if self.sketch_ is not None:
            return self.sketch_.sketch(parts, xp)
        return reduce(lambda left, right: _products(left, right, xp), parts)


def _products(left, right, xp):
    """Return all products of a column of the one and a column of the other."""
    return xp.reshape(left[:, :, None] * right[:, None, :], (left.shape[0], -1))
