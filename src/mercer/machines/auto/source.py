"""Raw rows with checked targets, in blocks: from rows at hand, or from a stream."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Protocol

import numpy as np

from ..._array import is_foreign, moved
from ..._devices import placed
from ..._sklearn import check_columns
from ...engine.streams import Block, as_weights, from_stream, learning_rows, rows_at, sliced
from ..targets import Targets

#: Columns that an encoded row may take beside its own.
ENCODED = 512


class Source(Protocol):
    """Blocks of raw rows, to be iterated as often as needed."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known before they are read."""
        ...

    @property
    def near(self) -> Any:
        """An array that is where the rows are; ``None``: on the host, or not known."""
        ...

    @property
    def whole(self) -> Any:
        """All raw rows, if they are at hand; else ``None``."""
        ...

    def preview(self) -> tuple[Iterable[Block], Iterable[Block], bool]:
        """Return blocks to look at first, blocks to learn from, and whether they are the same."""
        ...

    def bring(self, rows: np.ndarray) -> Any:
        """Return rows of the host where the blocks are learnt."""
        ...

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks."""
        ...


class RowsAtHand:
    """Rows that are all there, as blocks.

    Parameters
    ----------
    X : data frame or array
        The rows.
    y, sample_weight : arrays or None
        Targets and sample weights.
    targets : Targets
        Who checks them.
    owner : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` to set.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, targets: Targets, owner: Any) -> None:
        X = check_columns(X, owner=owner, reset=True)
        checked = targets.check(y, X.shape[0])
        weights = as_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            if not weights.any():
                raise ValueError(
                    "sample_weight is zero for every row; at least one weight must be positive."
                )
            X, checked, weights = with_weight(Block(X, checked, weights))
        self._parts = X, checked, weights, learning_rows(X.shape[1] + ENCODED, 8)

    @property
    def n_rows(self) -> int | None:
        """How many rows there are."""
        return int(self._parts[0].shape[0])

    @property
    def near(self) -> Any:
        """The rows, if they are on a device."""
        return self._parts[0] if is_foreign(self._parts[0]) else None

    @property
    def whole(self) -> Any:
        """All raw rows."""
        return self._parts[0]

    def preview(self) -> tuple[Iterable[Block], Iterable[Block], bool]:
        """Return the rows, twice."""
        return self, self, True

    def bring(self, rows: np.ndarray) -> Any:
        """Return rows of the host where the rows at hand are learnt."""
        return brought(rows, self._parts[0])

    def __iter__(self) -> Iterator[Block]:
        return sliced(*self._parts)


class StreamOfBlocks:
    """A stream of blocks; an iterator can be looked at once.

    Parameters
    ----------
    stream : iterable of (X, y) or (X, y, sample_weight)
        The blocks.
    targets : Targets
        Who checks theirs.
    """

    def __init__(self, stream: Iterable[Any], targets: Targets) -> None:
        self._stream, self._targets = raw_blocks(stream), targets
        self._near: Any = None
        self.whole: Any = None
        known = getattr(stream, "n_rows", None)
        self.n_rows: int | None = known if isinstance(known, int) else None

    @property
    def near(self) -> Any:
        """The last block, if it was on a device."""
        return self._near

    def preview(self) -> tuple[Iterable[Block], Iterable[Block], bool]:
        """Return all blocks, or the first one of those that can be seen once."""
        if not isinstance(self._stream, Iterator):
            return self, self, True
        blocks = iter(self)
        first = next(blocks)
        warnings.warn(
            "The stream can be read only once, so that columns, kernel and lengthscale are fitted "
            f"on its first block only ({first.X.shape[0]} rows); pass a list of blocks or a "
            "TableStream to use all rows.",
            UserWarning,
            stacklevel=6,
        )
        return [first], chain([first], blocks), False

    def bring(self, rows: np.ndarray) -> Any:
        """Return rows of the host where the last block was."""
        return brought(rows, self._near)

    def __iter__(self) -> Iterator[Block]:
        for X, y, weights in from_stream(self._stream):
            X = X if hasattr(X, "shape") else np.asarray(X)
            checked = self._targets.check(y, X.shape[0])
            block = with_weight(Block(X, checked, as_weights(weights, X.shape[0])))
            self._near = X if is_foreign(X) else None
            if block.X.shape[0]:
                yield block


def brought(rows: np.ndarray, near: Any) -> Any:
    """Return rows of the host on the device of an array or, if that has none, of the settings.

    Examples
    --------
    >>> brought(np.eye(1), None)
    array([[1.]])
    """
    return moved(rows, near) if is_foreign(near) else placed(rows)


def with_weight(block: Block) -> Block:
    """Return the rows of a block whose weight is not 0.

    Examples
    --------
    >>> with_weight(Block(np.eye(2), np.asarray([5, 6]), np.asarray([0.0, 1.0]))).y
    array([6])
    """
    X, y, weights = block
    if weights is None or weights.all():
        return block
    known = np.flatnonzero(weights > 0)
    return Block(rows_at(X, known), y[known], weights[known])


def raw_blocks(stream: Iterable[Any]) -> Iterable[Any]:
    """Return blocks with their columns as they are: tables on disk offer them.

    Examples
    --------
    >>> raw_blocks([1, 2])
    [1, 2]
    """
    return stream.tables() if hasattr(stream, "tables") else stream
