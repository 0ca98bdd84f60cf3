"""Rows that lie on the host and are learnt on a device: blocks of them are sent ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from .._array import is_foreign, moved
from .._devices import can_be_sent, sent_ahead
from .._settings import settings
from ..features import FeatureMap


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
    >>> import numpy as np
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
                part if (place or first) and can_be_sent(part) else None
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


def learns_on_device(X: Any) -> bool:
    """Return whether rows are on a device, or are sent to one."""
    return is_foreign(X) or settings().device is not None


def beside_features(Z: Any, part: Any) -> Any:
    """Return targets or weights where the features are; ``None`` as it is."""
    if part is None or not (is_foreign(Z) or is_foreign(part)):
        return part
    return moved(part, Z)
