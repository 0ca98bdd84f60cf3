"""Features of few bits as an array of words, which knows what its bits are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._registry import storable
from ...engine.blocks import cut, plan_rows
from ...engine.threads import run_tasks
from ...ops.packed import BITS, n_words, pack_codes, unpack_rows
from .code import TERNARY, Code
from .products import column_products, product, row_gram


@storable
class PackedFeatures:
    r"""A matrix of features of one to eight bits, a bit of each entry in every plane.

    The value of an entry is ``offset + sum_k weights[k] * bit_k``; see
    :class:`~mercer.features.packed.Code`. Rows are packed into 64-bit words: 16 (two planes) or
    32 (one plane) times less memory than float32.

    Parameters
    ----------
    planes : uint64 array of shape (n_planes, n_rows, n_words)
        Bit c of word w belongs to column 64 w + c; bits beyond the columns are zero. Kept, not
        copied.
    n_columns : int
        Columns of the matrix.
    code : Code
        What bits are worth.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PackedFeatures
    >>> Z = PackedFeatures.pack(np.asarray([[1, 0, -1], [1, 1, 0]], dtype=np.int8))
    >>> Z.gram()
    array([[2, 1],
           [1, 2]])
    >>> Z @ np.asarray([1.0, 10.0, 100.0])
    array([-99.,  11.])
    >>> np.asarray(Z[1:])
    array([[1, 1, 0]], dtype=int8)
    """

    n_columns: int
    code: Code

    ndim = 2
    #: NumPy leaves ``array @ packed`` to this class, instead of unpacking it.
    __array_ufunc__ = None

    def __init__(self, planes: np.ndarray, n_columns: int, code: Code) -> None:
        self.n_columns, self.code = int(n_columns), code
        view = np.asarray(planes)[:]
        view.flags.writeable = False
        self.planes = view
        self.__mercer_check__()

    @classmethod
    def pack(cls, values: Any, code: Code = TERNARY) -> PackedFeatures:
        """Return values, such as those of ``unpack``, in packed form.

        Parameters
        ----------
        values : array of shape (n_rows, n_columns)
            Values of the code; others are refused.
        code : Code, default=TERNARY
            What bits are worth.

        Examples
        --------
        >>> from mercer import PackedFeatures
        >>> from mercer.features.packed import SIGN
        >>> PackedFeatures.pack([[1, -1, 1]], SIGN).planes.tolist()
        [[[5]]]
        """
        return _packed(values, code, code.codes_of)

    @classmethod
    def from_codes(cls, codes: Any, code: Code) -> PackedFeatures:
        """Return integer codes in packed form: bit k of a code is that of plane k.

        Parameters
        ----------
        codes : integer array of shape (n_rows, n_columns)
            Numbers from 0 to 2^n_planes - 1.
        code : Code
            What bits are worth.

        Examples
        --------
        >>> from mercer import PackedFeatures
        >>> from mercer.features.packed import Code
        >>> PackedFeatures.from_codes([[0, 3]], Code.uniform(2, -1.0, 1.0)).unpack()
        array([[-1.,  1.]], dtype=float32)
        """

        def checked(block: np.ndarray) -> np.ndarray:
            top = 2**code.n_planes - 1
            fits = block.size == 0 or 0 <= block.min() <= block.max() <= top
            if block.dtype.kind not in "biu" or not fits:
                raise ValueError(f"codes must be integers from 0 to {top}.")
            return block

        return _packed(codes, code, checked)

    @classmethod
    def concatenate(cls, parts: Sequence[PackedFeatures]) -> PackedFeatures:
        """Return the rows of several packed features of one code, one below the other.

        Examples
        --------
        >>> from mercer import PackedFeatures
        >>> Z = PackedFeatures.pack([[1, 0, -1]])
        >>> PackedFeatures.concatenate([Z, Z]).shape
        (2, 3)
        """
        parts = list(parts)
        if not parts or any(
            (part.n_columns, part.code) != (parts[0].n_columns, parts[0].code) for part in parts
        ):
            raise ValueError("parts must be packed features of one code and of as many columns.")
        planes = np.concatenate([part.planes for part in parts], axis=1)
        return cls(planes, parts[0].n_columns, parts[0].code)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.planes.shape[1], self.n_columns

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return np.dtype(self.code.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the words."""
        return int(self.planes.nbytes)

    def __len__(self) -> int:
        return self.planes.shape[1]

    def __getitem__(self, rows: Any) -> Any:
        """Return rows in packed form (of a slice a view), or the values of a single one."""
        if isinstance(rows, tuple):
            raise TypeError("packed features are taken apart by rows; unpack() to select columns.")
        if isinstance(rows, (int, np.integer)):
            rows = range(len(self))[rows]
            return self[rows : rows + 1].unpack()[0]
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.shape == (0,):
                rows = rows.astype(np.intp)
            elif rows.ndim != 1 or rows.dtype.kind not in "biu":
                raise TypeError("rows are a slice, an array of integers or a boolean mask.")
        return type(self)(self.planes[:, rows], self.n_columns, self.code)

    def take(self, rows: Any, axis: int = 0) -> PackedFeatures:
        """Return a copy of some rows, by an array of their places.

        Parameters
        ----------
        rows : integer array or boolean mask
            The rows.
        axis : int, default=0
            Always 0; for those who call it as they would NumPy's.
        """
        if axis != 0:
            raise ValueError("packed features are taken apart by rows: axis must be 0.")
        found: PackedFeatures = self[np.asarray(rows)]
        return found

    def unpack(self, dtype: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the values as a dense array.

        Parameters
        ----------
        dtype : dtype, default=None
            A floating dtype, or a signed integer one if the values are integers; ``None``: that
            of ``out``, or else the code's own.
        out : array of shape (n_rows, n_columns), default=None
            Where the values go.
        """
        dtype = self.code.checked_dtype(out.dtype if dtype is None and out is not None else dtype)
        if out is None:
            out = np.empty(self.shape, dtype=dtype)
        elif out.shape != self.shape or out.dtype != dtype:
            raise ValueError(
                f"out must have shape {self.shape} and dtype {dtype}, got {out.shape} and "
                f"{out.dtype}."
            )

        def work(span: tuple[int, int]) -> None:
            block = slice(*span)
            unpack_rows(self.planes[:, block], self.code.weights, self.code.offset, out[block])

        plan = plan_rows(len(self), self.n_columns * dtype.itemsize)
        run_tasks(work, cut(len(self), plan.rows), _length, "unpacking", plan.workers)
        return out

    def unpack_blocks(self, size: int, dtype: Any = None) -> Iterator[np.ndarray]:
        """Yield the values in blocks of ``size`` rows, the last one shorter."""
        for start, stop in cut(len(self), size):
            yield self[start:stop].unpack(dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return all values as a dense array, for ``np.asarray``."""
        if copy is False:
            raise ValueError(
                "packed features have no dense values to share: copy must not be False."
            )
        values = self.unpack()
        return values if dtype is None else values.astype(dtype, copy=False)

    def gram(self, other: PackedFeatures | None = None) -> np.ndarray:
        """Return the inner products of all pairs of rows, in int64 if values are integers.

        Parameters
        ----------
        other : PackedFeatures, default=None
            The other rows, of the same code; ``None``: these ones.
        """
        return row_gram(self, other)

    def matmul(self, coefficients: Any) -> np.ndarray:
        """Return the product with a dense vector or matrix, in its floating dtype."""
        return product(self, coefficients)

    def __matmul__(self, coefficients: Any) -> np.ndarray:
        return product(self, coefficients)

    def __rmatmul__(self, left: Any) -> np.ndarray:
        left = np.asarray(left)
        return column_products(self, left.T).T

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same values in the same code."""
        if not isinstance(other, PackedFeatures):
            return NotImplemented
        return (self.shape, self.code) == (other.shape, other.code) and np.array_equal(
            self.planes, other.planes
        )

    def __repr__(self) -> str:
        rows, columns = self.shape
        bits = "1 bit" if self.code.n_planes == 1 else f"{self.code.n_planes} bits"
        return (
            f"PackedFeatures({rows:,} x {columns:,}, {bits} an entry, {self.nbytes / 1e6:.3g} MB)"
        )

    def __mercer_check__(self) -> None:
        """Raise an error if the planes do not fit the columns and the code."""
        planes, code, n_columns = self.planes, self.code, self.n_columns
        if not isinstance(code, Code) or not isinstance(n_columns, int) or n_columns < 1:
            raise ValueError("packed features need a Code and at least one column.")
        if not isinstance(planes, np.ndarray) or planes.dtype != np.uint64 or planes.ndim != 3:
            raise ValueError("planes must be a uint64 array of shape (n_planes, n_rows, n_words).")
        wanted = code.n_planes, planes.shape[1], n_words(n_columns)
        if planes.shape != wanted:
            raise ValueError(f"planes must have shape {wanted}, got {planes.shape}.")
        used = n_columns % BITS
        if used and (planes[:, :, -1] >> np.uint64(used)).any():
            raise ValueError(f"planes have bits beyond column {n_columns}.")


def _packed(values: Any, code: Code, codes_of: Any) -> PackedFeatures:
    """Return packed features of values that a function turns into codes, block by block."""
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"values must have two dimensions, got shape {values.shape}.")
    n_rows, n_columns = values.shape
    planes = np.empty((code.n_planes, n_rows, n_words(n_columns)), dtype=np.uint64)

    def work(span: tuple[int, int]) -> None:
        pack_codes(codes_of(values[slice(*span)]), planes[:, slice(*span)])

    plan = plan_rows(n_rows, n_columns * BITS // 2)
    run_tasks(work, cut(n_rows, plan.rows), _length, "packing", plan.workers)
    return PackedFeatures(planes, n_columns, code)


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]
