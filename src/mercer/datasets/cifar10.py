"""CIFAR-10: small photographs of ten kinds of things, from a file or from OpenML."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._optional import require

#: Height, width and channels.
SHAPE = (32, 32, 3)
TRAIN = 50_000
NAMES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)


class LabelledImages(NamedTuple):
    """Images to learn from and to test on, with their labels.

    Attributes
    ----------
    images, test_images : uint8 arrays of shape (n, 32, 32, 3)
        Heights, widths and colours.
    labels, test_labels : int arrays of shape (n,)
        From 0 to 9.
    names : tuple of str
        What the labels mean.

    Examples
    --------
    >>> images, labels = np.zeros((2, 32, 32, 3), "uint8"), np.asarray([0, 1])
    >>> data = LabelledImages(images, labels, images[:1], labels[:1], ("cat", "dog"))
    >>> [data.names[label] for label in data.labels]
    ['cat', 'dog']
    """

    images: np.ndarray
    labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    names: tuple[str, ...]


def load_cifar10_jpeg(path: str | Path, n_train: int | None = None) -> LabelledImages:
    """Return CIFAR-10 from one ``.npz`` file of JPEG images, or of pixels.

    The file holds, for ``train`` and for ``test``, the bytes of all images one after the other
    (``train_jpeg``), where each of them begins and the last one ends (``train_offsets``) and labels
    (``train_labels``); or pixels (``train_images``) in place of the first two. JPEG images are
    lossy: results on them are not those on the original pixels.

    Parameters
    ----------
    path : str or Path
        The file.
    n_train : int or None, default=None
        How many training images to decode; ``None``: all.

    Returns
    -------
    data : LabelledImages

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from mercer.datasets import load_cifar10_jpeg
    >>> pixels, labels = np.zeros((4, 32, 32, 3), dtype=np.uint8), np.arange(4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     arrays = {"train_images": pixels, "train_labels": labels}
    ...     arrays |= {"test_images": pixels[:2], "test_labels": labels[:2]}
    ...     np.savez(f"{folder}/cifar10.npz", **arrays)
    ...     data = load_cifar10_jpeg(f"{folder}/cifar10.npz")
    >>> data.images.shape, data.names[int(data.test_labels[1])]
    ((4, 32, 32, 3), 'automobile')
    """
    with np.load(path) as file:
        names = tuple(str(name) for name in file["class_names"]) if "class_names" in file else NAMES
        parts = []
        for part, most in (("train", n_train), ("test", None)):
            labels = _entry(file, f"{part}_labels", path)[:most].astype(np.int64)
            if f"{part}_images" in file:
                images = file[f"{part}_images"][:most]
            else:
                encoded = _entry(file, f"{part}_jpeg", path).tobytes()
                offsets = _entry(file, f"{part}_offsets", path)
                images = decoded(encoded, offsets[: None if most is None else most + 1])
            parts.append((images, labels))
    return LabelledImages(*parts[0], *parts[1], names)


def _entry(file: Any, name: str, path: str | Path) -> np.ndarray:
    if name not in file:
        raise ValueError(
            f"{path} is no file of CIFAR-10 images: it has no array {name!r}, only "
            f"{', '.join(sorted(file))}."
        )
    return np.asarray(file[name])


def decoded(encoded: bytes, offsets: np.ndarray) -> np.ndarray:
    """Return JPEG images that stand one after the other as pixels.

    Parameters
    ----------
    encoded : bytes
        The images.
    offsets : int array of shape (n + 1,)
        Where they begin, and where the last one ends.

    Returns
    -------
    images : uint8 array of shape (n, 32, 32, 3)
    """
    reader = require("PIL.Image", "images", "Decoding JPEG images")
    images = np.empty((len(offsets) - 1, *SHAPE), dtype=np.uint8)
    for k, (start, stop) in enumerate(pairwise(offsets)):
        with reader.open(io.BytesIO(encoded[start:stop])) as image:
            images[k] = np.asarray(image.convert("RGB"))
    return images


def fetch_cifar10(data_home: str | Path | None = None) -> LabelledImages:
    """Return CIFAR-10 with its original pixels, from OpenML through scikit-learn.

    The first call downloads 650 MB and takes minutes; later ones read scikit-learn's cache.

    Parameters
    ----------
    data_home : str, Path or None, default=None
        Where scikit-learn keeps data sets.

    Returns
    -------
    data : LabelledImages
        The first 50,000 images to learn from and the last 10,000 to test on.

    Examples
    --------
    >>> from mercer.datasets import fetch_cifar10
    >>> data = fetch_cifar10()  # doctest: +SKIP
    >>> data.images.shape  # doctest: +SKIP
    (50000, 32, 32, 3)
    """
    from sklearn import datasets

    found = datasets.fetch_openml(
        "CIFAR_10", version=1, as_frame=False, parser="auto", data_home=data_home
    )
    rows = np.asarray(found.data)
    if rows.shape[1] != np.prod(SHAPE):
        raise ValueError(f"OpenML sent rows of {rows.shape[1]} columns, but CIFAR-10 has 3072.")
    # A row holds the planes of red, green and blue.
    planes = rows.astype(np.uint8).reshape(-1, SHAPE[2], *SHAPE[:2])
    images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    labels = np.asarray(found.target).astype(np.int64)
    return LabelledImages(images[:TRAIN], labels[:TRAIN], images[TRAIN:], labels[TRAIN:], NAMES)
