"""A sparse sketch of patches of images: signed sums of shifted channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen
from .._random import Stream
from .._registry import storable
from ..ops.patches import Taps, neighbours, run_length, tapped


@storable
class PatchSketch:
    r"""A random linear map of the patches of an image that keeps their mean inner products.

    Every column takes one channel of each neighbour, times a random sign, or several channels
    where there are more than columns. Channels follow each other from column to column, from a
    random one on, so that all of them count the same: with Q neighbours the sketch of an image u
    is :math:`Q^{-1/2} \sum_a s_a \circ \mathrm{roll}(u_{p + a}, c_a)`. With as many columns as
    channels the terms of the same neighbour are exact in the inner product of two sketches; with
    :math:`t_a = \langle u_a, u'_a \rangle` its variance, from mixed terms alone, is

    .. math::
        \frac{1}{Q^2 m} \sum_{a < b} \left( \|u_a\|^2 \|u'_b\|^2 + \|u_b\|^2 \|u'_a\|^2
        + 2\, t_a t_b \right),

    a little less than that of a :class:`CountSketch` of the patch; and channels are read in order.

    Parameters
    ----------
    stream : Stream
        Where shifts and signs come from.
    n_channels, size : int
        Channels of the images, and columns of the sketch.
    filter_size, n_axes : int
        Taps along an axis, and the axes of a filter: 2 for images, 1 for signals.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import PatchSketch
    >>> sketch = PatchSketch(Stream(0), n_channels=16, size=16, filter_size=3, n_axes=2)
    >>> sketch.sketch(np.ones((2, 5, 4, 16)), np).shape
    (40, 16)
    """

    n_channels: int
    size: int

    def __init__(
        self, stream: Stream, n_channels: int, size: int, filter_size: int, n_axes: int
    ) -> None:
        steps = neighbours(filter_size, n_axes)
        folds = max(1, round(n_channels / size))
        n_taps = folds * len(steps)
        stream.reserve(n_taps * (size + 1))
        generator = stream.generator()
        turns = -(-size // n_channels)
        places = np.arange(size)
        together = run_length(n_channels, size)
        columns = np.empty((n_taps, size), dtype=np.int32)
        # Neighbours begin at different channels, if there are enough: large ones shall not meet.
        slots = n_channels // together
        starts = together * np.stack(
            [generator.choice(slots, len(steps), slots < len(steps)) for _ in range(turns)], axis=1
        )
        for tap in range(n_taps):
            # Beyond as many columns as channels every turn begins somewhere else.
            step, fold = divmod(tap, folds)
            shifted = starts[step, places // n_channels] + fold * size + places
            columns[tap] = shifted % n_channels
        signs = generator.choice([-1.0, 1.0], (n_taps, size))
        scale = (n_channels / (n_taps * size)) ** 0.5
        self.n_channels, self.size = n_channels, size
        #: What each column takes.
        self.taps = Taps(
            n_channels,
            frozen(np.repeat(np.asarray(steps, dtype=np.int32), folds, axis=0)),
            frozen(columns),
            frozen(signs * scale),
            together,
        )

    def sketch(self, images: Any, xp: Any) -> Any:
        """Return the sketch of the patch of every position, as rows.

        Parameters
        ----------
        images : array of shape (n, height, width, n_channels or more)
            Images; signals have height 1. Channels beyond those of the sketch are ignored.

        Returns
        -------
        sketches : array of shape (n * height * width, size)
        """
        return tapped(images, self.taps, xp)
