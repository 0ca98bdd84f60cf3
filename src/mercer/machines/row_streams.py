"""Blocks of rows for machines that learn without targets: from arrays, or from a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..engine.blocks import NonFiniteError, cut
from ..engine.streams import is_stream, rows_at, rows_between
from .feature_rows import FeatureRows


def is_row_stream(X: Any) -> bool:
    """Return whether ``X`` yields blocks of rows instead of being rows itself.

    Beside every stream that supervised machines take, a list of blocks is one.

    Examples
    --------
    >>> is_row_stream([np.eye(2), np.eye(2)]), is_row_stream([[1.0, 2.0], [3.0, 4.0]])
    (True, False)
    """
    if isinstance(X, list) and X and all(len(getattr(item, "shape", ())) == 2 for item in X):
        return True
    return is_stream(X)


def row_blocks(stream: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the rows and the sample weights (or ``None``) of every block of a stream.

    Parameters
    ----------
    stream : iterable
        Of rows, of (X, y) or of (X, y, sample_weight); targets are ignored.

    Examples
    --------
    >>> [(len(X), weights) for X, weights in row_blocks([np.eye(2), (np.eye(3), None)])]
    [(2, None), (3, None)]
    """
    empty = True
    for number, item in enumerate(stream):
        empty = False
        if not isinstance(item, tuple):
            yield item, None
        elif len(item) in (2, 3):
            yield item[0], item[2] if len(item) == 3 else None
        else:
            raise ValueError(
                "A stream must yield X, (X, y) or (X, y, sample_weight), got a tuple of "
                f"{len(item)} as block {number}."
            )
    if empty:
        raise ValueError("The stream of blocks is empty: at least one block of rows is needed.")


def joined(
    parts: Iterable[tuple[np.ndarray, np.ndarray]], size: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield features and weights in blocks of at least ``size`` rows, but for the last one.

    Rows of weight zero are dropped.

    Examples
    --------
    >>> parts = [(np.eye(2), np.ones(2)), (np.eye(2), np.zeros(2)), (np.eye(2), np.ones(2))]
    >>> [len(Z) for Z, weights in joined(parts, 3)]
    [4]
    """
    waiting: list[tuple[np.ndarray, np.ndarray]] = []
    n_rows = 0
    for Z, weights in parts:
        kept = weights > 0
        waiting.append((Z, weights) if kept.all() else (Z[kept], weights[kept]))
        n_rows += len(waiting[-1][0])
        if n_rows >= size:
            yield _together(waiting)
            waiting, n_rows = [], 0
    if n_rows:
        yield _together(waiting)


def _together(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if len(parts) == 1:
        return parts[0]
    features, weights = zip(*parts, strict=True)
    return np.concatenate(features), np.concatenate(weights)


def feature_blocks(
    rows: FeatureRows, X: Any, size: int, order: np.ndarray | None = None
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield which rows of ``X`` are in a block, and their features.

    Parameters
    ----------
    rows : FeatureRows
        How rows become features.
    X : array of shape (n_samples, n_features)
        Checked rows.
    size : int
        Rows in a block.
    order : array of int, default=None
        An order of the rows; ``None``: as they stand.

    Examples
    --------
    >>> rows = FeatureRows.learnt(None, np.eye(3))
    >>> [Z.shape for _, Z in feature_blocks(rows, np.eye(3), 2)]
    [(2, 3), (1, 3)]
    """
    for start, stop in cut(X.shape[0], size):
        if order is None:
            yield slice(start, stop), rows.block(rows_between(X, start, stop), start)
            continue
        chosen = order[start:stop]
        try:
            Z = rows.block(rows_at(X, chosen))
        except NonFiniteError as error:
            # The row of the error is that of the block; the user counts those of X.
            place = int(chosen[error.row])
            raise NonFiniteError(error.what, error.name, place, error.column) from None
        yield chosen, Z
