"""Kernels of networks layer by layer: features of two kernels, and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ..._array import empty_like_library, floating_name
from ..._devices import has_fused_kernels
from ..._random import Stream
from ..._registry import storable
from ...kernels import ArcCosine
from ...kernels.series import nonnegative_fit
from ...ops.columns import join, join_times
from ...ops.norms import unit_rows
from ...sketches import ReluLayer, SeriesSketch, TensorSketch, terms_together


class LayerSizes(NamedTuple):
    """Columns of a layer: of Ψ (order 1), of Λ (order 0) and of the sketch of Λ ⊗ Φ."""

    relu: int
    step: int
    sketch: int


class _Layers(ABC):
    """The recursion Φ = [Ψ, sketch of Λ ⊗ Φ] over layers; a subclass makes Ψ and Λ.

    Parameters
    ----------
    stream : Stream
        Where everything comes from; layers are independent.
    n_features, depth : int
        Columns of the rows, and hidden layers.
    sizes : LayerSizes
        Columns of the parts of a layer.
    single : bool
        Whether one feature is wanted: that of the last layer and its sketch, added up.
    """

    def __init__(
        self, stream: Stream, n_features: int, depth: int, sizes: LayerSizes, single: bool
    ) -> None:
        self._n_relu = sizes.relu
        self._single = single
        self._products = []
        width = n_features
        for layer in range(depth):
            branch = stream.child("product", layer)
            # Λ of as many columns as the sketch keeps their places: a pass over them less.
            keeps_places = sizes.step == sizes.sketch
            self._products.append(
                TensorSketch(branch, (sizes.step, width), sizes.sketch, keeps_places)
            )
            width = sizes.relu + sizes.sketch
        # Of a single column both parts are the sum, with a random sign between them.
        self._sign = float(stream.child("sign").generator().choice([-1.0, 1.0]))
        #: Numbers that a row takes at most: features of two layers and their transforms.
        self.scratch: int = 3 * (sizes.relu + sizes.step) + 5 * sizes.sketch
        #: The same on an accelerator, which holds what it gets and what it makes at once.
        self.device_scratch: int = 4 * (sizes.relu + sizes.step) + 6 * sizes.sketch
        if depth == 1:
            self.device_scratch = 2 * (sizes.relu + sizes.step) + 5 * sizes.sketch

    @abstractmethod
    def _layer(self, number: int, psi: Any, xp: Any, out: Any) -> tuple[Any, Any]:
        """Return Ψ and Λ of a layer from Ψ of the one before."""

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows, in ``out`` if given."""
        if self._single:
            both = self._recursion(X, xp)
            return both[:, :1] * self._sign + both[:, 1:]
        return self._recursion(X, xp, out)

    def _recursion(self, X: Any, xp: Any, out: Any = None) -> Any:
        phi = psi = X
        last = len(self._products) - 1
        for number, product in enumerate(self._products):
            place = out if number == last else None
            psi, lam = self._layer(number, psi, xp, place)
            phi = join([psi, product.sketch([lam, phi], xp)], xp, place)
        return phi


@storable
class RandomLayers(_Layers):
    """Random features of the arc-cosine kernels in every layer (Han et al., Algorithm 1).

    Parameters
    ----------
    stream, n_features, depth, sizes, single
        As for all layers.
    improved, sampling, share
        As :class:`~mercer.sketches.ReluLayer` takes them.
    """

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        depth: int,
        sizes: LayerSizes,
        single: bool = False,
        *,
        improved: bool,
        sampling: str,
        share: bool,
    ) -> None:
        super().__init__(stream, n_features, depth, sizes, single)
        options: dict[str, Any] = {"improved": improved, "sampling": sampling, "share": share}
        self._layers = [
            ReluLayer(stream.child("layer", k), width, sizes.relu, sizes.step, **options)
            for k, width in enumerate([n_features] + [sizes.relu] * (depth - 1))
        ]

    def _layer(self, number: int, psi: Any, xp: Any, out: Any) -> tuple[Any, Any]:
        place = None if out is None else out[:, : self._n_relu]
        return self._layers[number].features(psi, xp, place)


@storable
class SketchLayers(_Layers):
    """Sketches of polynomials near the arc-cosine kernels in every layer (Zandieh et al.).

    They are sketches of powers of the cosine, so rows are brought to norm one first.

    Parameters
    ----------
    stream, n_features, depth, sizes, single
        As for all layers.
    degree : int
        The degree of the polynomials.
    """

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        depth: int,
        sizes: LayerSizes,
        single: bool = False,
        *,
        degree: int,
    ) -> None:
        super().__init__(stream, n_features, depth, sizes, single)
        step, relu = (nonnegative_fit(ArcCosine(order=order), degree) for order in (0, 1))
        self._layers = []
        for k, width in enumerate([n_features] + [sizes.relu] * (depth - 1)):
            branch = stream.child("layer", k)
            first = SeriesSketch(branch.child("relu"), width, sizes.relu, relu)
            # Sketches of powers cost the most; Ψ and Λ enter the result in different columns.
            second = SeriesSketch(branch.child("step"), width, sizes.step, step, powers=first)
            self._layers.append((first, second))
        self.scratch += max(part.scratch for part in self._layers[0])

    def _layer(self, number: int, psi: Any, xp: Any, out: Any) -> tuple[Any, Any]:
        unit, norms = unit_rows(psi, xp)
        place = None if out is None else out[:, : self._n_relu]
        lam = None
        if has_fused_kernels(psi):
            lam = empty_like_library(
                psi, (psi.shape[0], self._layers[number][1].size), floating_name(unit)
            )
        relu, step = terms_together(self._layers[number], unit, xp, (place, lam))
        return join_times(relu, norms, xp, place), join(step, xp, lam)


@storable
class ProcessLayers:
    """Random features of order 1, layer after layer."""

    scratch: int
    device_scratch: int

    def __init__(
        self, stream: Stream, n_features: int, depth: int, size: int, sampling: str
    ) -> None:
        self._layers = []
        for layer in range(depth):
            branch = stream.child("layer", layer)
            self._layers.append(
                ReluLayer(
                    branch, n_features, size, 0, improved=True, sampling=sampling, share=False
                )
            )
            n_features = size
        self.scratch = self.device_scratch = 3 * size

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of the last layer, in ``out`` if given."""
        for layer in self._layers:
            X, _ = layer.features(X, xp, out if layer is self._layers[-1] else None)
        return X


@storable
class OneShot:
    """A sketch of norms times a power series of the cosine, for any number of layers.

    Parameters
    ----------
    stream : Stream
        Where the sketch comes from.
    n_features, size : int
        Columns of the rows, and features.
    coefficients : array
        Of the series, none negative.
    """

    def __init__(
        self, stream: Stream, n_features: int, size: int, coefficients: np.ndarray
    ) -> None:
        self._sketch = SeriesSketch(stream, n_features, size, coefficients)
        self.scratch: int = self._sketch.scratch

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows, in ``out`` if given."""
        return self._sketch.sketch_by_angle(X, xp, out)
