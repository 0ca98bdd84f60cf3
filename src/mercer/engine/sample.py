"""A uniform sample of rows from a stream, the same however the stream is cut."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse

from .._array import is_sparse, namespace, to_numpy
from .._random import Stream, skip_doubles
from .._registry import storable
from .blocks import row_width

#: Numbers that a sample may hold, however wide its rows are. Not the memory budget decides: what
#: is learnt from a sample should not depend on it.
ENTRIES = 5_000_000


@runtime_checkable
class Packed(Protocol):
    """Rows of few bits that can be unpacked."""

    def take(self, rows: np.ndarray) -> Packed:
        """Return some rows."""
        ...

    def unpack(self, dtype: str) -> np.ndarray:
        """Return them as a dense array."""
        ...


@storable
class RowSample:
    """The rows of smallest random key: each row of the stream draws one, in order.

    Parameters
    ----------
    limit : int
        Rows to keep; fewer where they are wide.
    stream : Stream, optional
        Where keys come from; by default the same for all samples.
    entries : int, optional
        Numbers that the sample may hold.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.engine.sample import RowSample
    >>> whole, streamed = RowSample(5), RowSample(5)
    >>> X = np.arange(100.0)[:, None]
    >>> whole.add(X)
    >>> for block in np.split(X, 4):
    ...     streamed.add(block)
    >>> bool(np.array_equal(whole.columns[0], streamed.columns[0]))
    True
    """

    limit: int

    def __init__(self, limit: int, stream: Stream | None = None, entries: int = ENTRIES) -> None:
        self.limit, self._entries = limit, entries
        self.keys: np.ndarray = np.empty(0)
        self.columns: list[Any] = []
        self._generator = (stream or Stream(0).child("row summary")).generator()

    def add(self, *columns: Any) -> None:
        """Add a block of rows, given as groups of columns with a row each."""
        keys = self._generator.random(columns[0].shape[0])
        limit = self._affordable(columns)
        if len(self.keys) >= limit:
            # A row whose key is not below the largest one kept has no chance.
            chosen = np.flatnonzero(keys < self.keys.max())
            if not len(chosen):
                return
        else:
            chosen = np.sort(np.argsort(keys, kind="stable")[:limit])
        self._keep(keys[chosen], [rows_of(column, chosen) for column in columns], limit)

    def skip(self, n_rows: int) -> None:
        """Pass over rows that another sample gets: they draw keys, too.

        Examples
        --------
        >>> whole, second = RowSample(10), RowSample(10)
        >>> whole.add(np.arange(10.0)[:, None])
        >>> second.skip(7)
        >>> second.add(np.arange(7.0, 10.0)[:, None])
        >>> bool(np.array_equal(second.keys, whole.keys[7:]))
        True
        """
        skip_doubles(self._generator, n_rows)

    def merge(self, other: RowSample) -> None:
        """Add the rows of another sample."""
        if other.columns:
            self._keep(other.keys, other.columns, self._affordable(other.columns))

    def _affordable(self, columns: Any) -> int:
        width = sum(row_width(column) if column.ndim > 1 else 1 for column in columns)
        return max(2, min(self.limit, self._entries // width))

    def _keep(self, keys: np.ndarray, columns: list[Any], limit: int) -> None:
        if self.columns:
            keys = np.concatenate([self.keys, keys])
            columns = [_stacked(a, b) for a, b in zip(self.columns, columns, strict=True)]
        kept = np.sort(np.argsort(keys, kind="stable")[:limit])
        self.keys = keys[kept]
        self.columns = [rows_of(column, kept) for column in columns]


def rows_of(block: Any, indices: np.ndarray) -> Any:
    """Return some rows of a block as NumPy or CSR rows; packed ones are unpacked."""
    if isinstance(block, Packed):
        return block.take(indices).unpack("float32")
    if is_sparse(block):
        return scipy.sparse.csr_array(block)[indices]
    if isinstance(block, np.ndarray):
        return block[indices]
    xp = namespace(block)
    return to_numpy(xp.take(block, xp.asarray(indices, device=block.device), axis=0))


def _stacked(first: Any, second: Any) -> Any:
    if is_sparse(first) or is_sparse(second):
        parts = [scipy.sparse.csr_array(part) for part in (first, second)]
        return scipy.sparse.csr_array(scipy.sparse.vstack(parts))
    return np.concatenate([first, second])
