"""Rows that landmarks are chosen from: a sample of a stream, or rows of given numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..._array import is_sparse
from ..._random import Stream
from ..._registry import storable
from ...engine.sample import RowSample, rows_of
from ...kernels import Kernel
from ...kernels.lengthscale import RowSummary
from ...kernels.single_precision import float32_matrix

#: Numbers of the candidates' rows, and of a factor with a column for each landmark.
ROW_ENTRIES, FACTOR_ENTRIES = 2**24, 2**26
#: Candidates for each landmark, and at least.
EACH, FEWEST = 10, 10_000
#: Entries beyond which squares do not fit float32.
LARGE = 1e15


def n_candidates(size: int) -> int:
    """Return from how many rows so many landmarks are chosen by default.

    Examples
    --------
    >>> n_candidates(100), n_candidates(2000), n_candidates(8192)
    (10000, 20000, 16384)
    """
    return max(2 * size, min(max(FEWEST, EACH * size), FACTOR_ENTRIES // size))


@storable
class SampledRows(RowSummary):
    """A summary of rows that keeps a larger uniform sample of them.

    Parameters
    ----------
    limit : int
        Rows to keep.
    stream : Stream
        Where the randomness comes from.
    """

    def __init__(self, limit: int, stream: Stream) -> None:
        super().__init__()
        self._candidates = RowSample(limit, stream, ROW_ENTRIES)

    def update(self, block: Any) -> None:
        """Add a block of rows."""
        super().update(block)
        self._candidates.add(block)

    def skip(self, n_rows: int) -> None:
        """Pass over rows that another summary sees before those of this one."""
        super().skip(n_rows)
        self._candidates.skip(n_rows)

    def merge(self, other: RowSummary) -> None:
        """Add the rows that another summary has seen."""
        super().merge(other)
        if isinstance(other, SampledRows):
            self._candidates.merge(other._candidates)

    @property
    def candidates(self) -> Any:
        """The sample, in the order of the rows."""
        return self._candidates.columns[0]


@storable
class NumberedRows(RowSummary):
    """A summary of rows that keeps those of given numbers.

    Parameters
    ----------
    numbers : array of int
        Which rows of the stream.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        super().__init__()
        self._numbers = np.asarray(numbers, dtype=np.int64)
        self._found: dict[int, Any] = {}
        self._before = 0

    def update(self, block: Any) -> None:
        """Add a block of rows."""
        start = self._before + self.n_rows
        super().update(block)
        stop = self._before + self.n_rows
        inside = self._numbers[(self._numbers >= start) & (self._numbers < stop)]
        for number in inside.tolist():
            self._found[number] = rows_of(block, np.asarray([number - start]))

    def skip(self, n_rows: int) -> None:
        """Pass over rows that another summary sees before those of this one."""
        super().skip(n_rows)
        self._before += n_rows

    def merge(self, other: RowSummary) -> None:
        """Add the rows that another summary has seen."""
        super().merge(other)
        if isinstance(other, NumberedRows):
            self._found |= other._found

    @property
    def candidates(self) -> Any:
        """The rows, in the order of their numbers in ``landmarks``."""
        missing = [int(number) for number in self._numbers if int(number) not in self._found]
        if missing:
            raise ValueError(
                f"landmarks={missing[0]} is not the number of a row: X has {self.n_rows} rows, "
                f"numbered 0 to {self.n_rows - 1}."
            )
        rows = [self._found[int(number)] for number in self._numbers]
        if is_sparse(rows[0]):
            return scipy.sparse.csr_array(scipy.sparse.vstack(rows))
        return np.concatenate(rows)


class KernelOfRows:
    """The kernel matrix of some rows, of which columns and blocks are computed when asked for.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n, d)
        NumPy or CSR rows.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> K = KernelOfRows(Gaussian(), np.zeros((3, 2)))
    >>> K.size, K.diagonal, K.block(np.asarray([0]), np.asarray([1, 2]))
    (3, array([1., 1., 1.]), array([[1., 1.]]))
    """

    size: int

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self._kernel, self._rows, self.size = kernel, rows, int(rows.shape[0])
        self._single = not is_sparse(rows) and float(np.abs(rows).max(initial=0.0)) < LARGE
        #: The diagonal of the matrix.
        self.diagonal: np.ndarray = np.asarray(kernel.diag(rows), dtype=float)
        if not (self.diagonal > 0).any():
            raise ValueError(
                "The kernel of every row with itself is zero or negative: there is nothing to make "
                "features of; use another kernel, or check the function that computes it."
            )

    def columns(self, at: np.ndarray) -> np.ndarray:
        """Return whole columns, to the precision of float32 where that is faster."""
        if not self._single:
            return self.exact_columns(at)
        return np.asarray(float32_matrix(self._kernel, self._rows, self._rows[at]), dtype=float)

    def exact_columns(self, at: np.ndarray) -> np.ndarray:
        """Return whole columns, in double precision."""
        rows = self._rows.astype(float, copy=False)
        return np.asarray(self._kernel(rows, rows[at]), dtype=float)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return a block, in double precision."""
        X, Y = (self._rows[at].astype(float, copy=False) for at in (rows, columns))
        return np.asarray(self._kernel(X, Y), dtype=float)
