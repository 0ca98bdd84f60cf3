"""The kernel of wide convolutional networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from .._array import dtype_name, empty_like_library, is_numpy, joined_rows
from .._registry import storable
from .._settings import settings
from .._sklearn import Interval, StrOptions
from ..engine.blocks import cut
from ..engine.tiles import Effort
from ..ops.cntk import Network, cntk_diagonal, cntk_of_pairs, fill_cntk, patches_of
from ..ops.images import (
    SIGNALS,
    as_images,
    as_rows,
    checked_filter_size,
    checked_image_shape,
    image_shape_of,
    mirror_images,
)
from .base import Kernel

#: Multiplications of an entry in a layer: its angle, and two sums over patches.
ENTRY = 50
#: float64 numbers that the formulas of array libraries hold for each entry of a pair.
COPIES = 20
#: Pairs that are computed together, at most.
MOST_PAIRS = 2**16


@storable
class CNTK(Kernel):
    r"""The neural tangent kernel of a convolutional ReLU network of infinite width.

    The network has ``depth`` convolutional layers with square filters, stride 1 and zeros around
    the image; each is followed by a ReLU. A linear layer reads the mean of all positions
    (``pooling="gap"``), or every position with weights of its own. With
    :math:`(M A)_{p p'}` the mean of :math:`A_{p + a,\, p' + a}` over the :math:`Q` taps
    :math:`a` of a filter, and :math:`\kappa_0, \kappa_1` the arc-cosine functions,

    .. math::
        S = T = M(x x'^\top), \quad N = M(\|x\|^2); \qquad
        U = \sqrt{N N'}\, \kappa_1\!\left(S / \sqrt{N N'}\right), \quad
        T \leftarrow \kappa_0 T + U

    in each layer, and :math:`S = M(U)`, :math:`T \leftarrow M(T)`, :math:`N \leftarrow M(N)`
    between layers. The kernel is the mean of all entries of :math:`T`, or, without pooling, the
    sum of its diagonal. For images of one pixel it is :class:`NTK`.

    Parameters
    ----------
    depth : int, default=3
        The number of convolutional layers.
    filter_size : int, default=3
        Taps of a filter along an axis, an odd number.
    pooling : {"gap"} or None, default="gap"
        Global average pooling, or none. With pooling a pair of images of P pixels takes
        P² entries in each layer; without, P.
    train_readout : bool, default=True
        Whether the last, linear layer is trained, too.
    image_shape : tuple of int, default=None
        The (height, width, channels) of images, or (length, channels) of signals, that rows
        hold. ``None`` reads it off batches of 4 or 3 dimensions.
    mirrored : bool, default=False
        Whether an image and its mirror image, left and right exchanged, are the same thing: the
        kernel is the mean of that with the other image and that with its mirror image.

    References
    ----------
    .. [1] S. Arora, S. Du, W. Hu, Z. Li, R. Salakhutdinov and R. Wang, "On exact computation
       with an infinitely wide neural net", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CNTK
    >>> images = np.random.default_rng(0).standard_normal((3, 8, 8, 1))
    >>> CNTK(depth=2)(images).round(3)
    array([[0.404, 0.432, 0.419],
           [0.432, 0.489, 0.462],
           [0.419, 0.462, 0.469]])

    Flattened rows, as machines take them, need the shape:

    >>> rows = images.reshape(3, -1)
    >>> CNTK(depth=2, image_shape=(8, 8, 1))(rows[:1], rows[1:]).round(3)
    array([[0.432, 0.419]])
    """

    _parameter_constraints: dict[str, Any] = {
        "depth": [Interval(Integral, 1, None, closed="left")],
        "filter_size": [Interval(Integral, 1, None, closed="left")],
        "pooling": [StrOptions({"gap"}), None],
        "train_readout": ["boolean"],
        "image_shape": [tuple, list, None],
        "mirrored": ["boolean"],
    }

    def __init__(
        self,
        depth: int = 3,
        filter_size: int = 3,
        pooling: str | None = "gap",
        train_readout: bool = True,
        image_shape: Sequence[int] | None = None,
        mirrored: bool = False,
    ) -> None:
        self.depth = depth
        self.filter_size = filter_size
        self.pooling = pooling
        self.train_readout = train_readout
        self.image_shape = image_shape
        self.mirrored = mirrored

    def as_rows(self, X: Any, name: str = "X") -> tuple[Any, Kernel]:
        """Return images as rows of pixels, and this kernel with their shape."""
        checked_filter_size(self.filter_size)
        if getattr(X, "ndim", 2) < SIGNALS:
            if self.image_shape is not None:
                checked_image_shape(self.image_shape)
            return X, self
        shape = image_shape_of(X, self.image_shape, name)
        return as_rows(X), clone(self).set_params(image_shape=shape)

    def _network(self) -> Network:
        size = checked_filter_size(self.filter_size)
        return Network(self.depth, size, self.pooling is not None, self.train_readout)

    def _effort(self, X: Any) -> Effort:
        known = self.image_shape is not None
        shape = checked_image_shape(self.image_shape) if known else image_shape_of(X)
        positions = math.prod(shape[:-1])
        entries = positions**2 if self.pooling else positions
        # Channels and norms of both images, and of the second one as it is rolled.
        planes = 3 * (shape[-1] + 2 * self.depth)
        entries *= 2 if self.mirrored else 1
        return Effort(entries * (shape[-1] + ENTRY * self.depth), planes * positions)

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        network = self._network()
        images = as_images(X, self.image_shape)
        left = patches_of(images, network, xp)
        right = left if X is Y else patches_of(as_images(Y, self.image_shape, "Y"), network, xp)
        shape = X.shape[0], Y.shape[0]
        tile = empty_like_library(left.pixels, shape, "float64") if out is None else out
        pairs = self._pairs_at_once(images)
        fill_cntk(left, right, network, pairs, xp, tile)
        if self.mirrored:
            other = empty_like_library(left.pixels, shape, dtype_name(tile))
            right = patches_of(mirror_images(as_images(Y, self.image_shape, "Y")), network, xp)
            fill_cntk(left, right, network, pairs, xp, other)
            tile[...] = 0.5 * tile + 0.5 * other
        return tile

    def _diag(self, X: Any, xp: Any) -> Any:
        network, images = self._network(), as_images(X, self.image_shape)
        step = max(1, self._pairs_at_once(images))
        parts = []
        for start, stop in cut(X.shape[0], step):
            some = images[start:stop, ...]
            part = cntk_diagonal(some, network, xp)
            if self.mirrored:
                left, right = (patches_of(x, network, xp) for x in (some, mirror_images(some)))
                places = np.arange(stop - start)
                part = 0.5 * (part + cntk_of_pairs(left, right, places, places, network, xp))
            parts.append(part)
        return joined_rows(parts)

    def _pairs_at_once(self, images: Any) -> int:
        """Return how many pairs of images the budget allows, or say that it allows none."""
        if is_numpy(images):
            # Compiled loops hold a set of entries, not all of them.
            return MOST_PAIRS
        positions = math.prod(images.shape[1:-1])
        one = 8 * COPIES * (positions**2 if self.pooling else positions)
        memory = settings().memory
        if memory < one:
            raise ValueError(
                f"memory={memory} bytes is too small: a pair of images of {positions} positions "
                f"takes {one}; raise the budget with mercer.set_config(memory={one})."
            )
        return min(MOST_PAIRS, memory // one)
