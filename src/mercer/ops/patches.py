"""Patches of images: the neighbours of every position side by side, and sketches of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from .._array import is_numpy, like
from .._devices import has_fused_kernels
from .._registry import storable
from .images import IMAGES


@storable
@dataclass(frozen=True)
class Taps:
    """A sparse sketch of patches: what each of its columns takes from each neighbour.

    Attributes
    ----------
    n_channels : int
        How many channels are taken from: the first ones, if an image has more.
    offsets : int32 array of shape (n_taps, 2)
        Which neighbour, as steps down and to the right.
    columns : int32 array of shape (n_taps, size)
        Which channel of it.
    signs : array of shape (n_taps, size)
        Times what.
    together : int
        Channels come in runs of so many, each of which begins at a multiple of this number.
    """

    n_channels: int
    offsets: np.ndarray
    columns: np.ndarray
    signs: np.ndarray
    together: int = 1


@storable
@dataclass(frozen=True)
class Picks:
    """A sample of patches: which number of the patch each column takes.

    Attributes
    ----------
    places : int32 array of shape (3, size)
        For every column: steps down and to the right, and the channel there.
    scales : array of shape (size,)
        Times what.
    together : int
        Channels come in runs of so many, each of which begins at a multiple of this number.
    """

    places: np.ndarray
    scales: np.ndarray
    together: int = 1

    def runs(self, parts: int = 1) -> np.ndarray:
        """Return runs of columns that take channels that follow each other, from one neighbour.

        Parameters
        ----------
        parts : int, default=1
            No run goes beyond the end of a part, of which all but the last are equally long.

        Returns
        -------
        runs : int64 array of shape (n_runs, 5)
            First column, column to stop at, steps down and to the right, first channel.
        """
        size = self.places.shape[1]
        steps = np.diff(self.places, axis=1)
        ends = np.flatnonzero((steps != np.asarray([[0], [0], [1]])).any(axis=0)) + 1
        begins = -(-size // parts) * np.arange(parts)
        starts = np.unique(np.concatenate([begins[begins < size], ends])).astype(np.int64)
        stops = np.append(starts[1:], size)
        return np.column_stack([starts, stops, self.places[:, starts].T]).astype(np.int64)


#: Channels that a card reads at once, in bfloat16.
TOGETHER = 8


def run_length(*sizes: int) -> int:
    """Return how many channels may be kept together: all sizes are multiples of this number.

    Examples
    --------
    >>> run_length(64, 16), run_length(64, 27)
    (8, 1)
    """
    return TOGETHER if all(size % TOGETHER == 0 for size in sizes) else 1


def neighbours(filter_size: int, n_axes: int) -> list[tuple[int, int]]:
    """Return the steps to the positions of a patch: down and to the right; signals have no down.

    Examples
    --------
    >>> neighbours(3, 1)
    [(0, -1), (0, 0), (0, 1)]
    """
    reach = range(-(filter_size // 2), filter_size // 2 + 1)
    return list(product(reach if n_axes == 2 else (0,), reach))


def as_planes(images: Any, xp: Any) -> Any:
    """Return images or signals as images: a signal is one of height 1."""
    if images.ndim == IMAGES:
        return images
    n, length, channels = images.shape
    return xp.reshape(images, (n, 1, length, channels))


def patches(images: Any, filter_size: int, n_axes: int, xp: Any) -> Any:
    r"""Return the patch of every position as a row, zeros outside the image.

    Rows are divided by the root of the number of taps: their inner products are means.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
        Images.
    filter_size, n_axes : int
        Taps along an axis, and how many axes a filter has.

    Examples
    --------
    >>> signal = np.asarray([1.0, 2.0, 4.0]).reshape(1, 1, 3, 1)
    >>> (patches(signal, 3, 1, np) * 3**0.5).round()
    array([[0., 1., 2.],
           [1., 2., 4.],
           [2., 4., 0.]])
    """
    n, height, width, channels = images.shape
    taps = neighbours(filter_size, n_axes)
    shape = (n, height, width, len(taps), channels)
    if is_numpy(images):
        found = np.zeros(shape, dtype=images.dtype)
    else:
        found = xp.zeros(shape, dtype=images.dtype, device=images.device)
    for k, (down, right) in enumerate(taps):
        to, come = _overlap(height, width, down, right)
        found[:, to[0], to[1], k, :] = images[:, come[0], come[1], :]
    scale = len(taps) ** -0.5
    return xp.reshape(found, (n * height * width, len(taps) * channels)) * scale


def _overlap(
    height: int, width: int, down: int, right: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return where a step within the image begins, and where it leads."""
    to = slice(max(0, -down), max(0, min(height, height - down)))
    come = slice(max(0, down), max(0, min(height, height + down)))
    across = slice(max(0, -right), max(0, min(width, width - right)))
    beyond = slice(max(0, right), max(0, min(width, width + right)))
    return (to, across), (come, beyond)


def tapped(images: Any, taps: Taps, xp: Any) -> Any:
    """Return the sketch of every patch: the sum of channels of its neighbours, times signs.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
        Images; in NumPy in the dtype of the signs.
    taps : Taps
        The sketch; signs in the dtype of the images.

    Returns
    -------
    sketches : array of shape (n * height * width, size)

    Examples
    --------
    >>> signal = np.asarray([1.0, 2.0, 4.0]).reshape(1, 1, 3, 1)
    >>> steps, channel = np.asarray([[0, 0], [0, 1]]), np.zeros((2, 1), int)
    >>> tapped(signal, Taps(1, steps, channel, np.asarray([[1.0], [-1.0]])), np)
    array([[-1.],
           [-2.],
           [ 4.]])
    """
    n, height, width, _ = images.shape
    size = taps.columns.shape[1]
    signs = like(images, taps.signs)
    if is_numpy(images):
        from ._jit import patches as jit

        out = np.zeros((n * height * width, size), dtype=images.dtype)
        about = taps.n_channels, taps.offsets, taps.columns, signs
        jit.add_taps(np.ascontiguousarray(images), *about, out)
        return out
    offsets, columns = like(images, taps.offsets), like(images, taps.columns)
    if has_fused_kernels(images):
        from ._cuda import patches as cuda

        return cuda.tapped(images, offsets, columns, signs, taps.together)
    total = xp.zeros((n, height, width, size), dtype=images.dtype, device=images.device)
    for k, (down, right) in enumerate(taps.offsets.tolist()):
        to, come = _overlap(height, width, down, right)
        there = images[:, come[0], come[1], :]
        total[:, to[0], to[1], :] += xp.take(there, columns[k, :], axis=3) * signs[k, :]
    return xp.reshape(total, (n * height * width, size))


def picked(images: Any, picks: Picks, xp: Any) -> Any:
    """Return what a sample takes of the patch of every position, times its scales.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
        Images.
    picks : Picks
        The sample.

    Returns
    -------
    columns : array of shape (n * height * width, size)

    Examples
    --------
    >>> signal = np.asarray([1.0, 2.0, 4.0]).reshape(1, 1, 3, 1)
    >>> places = np.asarray([[0, 0], [-1, 1], [0, 0]], dtype=np.int32)
    >>> picked(signal, Picks(places, np.ones(2)), np)
    array([[0., 2.],
           [1., 4.],
           [2., 0.]])
    """
    n, height, width, _ = images.shape
    size = picks.places.shape[1]
    shape = (n, height, width, size)
    if is_numpy(images):
        found = np.zeros(shape, dtype=images.dtype)
    else:
        found = xp.zeros(shape, dtype=images.dtype, device=images.device)
    for start, stop, down, right, channel in picks.runs().tolist():
        to, come = _overlap(height, width, down, right)
        there = images[:, come[0], come[1], channel : channel + stop - start]
        found[:, to[0], to[1], start:stop] = there
    scales = xp.astype(like(images, picks.scales), images.dtype)
    return xp.reshape(found, (n * height * width, size)) * scales
