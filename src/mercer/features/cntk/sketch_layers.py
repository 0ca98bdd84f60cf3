"""Layers of polynomial sketches: series near the arc-cosine functions, and tensor sketches."""

from __future__ import annotations

from typing import Any

from ..._random import Stream
from ..._registry import storable
from ...kernels import ArcCosine
from ...kernels.series import nonnegative_fit
from ...ops.norms import unit_rows
from ...sketches import SeriesSketch, TensorSketch
from .layers import ConvolutionalLayers, Network, Widths


@storable
class SketchLayers(ConvolutionalLayers):
    """Sketches of polynomials near the arc-cosine functions in every layer (Zandieh et al.).

    Patches are brought to norm one first, as the powers that are sketched are those of the
    cosine. Γ is a tensor sketch of t and of the features of order 0.

    Parameters
    ----------
    stream, network, widths, single
        As for all layers.
    degree : int
        The degree of the polynomials.
    """

    def __init__(
        self, stream: Stream, network: Network, widths: list[Widths], single: bool, degree: int
    ) -> None:
        super().__init__(stream, network, widths, single)
        step, relu = (nonnegative_fit(ArcCosine(order=order), degree) for order in (0, 1))
        self._relu: list[SeriesSketch | None] = []
        self._step, self._products = [], []
        width = tangent = network.patch_width
        for layer, own in enumerate(widths):
            branch = stream.child("layer", layer)
            self._step.append(SeriesSketch(branch.child("step"), width, own.tangent, step))
            made = SeriesSketch(branch.child("relu"), width, own.relu, relu) if own.relu else None
            self._relu.append(made)
            factors = own.tangent, tangent
            self._products.append(TensorSketch(branch.child("product"), factors, own.tangent))
            width = own.relu
            tangent = widths[min(layer + 1, len(widths) - 1)].tangent

    def _tangent_columns(self, own: Widths) -> int:
        return own.tangent

    def _held(self, own: Widths) -> int:
        return 2 * own.both + own.tangent + 6 * max(own.relu, own.tangent)

    def _first(self, patch: Any, xp: Any) -> Any:
        return self._next(0, patch, patch, xp)

    def _next(self, layer: int, s: Any, t: Any, xp: Any) -> Any:
        unit, norms = unit_rows(s, xp)
        step = self._step[layer].sketch(unit, xp)
        # A zero patch has zero features of either order.
        tangent = self._products[layer].sketch([step, t], xp)
        relu = self._relu[layer]
        if relu is None:
            return tangent
        return xp.concat([relu.sketch(unit, xp) * norms[:, None], tangent], axis=1)
