"""Layers of a convolutional network as features: what both methods share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..._array import floating_name, frozen, like
from ..._random import Stream
from ..._registry import storable
from ...ops.images import as_images
from ...ops.patches import as_planes
from ...sketches import PatchSketch


@storable
@dataclass(frozen=True)
class Network:
    """A convolutional network and the images that it sees.

    Attributes
    ----------
    image_shape : tuple of int
        (height, width, channels), or (length, channels).
    depth, filter_size : int
        Layers, and taps of a filter along an axis.
    pooling : bool
        Whether the mean of all positions is read.
    """

    image_shape: tuple[int, ...]
    depth: int
    filter_size: int
    pooling: bool

    @property
    def n_axes(self) -> int:
        """The axes of a filter."""
        return len(self.image_shape) - 1

    @property
    def n_positions(self) -> int:
        """The positions of an image."""
        return math.prod(self.image_shape[:-1])

    @property
    def patch_width(self) -> int:
        """The numbers of a patch of the image itself."""
        return int(self.filter_size**self.n_axes * self.image_shape[-1])


@storable
@dataclass(frozen=True)
class Widths:
    """Columns of a layer at each position: Ψ, of order 1, and Γ, the product with the tangent."""

    relu: int
    tangent: int

    @property
    def both(self) -> int:
        """All columns."""
        return self.relu + self.tangent


class ConvolutionalLayers(ABC):
    r"""The recursion Φ = [Ψ, Γ] over layers, at every position of an image.

    With s a sketch of the patch of Ψ, and t one of the patch of Φ of the layer before, Ψ has the
    kernel of order 1 of s, and Γ that of order 0 of s times the inner product of t. All
    positions have the same sketches. A subclass makes Ψ and Γ.

    Parameters
    ----------
    stream : Stream
        Where everything comes from; layers are independent.
    network : Network
        The network.
    widths : list of Widths
        Of each layer.
    single : bool
        Whether one feature is wanted: that of Ψ and of Γ, added up with a random sign.
    """

    def __init__(
        self, stream: Stream, network: Network, widths: list[Widths], single: bool
    ) -> None:
        self._network, self._widths, self._single = network, widths, single
        self._of_relu = [
            PatchSketch(
                stream.child("patches", layer).child("relu"),
                *(before.relu, before.relu, network.filter_size, network.n_axes),
            )
            for layer, before in enumerate(widths[:-1])
        ]
        self._sign = float(stream.child("sign").generator().choice([-1.0, 1.0]))
        self._places, self._signs = np.empty(0), np.empty(0)
        if not network.pooling:
            self._places, self._signs = _joint(
                stream.child("positions"), network.n_positions, widths[-1].both
            )
        #: Numbers that an image takes at most.
        self.scratch: int = network.n_positions * max(
            2 * network.patch_width + self._held(widths[0]),
            *(before.both + before.relu + self._held(own) for before, own in pairwise(widths)),
            0,
        )

    @abstractmethod
    def _held(self, own: Widths) -> int:
        """Return how many numbers a layer holds at a position, its result included."""

    @abstractmethod
    def _first(self, planes: Any, pooled: bool, xp: Any) -> Any:
        """Return Ψ and Γ of the first layer side by side, from the images."""

    @abstractmethod
    def _next(self, layer: int, planes: Any, pooled: bool, xp: Any) -> Any:
        """Return Ψ and Γ of a further layer side by side, from those of the layer before.

        Where ``pooled`` says so, their means over the positions of each image.
        """

    def features(self, X: Any, xp: Any) -> Any:
        """Return the features of a block of rows."""
        network, dtype = self._network, getattr(xp, floating_name(X))
        last = len(self._widths) - 1
        planes = as_planes(as_images(X, network.image_shape), xp)
        found = self._first(planes, network.pooling and last == 0, xp)
        for layer in range(1, last + 1):
            found = self._next(layer, found, network.pooling and layer == last, xp)
        if not network.pooling:
            found = self._joined(xp.reshape(found, (X.shape[0], -1)), xp, dtype)
        if self._single:
            return found[:, :1] * self._sign + found[:, 1:]
        return found

    def _joined(self, phi: Any, xp: Any, dtype: Any) -> Any:
        """Return the features of all positions, added up with random signs and shifts."""
        signs, size = like(phi, self._signs), self._widths[-1].both
        shifted = xp.take(phi, like(phi, self._places), axis=1) * signs
        shape = phi.shape[0], self._network.n_positions, size
        return xp.sum(xp.reshape(shifted, shape), axis=1, dtype=dtype)


def _joint(stream: Stream, n_positions: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which column of which position is added to each column, and signs."""
    stream.reserve(n_positions * (size + 1))
    generator = stream.generator()
    shifts = generator.integers(size, size=(n_positions, 1))
    places = np.arange(n_positions)[:, None] * size + (np.arange(size) + shifts) % size
    signs = generator.choice([-1.0, 1.0], n_positions * size)
    return frozen(places.ravel()), frozen(signs)
