"""Rows with their targets, block by block, from arrays or from a stream of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._array import (
    as_floating,
    free_device_memory,
    is_foreign,
    moved,
    namespace,
    take_rows,
    to_numpy,
)
from .._frame import frame_rows, is_frame, rows_of_frame
from .._settings import settings

#: Bytes of features that a block of rows should make: large enough for BLAS to run at full
#: speed, small enough to stay out of the way.
FEATURE_BYTES = 32 * 2**20
#: A block in flight holds its features, a centred copy of them and their product.
COPIES = 3
BAD_WEIGHTS = (
    "sample_weight must hold finite numbers that are not negative; give weight 0 to rows that "
    "must not count."
)

#: The same of a block on an accelerator: sums of some thousand features take up a block of 512 MiB
#: in 15 ms, beside which neither launches nor the additions in float64 count.
DEVICE_FEATURE_BYTES = 512 * 2**20
#: The share of an accelerator's free memory that a block may take, where no budget was set.
DEVICE_SHARE = 1 / 16

#: Entries of a table to look at together.
LOOK_ENTRIES = 2**20


class Block(NamedTuple):
    """Some rows, their targets and, if there are any, their weights."""

    X: Any
    y: Any
    weights: Any


def learning_rows(n_components: int, itemsize: int, worthwhile: int = 256) -> int:
    """Return how many rows to learn from at a time.

    Parameters
    ----------
    n_components : int
        Numbers in a row.
    itemsize : int
        Bytes of a number.
    worthwhile : int, default=256
        Rows from which on a block outweighs the work that every block costs.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="1GB"):
    ...     learning_rows(64, 8), learning_rows(8192, 8, 5000), learning_rows(8192, 8, 10_000)
    (65536, 5000, 5086)
    """
    row_bytes = n_components * itemsize
    affordable = settings().memory // (COPIES * row_bytes)
    return int(max(1, min(max(worthwhile, FEATURE_BYTES // row_bytes), affordable)))


def device_rows(n_components: int, itemsize: int, place: Any = None) -> int:
    """Return how many rows to learn from at a time on an accelerator.

    Parameters
    ----------
    n_components, itemsize : int
        Numbers in a row, and bytes of a number.
    place : array, default=None
        Names the accelerator, of whose free memory a block takes a sixteenth at most where no
        budget was set.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="300MB"):
    ...     device_rows(1000, 8), device_rows(1000, 4)
    (12500, 25000)
    """
    row_bytes, found = n_components * itemsize, settings()
    if not found.memory_is_default:
        most = found.memory // COPIES
    else:
        free = free_device_memory(place)
        most = DEVICE_FEATURE_BYTES if free is None else int(DEVICE_SHARE * free)
    return max(1, min(DEVICE_FEATURE_BYTES, most) // row_bytes)


def is_stream(X: Any) -> bool:
    """Return whether ``X`` yields blocks instead of being rows itself."""
    if isinstance(X, list):
        return bool(X) and all(_is_block(item) for item in X)
    return isinstance(X, Iterator) or (
        isinstance(X, Iterable)
        and not hasattr(X, "shape")
        and not hasattr(X, "__array__")
        and not isinstance(X, (list, tuple, str, bytes, dict))
    )


def _is_block(item: Any) -> bool:
    """Return whether an item of a list is rows with their targets, and not a row itself."""
    return (
        isinstance(item, tuple) and len(item) in (2, 3) and len(getattr(item[0], "shape", ())) == 2
    )


def rows_between(X: Any, start: int, stop: int) -> Any:
    """Return some rows of an array of any library, of CSR, or of a data frame."""
    if is_frame(X):
        return frame_rows(X, start, stop)
    return X[start:stop, :] if is_foreign(X) else X[start:stop]


def part_between(values: Any, start: int, stop: int) -> Any:
    """Return some of the targets, or of what has a number for each row, of any library."""
    return values[start:stop, ...] if is_foreign(values) else values[start:stop]


def rows_at(X: Any, indices: np.ndarray) -> Any:
    """Return rows of some places, of an array of any library, of CSR, or of a data frame.

    Examples
    --------
    >>> rows_at(np.asarray([[1.0], [2.0], [3.0]]), np.asarray([0, 2])).ravel()
    array([1., 3.])
    """
    if is_frame(X):
        return rows_of_frame(X, indices)
    return take_rows(X, indices)


def sliced(X: Any, y: Any, weights: Any, rows: int) -> Iterator[Block]:
    """Yield rows and targets in blocks of at most ``rows``."""
    for start in range(0, X.shape[0], rows):
        stop = min(start + rows, X.shape[0])
        yield Block(
            rows_between(X, start, stop),
            part_between(y, start, stop),
            None if weights is None else weights[start:stop],
        )


def pieces(X: Any) -> Iterator[Any]:
    """Yield the rows of a table of any kind in pieces that are worth a look each."""
    rows = max(1, LOOK_ENTRIES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        yield rows_between(X, start, min(start + rows, X.shape[0]))


def from_stream(stream: Iterable[Any]) -> Iterator[Block]:
    """Yield the blocks of a stream of (X, y) or (X, y, sample_weight)."""
    empty = True
    for number, item in enumerate(stream):
        if not isinstance(item, tuple) or len(item) not in (2, 3):
            raise ValueError(
                "A stream must yield (X, y) or (X, y, sample_weight), got a "
                f"{type(item).__name__} as block {number}; wrap it, for example "
                "((X, y) for X, y in blocks), or a Hugging Face dataset as "
                "mercer.io.TableStream(dataset, target=...)."
            )
        weights = None if len(item) == 2 else item[2]
        empty = False
        yield Block(item[0], item[1], weights)
    if empty:
        raise ValueError("The stream of blocks is empty: at least one block of rows is needed.")


def stream_names(stream: Any) -> np.ndarray | None:
    """Return the names of the columns of a stream that knows them, as one of tables does."""
    names = getattr(stream, "columns", None) if is_stream(stream) else None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return np.asarray(names, dtype=object)
    return None


def refuse_beside_stream(**given: Any) -> None:
    """Say that a stream brings its own targets and weights, where some were given beside it."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} must be None when X is a stream of blocks: each block brings its own, as "
                "(X, y) or (X, y, sample_weight)."
            )


def as_weights(weights: Any, n_rows: int, beside: Any = None) -> Any:
    """Return sample weights as float64, or say what is wrong with them.

    Parameters
    ----------
    weights : array, list, number or None
        The weights.
    n_rows : int
        Rows that they belong to.
    beside : array, default=None
        Names the library and the device of the result; ``None`` means NumPy.
    """
    if weights is None:
        return None
    if is_foreign(weights) and is_foreign(beside) and weights.ndim == 1:
        return _weights_on_device(weights, n_rows, beside)
    given = to_numpy(weights) if is_foreign(weights) else weights
    values = np.asarray(given, dtype=float)
    if values.ndim == 0:
        values = np.full(n_rows, float(values))
    if values.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows, got shape "
            f"{values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(BAD_WEIGHTS)
    return moved(values, beside)


def _weights_on_device(weights: Any, n_rows: int, beside: Any) -> Any:
    """Return weights that are on a device already, checked there."""
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows, got shape "
            f"{tuple(weights.shape)}."
        )
    values, xp = moved(as_floating(weights, "float64"), beside), namespace(beside)
    if not bool(xp.all(xp.isfinite(values) & (values >= 0))):
        raise ValueError(BAD_WEIGHTS)
    return values
