"""Layers of random features: projections that are rectified, and gates for what was there."""

from __future__ import annotations

from typing import Any

from ..._array import like
from ..._devices import stored
from ..._random import Stream
from ..._registry import storable
from ...ops import arccosine
from ...ops.columns import join
from ...ops.gates import n_directions, relu_and_gated
from ...ops.norms import row_norms
from ...ops.products import product
from ...sketches import isotropic_projection
from .layers import ConvolutionalLayers, Network, Widths


@storable
class RandomLayers(ConvolutionalLayers):
    r"""Random features of the arc-cosine kernels in every layer.

    Ψ are antithetic ReLU features, :math:`\sqrt{2 / r}\,[\mathrm{ReLU}(W^\top s),
    \mathrm{ReLU}(-W^\top s)]` with orthogonal directions, and in the first layer, where patches are
    narrow, deflated ones. In Γ every column of t passes a step function of its own,
    :math:`\sqrt 2\, \mathrm{Step}(w_j \cdot s)\, t_j`: given s and t, its inner products have
    the mean :math:`\kappa_0 \langle t, t' \rangle`. Both use the same directions, so that a layer
    is one matrix product.

    Parameters
    ----------
    stream, network, widths, single
        As for all layers.
    """

    def __init__(
        self, stream: Stream, network: Network, widths: list[Widths], single: bool
    ) -> None:
        super().__init__(stream, network, widths, single)
        width, first = network.patch_width, widths[0]
        # The first layer has its Ψ deflated where that pays, as in ArcCosineFeatures.
        self._deflated = first.relu >= 1.25 * (width + 1)
        self._n_relu = first.relu - width - 1 if self._deflated else n_directions(first.relu)
        self._mean = arccosine.mean_projection(width)
        self._start = isotropic_projection(
            stream.child("tangent"), width, first.tangent, "orthogonal"
        )
        self._directions = []
        for layer, own in enumerate(widths):
            relu = n_directions(own.relu) if layer else self._n_relu
            size = max(relu, n_directions(own.tangent))
            branch = stream.child("layer", layer)
            self._directions.append(isotropic_projection(branch, width, size, "orthogonal"))
            width = own.relu

    def _tangent_columns(self, own: Widths) -> int:
        return own.tangent

    def _held(self, own: Widths) -> int:
        return own.both + max(own.relu, n_directions(own.both))

    def _first(self, patch: Any, xp: Any) -> Any:
        own = self._widths[0]
        P = self._directions[0].project(patch, xp)
        Y = self._start.project(patch, xp) * own.tangent**-0.5
        if not self._deflated:
            return stored(relu_and_gated(P, Y, own.relu, xp))
        norms = row_norms(patch, xp)
        relu = arccosine.deflated_relu(patch, norms, P[:, : self._n_relu], self._mean, xp)
        return stored(join([relu, relu_and_gated(P, Y, 0, xp)], xp))

    def _next(self, layer: int, s: Any, t: Any, xp: Any) -> Any:
        directions = stored(like(s, self._directions[layer].matrix))
        return relu_and_gated(product(s, directions), t, self._widths[layer].relu, xp)
