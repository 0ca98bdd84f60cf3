"""Layers of random features: projections that are activated, and slopes that let columns pass."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..._array import frozen, like
from ..._devices import stored
from ..._random import Stream
from ..._registry import storable
from ...ops.gates import Activation, activated, n_directions
from ...ops.norms import row_norms
from ...ops.patches import Picks, patches, run_length
from ...ops.products import product
from ...sketches import PatchSample, isotropic_projection
from .layers import ConvolutionalLayers, Network, Widths


@storable
class RandomLayers(ConvolutionalLayers):
    r"""Random features of the arc-cosine kernels in every layer.

    Ψ are antithetic ReLU features, :math:`\sqrt{2 / r}\,[\mathrm{ReLU}(W^\top s),
    \mathrm{ReLU}(-W^\top s)]` with orthogonal directions: the linear half of the kernel is exact.
    The deflated ones of :class:`ArcCosineFeatures` hold most of it in a few columns, of which
    sparse sketches and gates would make much noise. In Γ every column is one number of the patch
    of Φ of the layer before, which passes a step function of its own,
    :math:`\sqrt 2\, \mathrm{Step}(w_j \cdot s)\, t_j`: given s and t, its
    inner products have the mean :math:`\kappa_0 \langle t, t' \rangle`. Both use the same
    directions, so that a layer is one matrix product. A Hermite series in place of the ReLU has
    the series of its kernel, but for terms of the order of the inverse of the dimension, as all
    directions have one length.

    Parameters
    ----------
    stream, network, widths, single
        As for all layers.
    degree : int or None
        Of the Hermite series in place of the ReLU; ``None`` is the ReLU itself.
    """

    def __init__(
        self,
        stream: Stream,
        network: Network,
        widths: list[Widths],
        single: bool,
        degree: int | None = None,
    ) -> None:
        super().__init__(stream, network, widths, single)
        self._activation = Activation.of_degree(degree)
        width, columns = network.patch_width, widths[0].tangent
        self._start = isotropic_projection(stream.child("tangent"), width, columns, "orthogonal")
        # The first layer lets every column pass where it is.
        places = np.zeros((3, columns), dtype=np.int32)
        places[2] = np.arange(columns)
        scales = frozen(np.full(columns, columns**-0.5))
        self._picks = [Picks(frozen(places), scales, run_length(columns))]
        for layer, (before, own) in enumerate(pairwise(widths)):
            branch = stream.child("patches", layer).child("both")
            parts = before.relu, before.tangent
            about = own.tangent, network.filter_size, network.n_axes
            self._picks.append(PatchSample(branch, parts, *about).picks)
        self._directions = []
        for layer, own in enumerate(widths):
            size = n_directions(max(own.relu, own.tangent))
            branch = stream.child("layer", layer)
            self._directions.append(isotropic_projection(branch, width, size, "orthogonal"))
            width = own.relu

    def _held(self, own: Widths) -> int:
        return own.both + n_directions(max(own.relu, own.tangent))

    def _first(self, planes: Any, pooled: bool, xp: Any) -> Any:
        n, height, width, _ = planes.shape
        network = self._network
        patch = patches(planes, network.filter_size, network.n_axes, xp)
        Y = stored(self._start.project(patch, xp))
        P = stored(self._directions[0].project(patch, xp))
        return self._columns(0, patch, P, xp.reshape(Y, (n, height, width, -1)), pooled, xp)

    def _next(self, layer: int, planes: Any, pooled: bool, xp: Any) -> Any:
        s = self._of_relu[layer - 1].sketch(planes, xp)
        P = product(s, stored(like(s, self._directions[layer].matrix)))
        return self._columns(layer, s, P, planes, pooled, xp)

    def _columns(self, layer: int, s: Any, P: Any, planes: Any, pooled: bool, xp: Any) -> Any:
        norms = None if self._activation.is_relu else row_norms(s, xp)
        about = self._picks[layer], self._widths[layer].relu, self._activation, pooled
        return activated(P, norms, planes, *about, xp)
