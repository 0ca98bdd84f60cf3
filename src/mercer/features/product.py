"""Features of a product of kernels, each of some of the columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from .._random import Stream
from .._registry import storable
from .._sklearn import RANDOM_STATE, Interval
from ..kernels import Kernel, OnColumns, Product
from ..kernels.lengthscale import RowSummary
from ..ops.columns import column_products, columns_of
from ..sketches import TensorSketch
from .base import FeatureMap
from .rows_seen import LearnsFromRows
from .traits import MapTraits, RowGuard

#: The most columns of a tensor product that is not sketched.
TOO_MANY = 100_000


@storable
class ProductFeatures(LearnsFromRows, FeatureMap):
    r"""Features of :math:`k_1(x_S, y_S)\, k_2(x_T, y_T) \dots`, with a map for each factor.

    All products of a feature of the one and a feature of the other are the features of the
    product of the kernels: for coordinates and times, a map of the sphere and one of the line.

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

    maps_: list[FeatureMap]
    mean_kernel_: Kernel
    sketch_: TensorSketch | None

    _parameter_constraints: dict[str, Any] = {
        "maps": [list, tuple],
        "columns": [list, tuple],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": RANDOM_STATE,
    }
    learned: ClassVar[tuple[str, ...]] = ("maps_",)

    def __init__(
        self,
        maps: Sequence[FeatureMap],
        columns: Sequence[Sequence[int]],
        *,
        n_components: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.maps = maps
        self.columns = columns
        self.n_components = n_components
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        if len(self.maps) < 1 or len(self.maps) != len(self.columns):
            raise ValueError(
                f"maps and columns must have the same number of entries, got {len(self.maps)} "
                f"maps and {len(self.columns)} groups of columns."
            )
        for part in self.maps:
            if not isinstance(part, FeatureMap):
                raise TypeError(f"maps must hold feature maps, got {part!r}.")
        parts = zip(self.maps, self.columns, strict=True)
        return _product([OnColumns(part.target_kernel(), list(own)) for part, own in parts])

    def learn_from(self, summary: RowSummary) -> dict[str, Any]:
        """Return the maps, fitted to a sample of the rows."""
        stream = Stream(self.seed_).child("factors")
        found = []
        for k, (part, own) in enumerate(zip(self.maps, self.columns, strict=True)):
            drawn = clone(part)
            if "random_state" in drawn.get_params(deep=False):
                seed = int(stream.child(k).generator().integers(2**32))
                drawn.set_params(random_state=seed)
            found.append(drawn.fit(columns_of(summary.sample, own, np)))
        return {"maps_": found}

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        kernels = [getattr(part, "mean_kernel_", part.kernel_) for part in self.maps_]
        own = [OnColumns(k, list(c)) for k, c in zip(kernels, self.columns, strict=True)]
        widths = [part.n_features_out_ for part in self.maps_]
        sketch = None
        if self.n_components is not None:
            sketch = TensorSketch(stream.child("sketch"), widths, self.n_components)
        elif math.prod(widths) > TOO_MANY:
            sizes = " times ".join(f"{width:,}" for width in widths)
            raise ValueError(
                f"All products of {sizes} features would be {math.prod(widths):,} columns; give "
                "n_components to sketch them, or smaller maps."
            )
        traits = self._traits([part.traits_ for part in self.maps_], widths)
        return {"mean_kernel_": _product(own), "sketch_": sketch, "traits_": traits}

    def _traits(self, parts: list[MapTraits], widths: list[int]) -> MapTraits:
        joined = self.n_components or math.prod(widths)
        pairs = zip(parts, self.columns, strict=True)
        guards = [(part.guard, list(own)) for part, own in pairs if part.guard is not None]
        return MapTraits(
            unbiased=all(part.unbiased for part in parts),
            random=self.n_components is not None or any(part.random for part in parts),
            scratch=sum(widths) + sum(part.scratch for part in parts) + 4 * joined,
            # A recipe would have to hold those of the factors: a file keeps the map as it is.
            by_recipe=False,
            guard=ColumnGuards(guards) if guards else None,
        )

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        pairs = zip(self.maps_, self.columns, strict=True)
        parts = [part.map_block(columns_of(X, own, xp), xp) for part, own in pairs]
        if self.sketch_ is not None:
            return self.sketch_.sketch(parts, xp)
        return reduce(lambda left, right: column_products(left, right, xp), parts)


@storable
@dataclass(frozen=True)
class ColumnGuards:
    """What each of several maps expects of its own columns.

    Attributes
    ----------
    guards : list of pairs of RowGuard and list of int
        The guards, and the columns that each of them looks at.
    """

    guards: list[tuple[RowGuard, list[int]]]

    def inspect(self, block: Any, xp: Any) -> list[Any]:
        """Return what each guard has found in a block."""
        return [guard.inspect(columns_of(block, own, xp), xp) for guard, own in self.guards]

    def conclude(self, findings: list[Any]) -> None:
        """Let each guard warn about what it has found."""
        for (guard, _), found in zip(self.guards, zip(*findings, strict=True), strict=True):
            guard.conclude(list(found))


def _product(kernels: Sequence[Kernel]) -> Kernel:
    return reduce(Product, kernels)
