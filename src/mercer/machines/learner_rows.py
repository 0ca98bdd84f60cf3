"""Rows that machines learn features from: the same every time, fresh ones, and some kept aside."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from ..engine.sample import rows_of
from ..engine.streams import (
    LOOK_ENTRIES,
    Block,
    as_weights,
    from_stream,
    is_stream,
    refuse_beside_stream,
    sliced,
)

#: Rows on which features are compared with their kernel.
PROBED = 500


def repeated(X, y, sample_weight, check):
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
        raise ValueError("X draws rows: use fresh=True, and batch_size for the rows of a step.")
    if not is_stream(X):
        block = check(Block(X, y, sample_weight), first=True, streaming=False)
        return lambda: iter([block])
    refuse_beside_stream(y=y, sample_weight=sample_weight)
    if isinstance(X, Iterator):
        raise ValueError(
            "The rows are looked at twice in every iteration, and an iterator can be read once "
            "only; give a list of blocks or a TableStream, or fresh=True."
        )
    check(next(from_stream(X)), first=True, streaming=True)
    return lambda: (check(block, first=False, streaming=True) for block in from_stream(X))


def is_sampler(X):
    """Return whether ``X`` draws rows instead of being rows, or blocks of them."""
    return callable(X) or (hasattr(X, "sample") and not hasattr(X, "shape"))


def fresh_blocks(X, y, sample_weight, check, n_iterations, batch_size, stream):
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
            yield check(Block(*drawn, None), first=k == 0, streaming=False)
    elif is_stream(X):
        refuse_beside_stream(y=y, sample_weight=sample_weight)
        if batch_size is not None:
            raise ValueError("batch_size must be None with blocks: each has its own rows.")
        for k, block in enumerate(from_stream(X)):
            yield check(block, first=k == 0, streaming=False)
    else:
        X, Y, weights = check(Block(X, y, sample_weight), first=True, streaming=False)
        weights = as_weights(weights, X.shape[0])
        yield from _dealt(X, Y, weights, n_iterations, batch_size, stream)
    raise ValueError(
        f"There are fewer blocks of fresh rows than the {n_iterations + 1} that "
        f"n_iterations={n_iterations} takes; give more, or fewer iterations."
    )


def _dealt(X, Y, weights, n_iterations, size, stream):
    """Yield rows dealt at random to the iterations."""
    n_rows, n_steps = X.shape[0], n_iterations + 1
    size = n_rows // n_steps if size is None else size
    if size < 2 or size * n_steps > n_rows:
        raise ValueError(
            f"{n_rows} rows are too few for n_iterations={n_iterations} with fresh rows each, "
            f"{max(size, 2)} a step; give more rows, fewer iterations, or a smaller batch_size."
        )
    order = stream.generator().permutation(n_rows)
    for k in range(n_steps):
        yield _picked(Block(X, Y, weights), order[k * size : (k + 1) * size])


def parted(blocks, share, stream):
    """Return two functions like ``blocks``: of the rows to learn from, and of those kept aside.

    Each row draws a number, in order: however they come in blocks, the same are kept aside.

    Parameters
    ----------
    blocks : callable
        What :func:`repeated` returns.
    share : float
        The share to keep aside.
    stream : Stream
        The seeds.
    """

    def part(aside):
        generator = stream.generator()
        for X, Y, weights in blocks():
            rows = max(1, LOOK_ENTRIES // X.shape[1])
            for block in sliced(X, Y, as_weights(weights, X.shape[0]), rows):
                chosen = (generator.random(len(block.y)) < share) == aside
                if chosen.any():
                    yield _picked(block, chosen.nonzero()[0])

    return lambda: part(False), lambda: part(True)


def _picked(block, rows):
    weights = None if block.weights is None else block.weights[rows]
    return Block(rows_of(block.X, rows), block.y[rows], weights)


def landmark_rows(sample, size, n_rows):
    """Return rows of a sample for kernel functions; others remain to try them on.

    Parameters
    ----------
    sample : RowSample
        Of ``n_rows`` rows.
    size : int
        How many are wanted.
    n_rows : int
        How many there are.
    """
    found = len(sample.keys)
    if found <= size < n_rows:
        # Rows are so wide that the sample holds few of them.
        size = found - found // 5
    return _between(sample, 0, size)


def probed(sample, n_landmarks):
    """Return rows of a sample that are no landmarks, if there are any.

    Parameters
    ----------
    sample : RowSample
        The sample.
    n_landmarks : int or None
        How many of its rows are landmarks, at most.
    """
    start = n_landmarks if n_landmarks and n_landmarks < len(sample.keys) else 0
    return _between(sample, start, start + PROBED)


def _between(sample, start, stop):
    """Return the rows whose keys have these ranks, in their order."""
    return sample.columns[0][np.sort(np.argsort(sample.keys, kind="stable")[start:stop])]
