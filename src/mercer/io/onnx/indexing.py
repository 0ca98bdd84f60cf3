"""Parts of recorded arrays: slices, single columns, and what is assigned to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Recorded
from .operations import astype, integers, made, recording
from .tape import NotRecordable, Rows

#: What ONNX takes for "to the end".
END = 2**62


def indexed(X: Recorded, key: Any) -> Recorded:
    """Return a part of an array, by slices, integers and ``None``."""
    items = _items(X, key)
    if X.tape is None:
        return Recorded.known(X.value[key])
    found, axis = X, 0
    for item in items:
        if item is None:
            shape = (*found.shape[:axis], 1, *found.shape[axis:])
            found = made("Unsqueeze", [found], shape, found.dtype, integers(found.tape, [axis]))
            axis += 1
        elif isinstance(item, slice):
            found = _sliced(found, item, axis)
            axis += 1
        else:
            found = _one(found, int(item), axis)
    return found


def replaced(X: Recorded, key: Any, value: Any) -> Recorded:
    """Return an array of which a part is another: ``X[key] = value``, for all rows."""
    from .namespace import expand_dims

    items = _items(X, key)
    if not all(isinstance(item, (int, slice)) for item in items) or not _is_everything(items[0]):
        raise NotRecordable("It assigns to some of its rows, in place.")
    given = astype(value if isinstance(value, Recorded) else Recorded.known(value), X.dtype)
    place = given.ndim
    for item in reversed(items):
        if isinstance(item, slice):
            place = max(place - 1, 0)
        else:
            # The value has no dimension where a single place is assigned to.
            given = expand_dims(given, place)
    return _assigned(X, items, given, 0)


def _assigned(X: Recorded, items: list[Any], value: Recorded, axis: int) -> Recorded:
    """Return an array whose part, from a dimension on, is broadcast from a value."""
    from .namespace import broadcast_to, concat

    while axis < X.ndim and _is_everything(items[axis]):
        axis += 1
    if axis == X.ndim:
        return broadcast_to(value, X.shape)
    size, item = int(X.shape[axis]), items[axis]
    if isinstance(item, int):
        item = slice(item % size, item % size + 1)
    start, stop, step = item.indices(size)
    if step != 1:
        raise NotRecordable("It assigns to every other column, in place.")
    middle = _assigned(_sliced(X, slice(start, stop), axis), items, value, axis + 1)
    parts = [_sliced(X, slice(0, start), axis), middle, _sliced(X, slice(stop, size), axis)]
    return concat([part for part in parts if part.shape[axis]], axis=axis)


def _items(X: Recorded, key: Any) -> list[Any]:
    """Return the parts of a key, one for each dimension."""
    items = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(item, (Recorded, np.ndarray, list)) for item in items):
        raise NotRecordable("It selects entries by a mask.")
    given = sum(item is not None and item is not Ellipsis for item in items)
    everything = [slice(None)] * (X.ndim - given)
    if Ellipsis in items:
        place = items.index(Ellipsis)
        return items[:place] + everything + items[place + 1 :]
    return items + everything


def _is_everything(item: Any) -> bool:
    return isinstance(item, slice) and item == slice(None)


def _sliced(X: Recorded, part: slice, axis: int) -> Recorded:
    """Return a slice along a dimension."""
    if _is_everything(part):
        return X
    size = X.shape[axis]
    if isinstance(size, Rows):
        if part != slice(None, 1):
            raise NotRecordable("It looks at some of its rows only.")
        start, stop, step, length = 0, 1, 1, 1
    else:
        start, stop, step = part.indices(size)
        length = len(range(start, stop, step))
        if (start, stop, step) == (0, size, 1):
            return X
        stop = -END if stop < 0 else stop
    shape = (*X.shape[:axis], length, *X.shape[axis + 1 :])
    numbers = [integers(X.tape, [number]) for number in (start, stop, axis, step)]
    return made("Slice", [X], shape, X.dtype, *numbers)


def _one(X: Recorded, place: int, axis: int) -> Recorded:
    """Return one place of a dimension, without that dimension."""
    shape = (*X.shape[:axis], *X.shape[axis + 1 :])
    number = recording(X.tape).constant(np.asarray(place, dtype=np.int64))
    return made("Gather", [X], shape, X.dtype, number, axis=axis)
