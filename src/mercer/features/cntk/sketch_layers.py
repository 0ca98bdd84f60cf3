"""Layers of polynomial sketches: series near the arc-cosine functions, and tensor sketches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..._array import floating_name
from ..._random import Stream
from ..._registry import storable
from ...kernels import ArcCosine
from ...kernels.series import nonnegative_fit
from ...ops.norms import unit_rows
from ...ops.patches import patches
from ...sketches import PatchSketch, SeriesSketch, TensorSketch
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
        self._of_both = [
            PatchSketch(
                stream.child("patches", layer).child("both"),
                *(before.both, own.tangent, network.filter_size, network.n_axes),
            )
            for layer, (before, own) in enumerate(pairwise(widths))
        ]
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

    def _held(self, own: Widths) -> int:
        return 2 * own.both + 2 * own.tangent + 6 * max(own.relu, own.tangent)

    def _first(self, planes: Any, pooled: bool, xp: Any) -> Any:
        network = self._network
        patch = patches(planes, network.filter_size, network.n_axes, xp)
        return self._columns(0, patch, patch, planes.shape[:3], pooled, xp)

    def _next(self, layer: int, planes: Any, pooled: bool, xp: Any) -> Any:
        s, t = (
            self._of_relu[layer - 1].sketch(planes, xp),
            self._of_both[layer - 1].sketch(planes, xp),
        )
        return self._columns(layer, s, t, planes.shape[:3], pooled, xp)

    def _columns(
        self, layer: int, s: Any, t: Any, shape: tuple[int, ...], pooled: bool, xp: Any
    ) -> Any:
        """Return the columns of a layer, from sketches of patches of Ψ and of Φ."""
        unit, norms = unit_rows(s, xp)
        step = self._step[layer].sketch(unit, xp)
        # A zero patch has zero features of either order.
        phi = self._products[layer].sketch([step, t], xp)
        relu = self._relu[layer]
        if relu is not None:
            phi = xp.concat([relu.sketch(unit, xp) * norms[:, None], phi], axis=1)
        if not pooled:
            return xp.reshape(phi, (*shape, phi.shape[1]))
        by_image = xp.reshape(phi, (shape[0], -1, phi.shape[1]))
        total = xp.sum(by_image, axis=1, dtype=getattr(xp, floating_name(phi)))
        return total / by_image.shape[1]
