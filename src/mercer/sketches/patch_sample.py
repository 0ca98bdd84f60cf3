"""A sample of the numbers of patches of images."""

from __future__ import annotations

import numpy as np

from .._array import frozen
from .._random import Stream
from .._registry import storable
from ..ops.patches import Picks, neighbours, run_length


@storable
class PatchSample:
    r"""A random choice from the patches of images that keeps their mean inner products.

    Every column takes one channel of one neighbour, where a :class:`PatchSketch` adds up all
    neighbours: with Q of them it reads a Q-th of the numbers. Columns are dealt out in equal
    shares to all neighbours, and to parts of the channels that have a meaning of their own;
    within a share channels follow each other, from a random one on. With :math:`C` channels in a
    part, S shares and m columns a number is multiplied by :math:`\sqrt{C S / (Q m)}`.

    Parameters
    ----------
    stream : Stream
        Where shares and channels come from.
    parts : tuple of int
        Channels of each part of an image, side by side.
    size : int
        Columns.
    filter_size, n_axes : int
        Taps along an axis, and the axes of a filter: 2 for images, 1 for signals.

    Examples
    --------
    >>> from mercer._random import Stream
    >>> from mercer.sketches import PatchSample
    >>> sample = PatchSample(Stream(0), parts=(8, 8), size=36, filter_size=3, n_axes=2)
    >>> sample.picks.scales.round(3)[:3]
    array([0.667, 0.667, 0.667])
    """

    def __init__(
        self, stream: Stream, parts: tuple[int, ...], size: int, filter_size: int, n_axes: int
    ) -> None:
        steps = np.asarray(neighbours(filter_size, n_axes), dtype=np.int32)
        n_shares = len(steps) * len(parts)
        stream.reserve(n_shares + size)
        generator = stream.generator()
        together = run_length(size, *parts)
        # Which shares get one run more, or any at all, is random.
        order = generator.permutation(n_shares)
        dealt = order[np.arange(size // together) % n_shares]
        counts = together * np.bincount(dealt, minlength=n_shares)
        starts = np.cumsum([0, *parts])
        places, scales = [], []
        for share, count in enumerate(counts.tolist()):
            tap, part = divmod(share, len(parts))
            width = parts[part]
            channels = _run(generator, width, count, together) % width + starts[part]
            down, right = steps[tap]
            places.append(np.stack([np.full(count, down), np.full(count, right), channels]))
            scales.append(np.full(count, (width * n_shares / (len(steps) * size)) ** 0.5))
        found = np.concatenate(places, axis=1).astype(np.int32)
        self.picks = Picks(frozen(found), frozen(np.concatenate(scales)), together)


def _run(generator: np.random.Generator, width: int, count: int, together: int) -> np.ndarray:
    """Return numbers that follow each other; beyond the width every turn begins somewhere else."""
    places = np.arange(count)
    begins = together * generator.integers(width // together, size=-(-count // width))
    run: np.ndarray = places + begins[places // width]
    return run
