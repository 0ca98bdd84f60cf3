"""Layers of random features: projections that are rectified, and gates for what was there."""

from __future__ import annotations

from typing import Any

from ..._array import like
from ..._devices import stored
from ..._random import Stream
from ..._registry import storable
from ...ops.gates import n_directions, relu_and_gated
from ...ops.products import product
from ...sketches import isotropic_projection
from .layers import ConvolutionalLayers, Network, Widths


@storable
class RandomLayers(ConvolutionalLayers):
    r"""Random features of the arc-cosine kernels in every layer.

    Ψ are antithetic ReLU features, :math:`\sqrt{2 / r}\,[\mathrm{ReLU}(W^\top s),
    \mathrm{ReLU}(-W^\top s)]` with orthogonal directions: the linear half of the kernel is exact.
    The deflated ones of :class:`ArcCosineFeatures` hold most of it in a few columns, of which
    sparse sketches and gates would make much noise. In Γ every column of t passes a step
    function of its own, :math:`\sqrt 2\, \mathrm{Step}(w_j \cdot s)\, t_j`: given s and t, its
    inner products have the mean :math:`\kappa_0 \langle t, t' \rangle`. Both use the same
    directions, so that a layer
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
        width = network.patch_width
        self._start = isotropic_projection(
            stream.child("tangent"), width, widths[0].tangent, "orthogonal"
        )
        self._directions = []
        for layer, own in enumerate(widths):
            size = n_directions(max(own.relu, own.tangent))
            branch = stream.child("layer", layer)
            self._directions.append(isotropic_projection(branch, width, size, "orthogonal"))
            width = own.relu

    def _tangent_columns(self, own: Widths) -> int:
        return own.tangent

    def _held(self, own: Widths) -> int:
        return own.both + n_directions(max(own.relu, own.tangent))

    def _first(self, patch: Any, xp: Any) -> Any:
        own = self._widths[0]
        Y = self._start.project(patch, xp) * own.tangent**-0.5
        P = self._directions[0].project(patch, xp)
        return relu_and_gated(stored(P), stored(Y), own.relu, xp)

    def _next(self, layer: int, s: Any, t: Any, xp: Any) -> Any:
        directions = stored(like(s, self._directions[layer].matrix))
        return relu_and_gated(product(s, directions), t, self._widths[layer].relu, xp)
