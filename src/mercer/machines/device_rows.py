"""Rows that lie on the host and are learnt on a device: blocks of them are sent ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._array import is_foreign, moved
from .._devices import sent_ahead
from .._settings import settings
from ..features import FeatureMap

#: Dtypes that every library on a device has; others go as floats.
COMMON = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


def sent_blocks(blocks: Iterable[tuple[Any, ...]], features: Any) -> Iterator[tuple[Any, ...]]:
    """Yield blocks with what can be sent on the device of the settings, one block ahead.

    Dense NumPy arrays of numbers are sent. All else stays where it is: labels that are strings,
    CSR, data frames, and rows for a transformer of another library, which takes NumPy arrays.

    Parameters
    ----------
    blocks : iterable of tuples
        The rows first; what belongs to them follows.
    features : transformer or None
        What the rows go into.

    Examples
    --------
    >>> [rows] = sent_blocks([(np.eye(2), None)], None)
    >>> rows[0].shape, rows[1]
    ((2, 2), None)
    """
    device = settings().device
    if device is None:
        yield from blocks
        return
    first = features is None or isinstance(features, FeatureMap)
    waiting: deque[tuple[Any, ...]] = deque()

    def leaving() -> Iterator[tuple[Any, ...]]:
        for block in blocks:
            waiting.append(block)
            yield tuple(
                _ready(part) if (place or first) and can_be_sent(part) else None
                for place, part in enumerate(block)
            )

    for arrived in sent_ahead(leaving(), device):
        own = waiting.popleft()
        yield tuple(
            part if there is None else there for there, part in zip(arrived, own, strict=True)
        )


def sent_rows(X: Any, features: Any) -> Any:
    """Return rows on the device of the settings, if it names one and they can be sent."""
    [(found,)] = sent_blocks([(X,)], features)
    return found


def sent_features(Z: Any) -> Any:
    """Return features that were made on the host on the device of the settings, if it names one."""
    device = settings().device
    if device is None or not can_be_sent(Z):
        return Z
    [(found,)] = sent_ahead([(_ready(Z),)], device)
    return found


def can_be_sent(part: Any) -> bool:
    """Return whether an array is a dense one of NumPy with numbers or booleans.

    Examples
    --------
    >>> can_be_sent(np.eye(2)), can_be_sent(np.asarray(["a"]))
    (True, False)
    """
    return isinstance(part, np.ndarray) and part.dtype.kind in "biuf" and part.dtype.itemsize <= 8


def learns_on_device(X: Any) -> bool:
    """Return whether rows are on a device, or are sent to one."""
    return is_foreign(X) or settings().device is not None


def beside_features(Z: Any, part: Any) -> Any:
    """Return targets or weights where the features are; ``None`` as it is."""
    if part is None or not (is_foreign(Z) or is_foreign(part)):
        return part
    return moved(part, Z)


def _ready(part: np.ndarray) -> np.ndarray:
    """Return an array as other libraries take it."""
    name = part.dtype.name if part.dtype.name in COMMON else "float64"
    part = np.ascontiguousarray(part, dtype=name)
    return part if part.flags.writeable else part.copy()
