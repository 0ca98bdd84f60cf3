"""Images and signals: from rows of pixels to arrays with axes, and sums over neighbours.

A batch has one axis for samples, one for each direction of position (height and width of an
image, the length of a signal) and one for channels, in this order. A row holds the same numbers
flattened in C order, as ``images.reshape(len(images), -1)`` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import is_numpy, is_sparse, namespace

#: Numbers of axes of a batch of signals and of images.
SIGNALS, IMAGES = 3, 4


def checked_image_shape(image_shape: Any) -> tuple[int, ...]:
    """Return (height, width, channels) or (length, channels) as integers, or say what is wrong.

    Examples
    --------
    >>> checked_image_shape([32, 32, 3])
    (32, 32, 3)
    """
    try:
        sides = tuple(image_shape)
    except TypeError:
        sides = ()
    whole = all(isinstance(side, (int, np.integer)) and side >= 1 for side in sides)
    if len(sides) not in (SIGNALS - 1, IMAGES - 1) or not whole:
        raise ValueError(
            "image_shape must be (height, width, channels), such as (32, 32, 3), or "
            f"(length, channels) for signals, in positive integers, got {image_shape!r}."
        )
    return tuple(int(side) for side in sides)


def image_shape_of(X: Any, image_shape: Any = None, name: str = "X") -> tuple[int, ...]:
    """Return (height, width, channels) of images, or (length, channels) of signals.

    Parameters
    ----------
    X : array
        Images (n, height, width, channels), signals (n, length, channels), or their rows.
    image_shape : tuple of int, default=None
        What rows hold; ``None`` reads the shape off a batch that has one.
    name : str, default="X"
        What to call ``X`` in errors.

    Examples
    --------
    >>> import numpy as np
    >>> image_shape_of(np.zeros((5, 8, 8, 3)))
    (8, 8, 3)
    >>> image_shape_of(np.zeros((5, 64)), image_shape=(8, 8, 1))
    (8, 8, 1)
    """
    given = tuple(X.shape)
    wanted = None if image_shape is None else checked_image_shape(image_shape)
    if len(given) in (SIGNALS, IMAGES):
        if wanted is not None and given[1:] != wanted:
            raise ValueError(
                f"{name} with dim {len(given)} holds samples of shape {given[1:]}, but image_shape "
                f"is {wanted}; pass image_shape=None to read the shape off the batch."
            )
        if wanted is None and len(given) == SIGNALS and given[1] == given[2] > 1:
            raise ValueError(
                f"{name} of shape {given} may hold grey images or signals; pass {name}[..., None] "
                f"for images of one channel, or image_shape={given[1:]} for signals."
            )
        return checked_image_shape(given[1:])
    if len(given) != 2:
        raise ValueError(
            f"{name} must be images of shape (n, height, width, channels), signals (n, length, "
            f"channels) or flattened rows, got shape {given}; grey images need a last axis of one "
            f"channel, as in {name}[..., None]."
        )
    if wanted is None:
        raise ValueError(
            f"{name} holds flattened rows of {given[1]} columns, and how to make images of them "
            "is not known; pass image_shape=(height, width, channels), or (length, channels)."
        )
    if math.prod(wanted) != given[1]:
        raise ValueError(
            f"{name} has {given[1]} columns, but image_shape={wanted} needs {math.prod(wanted)}."
        )
    return wanted


def as_images(X: Any, image_shape: Any = None, name: str = "X") -> Any:
    """Return a batch of images or signals, with an axis for each direction and for channels.

    Parameters
    ----------
    X, image_shape, name
        As in :func:`image_shape_of`. Sparse rows become dense.

    Returns
    -------
    images : array of shape (n, height, width, channels) or (n, length, channels)
        Shares the memory of ``X`` where its layout allows it.

    Examples
    --------
    >>> import numpy as np
    >>> as_images(np.arange(24).reshape(2, 12), (2, 3, 2))[0, :, :, 0]
    array([[ 0,  2,  4],
           [ 6,  8, 10]])
    """
    shape = image_shape_of(X, image_shape, name)
    if is_sparse(X):
        X = X.toarray()
    return namespace(X).reshape(X, (X.shape[0], *shape))


def as_rows(images: Any) -> Any:
    """Return one row of numbers for each image or signal, channels next to each other.

    Examples
    --------
    >>> import numpy as np
    >>> as_rows(np.zeros((5, 8, 8, 3))).shape
    (5, 192)
    """
    if images.ndim == 2:
        return images
    return namespace(images).reshape(images, (images.shape[0], math.prod(images.shape[1:])))


def mirror_images(images: Any) -> Any:
    """Return images with left and right exchanged, or signals with both ends exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> mirror_images(np.asarray([[[1.0], [2.0]]])).ravel()
    array([2., 1.])
    """
    return namespace(images).flip(images, axis=-2)


def checked_filter_size(filter_size: Any) -> int:
    """Return an odd number of taps on a side, or say what is wrong.

    Examples
    --------
    >>> checked_filter_size(3)
    3
    """
    odd = isinstance(filter_size, (int, np.integer)) and filter_size >= 1 and filter_size % 2 == 1
    if not odd:
        raise ValueError(
            "filter_size must be an odd positive integer, so that a filter has a middle, got "
            f"{filter_size!r}."
        )
    return int(filter_size)


def patch_sums(A: Any, filter_size: int, axes: Sequence[int | tuple[int, ...]]) -> Any:
    r"""Return sums over the neighbours of each position; what lies outside counts as 0.

    Along one axis, :math:`B_p = \sum_{|a| \le (q - 1) / 2} A_{p + a}`. Along a tuple of axes
    the positions move together, :math:`B_{p, p'} = \sum_a A_{p + a,\, p' + a}`, as in kernels
    of two images. Sums over a square patch are sums along one axis, then along the other.

    Parameters
    ----------
    A : array
        Of any library and number of axes.
    filter_size : int
        Odd number q of neighbours along an axis, the position itself included.
    axes : sequence of int, or of tuples of int
        Along which axes to sum, one after the other.

    Returns
    -------
    sums : array
        A new array of the shape of ``A``.

    Examples
    --------
    >>> import numpy as np
    >>> patch_sums(np.asarray([1.0, 2.0, 3.0, 4.0]), 3, axes=[0])
    array([3., 6., 9., 7.])

    Along the diagonals of a matrix:

    >>> patch_sums(np.eye(3), 3, axes=[(0, 1)])
    array([[2., 0., 0.],
           [0., 3., 0.],
           [0., 0., 2.]])
    """
    reach = checked_filter_size(filter_size) // 2
    sums = A
    for together in axes:
        moved = (together,) if isinstance(together, int) else tuple(together)
        sums = _summed(sums, reach, moved)
    return _copy(A) if sums is A else sums


def _summed(A: Any, reach: int, axes: tuple[int, ...]) -> Any:
    """Return the sums of entries up to ``reach`` apart, along axes that move together."""
    sums = _copy(A)
    for shift in range(1, min(reach, *(A.shape[axis] - 1 for axis in axes)) + 1):
        lower, upper = [slice(None)] * A.ndim, [slice(None)] * A.ndim
        for axis in axes:
            lower[axis] = slice(0, A.shape[axis] - shift)
            upper[axis] = slice(shift, A.shape[axis])
        sums[tuple(lower)] += A[tuple(upper)]
        sums[tuple(upper)] += A[tuple(lower)]
    return sums


def _copy(A: Any) -> Any:
    return A.copy() if is_numpy(A) else namespace(A).asarray(A, copy=True)
