"""Rows that feature-learning machines learn from: the same every time, or fresh ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from ..._random import Stream
from ...engine.sample import RowSample
from ...engine.streams import Block, from_stream, is_stream, refuse_beside_stream
from ...features.nystrom.candidates import KernelOfRows
from ...features.nystrom.choice import CHOICES
from ...kernels import Kernel
from .data import Scales
from .rows import BlockSource, Rows

#: Rows on which features are compared with their kernel.
PROBED = 500
#: Rows that each landmark is chosen from, on average.
CANDIDATES = 4
#: Called with a block, whether it is the first, and whether more may follow; returns it checked.
Check = Callable[[Block, bool, bool], Rows]


def repeated(X: Any, y: Any, sample_weight: Any, check: Check) -> BlockSource:
    """Return a function that yields checked blocks of all rows, whenever it is called.

    Parameters
    ----------
    X, y, sample_weight : arrays, or a stream that can be read again and ``None``
        The rows with their targets and weights.
    check : callable
        Called with a block, whether it is the first and whether more may follow; returns it
        checked.
    """
    if is_sampler(X):
        raise ValueError("X is a sampler: use fresh=True, and batch_size for the rows of a step.")
    if not is_stream(X):
        block = check(Block(X, y, sample_weight), True, False)
        return lambda: iter([block])
    refuse_beside_stream(y=y, sample_weight=sample_weight)
    if isinstance(X, Iterator):
        raise ValueError(
            "The rows are read twice in every iteration, and an iterator can be read once only; "
            "give a list of blocks or a TableStream, or fresh=True."
        )
    check(next(from_stream(X)), True, True)
    return lambda: (check(block, False, True) for block in from_stream(X))


def is_sampler(X: Any) -> bool:
    """Return whether ``X`` draws rows instead of being rows, or blocks of them."""
    return callable(X) or (hasattr(X, "sample") and not hasattr(X, "shape"))


def fresh_blocks(
    X: Any,
    y: Any,
    sample_weight: Any,
    check: Check,
    n_iterations: int,
    batch_size: int | None,
    stream: Stream,
) -> Iterator[Rows]:
    """Yield a checked block of new rows for every iteration.

    Parameters
    ----------
    X, y, sample_weight, check
        As in :func:`repeated`; X may be a sampler, too.
    n_iterations : int
        How often weights are updated, at most.
    batch_size : int or None
        Rows of a block, where it is cut or drawn here.
    stream : Stream
        The seeds.
    """
    # Every block has a fit of its own, for which its labels are all there are.
    if is_sampler(X):
        refuse_beside_stream(y=y, sample_weight=sample_weight)
        draw = X.sample if hasattr(X, "sample") else X
        if batch_size is None:
            raise ValueError("fresh=True with a sampler needs batch_size, the rows of a step.")
        for k in count():
            drawn = draw(batch_size, stream.child(k).generator())
            if not isinstance(drawn, tuple) or len(drawn) != 2:
                raise ValueError(
                    "A sampler must return rows and targets, (X, y), but it returned a "
                    f"{type(drawn).__name__}."
                )
            yield check(Block(*drawn, None), k == 0, False)
    elif is_stream(X):
        refuse_beside_stream(y=y, sample_weight=sample_weight)
        if batch_size is not None:
            raise ValueError("batch_size must be None with blocks: each has its own rows.")
        for k, block in enumerate(from_stream(X)):
            yield check(block, k == 0, False)
    else:
        rows = check(Block(X, y, sample_weight), True, False)
        yield from _batches(rows, n_iterations, batch_size, stream)
    raise ValueError(
        f"There are fewer blocks of fresh rows than the {n_iterations + 1} that "
        f"n_iterations={n_iterations} takes; give more, or fewer iterations."
    )


def _batches(rows: Rows, n_iterations: int, size: int | None, stream: Stream) -> Iterator[Rows]:
    """Yield rows split at random into a batch for every iteration."""
    n_rows, n_steps = rows.X.shape[0], n_iterations + 1
    size = n_rows // n_steps if size is None else size
    if size < 2 or size * n_steps > n_rows:
        raise ValueError(
            f"{n_rows} rows are too few for n_iterations={n_iterations} with fresh rows each, "
            f"{max(size, 2)} a step; give more rows, fewer iterations, or a smaller batch_size."
        )
    order = stream.generator().permutation(n_rows)
    for k in range(n_steps):
        yield rows.picked(order[k * size : (k + 1) * size])


def sample_size(n_components: int) -> int:
    """Return how many rows to keep, for landmarks to be chosen from and to try functions on.

    Examples
    --------
    >>> sample_size(100)
    900
    """
    return CANDIDATES * n_components + PROBED


def landmark_rows(
    sample: RowSample, size: int, n_rows: int, scales: Scales, kernel: Kernel, stream: Stream
) -> np.ndarray:
    """Return scaled rows of a sample for kernel functions; others remain to try them on.

    Parameters
    ----------
    sample : RowSample
        Of ``n_rows`` rows.
    size : int
        How many are wanted.
    n_rows : int
        How many there are.
    scales : Scales
        Of columns and targets.
    kernel : Kernel
        The kernel of scaled rows, before any weights are learnt.
    stream : Stream
        Draws the choice.
    """
    found = len(sample.keys)
    if found <= size:
        # Rows so wide that the sample holds few of them are not all landmarks.
        kept = found if n_rows <= size else found - found // 5
        return scales.rows(_between(sample, 0, kept)).astype(float)
    rows = scales.rows(_between(sample, 0, max(size, found - PROBED))).astype(float)
    if len(rows) == size:
        return rows
    generator = stream.child("landmarks").generator()
    places = CHOICES["rpcholesky"](KernelOfRows(kernel, rows), size, generator)
    return rows[np.sort(places)]


def probed(sample: RowSample, n_landmarks: int | None) -> np.ndarray:
    """Return rows of a sample that no landmark is chosen from, if there are any.

    Parameters
    ----------
    sample : RowSample
        The sample.
    n_landmarks : int or None
        How many of its rows are landmarks, at most.
    """
    found = len(sample.keys)
    start = max(n_landmarks or 0, found - PROBED)
    return _between(sample, start if start < found else 0, found)[:PROBED]


def _between(sample: RowSample, start: int, stop: int) -> np.ndarray:
    """Return the rows whose keys have these ranks, in their order."""
    chosen = np.sort(np.argsort(sample.keys, kind="stable")[start:stop])
    return np.asarray(sample.columns[0][chosen])
