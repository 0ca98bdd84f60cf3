"""Products of packed features: by counts of bits where that is exact, else by blocks of floats."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._array import floating_name
from ...engine.blocks import cut, plan_rows
from ...engine.memory import allocate
from ...engine.threads import allowed_threads, run_tasks
from ...ops.packed import (
    BITS,
    add_inner_products,
    add_masked_sums,
    transpose_bits,
    unpack_rows,
    weighted_counts,
)
from ...ops.products import add_gram

if TYPE_CHECKING:
    from .features import PackedFeatures

#: Planes up to which counts of bits are faster than products of unpacked blocks.
COUNTED_PLANES = 2
#: Bytes of one side of a tile, two of which share a core's cache.
SIDE_BYTES = 2**18
#: Rows or columns of a tile.
FEWEST, MOST = 32, 512
#: Rows whose bits are transposed at once.
CHUNK_ROWS = 2**14
#: Columns of unpacked blocks that are multiplied at once, and their rows.
BLOCK_COLUMNS, BLOCK_ROWS = 4096, 256
#: Words of a strip of columns, and targets up to which masked sums are faster than BLAS.
STRIP_WORDS, MASKED_TARGETS = 16, 8


def row_gram(left: PackedFeatures, right: PackedFeatures | None = None) -> np.ndarray:
    """Return the inner products of all pairs of rows, in int64 if values are integers.

    Parameters
    ----------
    left : PackedFeatures
        Rows.
    right : PackedFeatures, default=None
        The other rows, of the same code; ``None``: the same rows.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> row_gram(PackedFeatures.pack([[1, -1, 0]]))
    array([[2]])
    """
    code, symmetric = left.code, right is None
    other = left if right is None else right
    if (other.code, other.n_columns) != (code, left.n_columns):
        raise ValueError("Both sides must have the same code and as many columns.")
    dtype = "int64" if code.is_integer else "float64"
    out = allocate(np.empty(0), (len(left), len(other)), dtype)
    counted = code.n_planes <= COUNTED_PLANES
    side = _side(left.planes) if counted else BLOCK_ROWS

    def fill(rows: slice, columns: slice) -> None:
        target = out[rows, columns]
        target[:] = 0
        a, b = left.planes[:, rows], other.planes[:, columns]
        if counted:
            add_inner_products(a, b, code.weights, code.offset, left.n_columns, target)
            return
        for start, stop in cut(left.n_columns, BLOCK_COLUMNS):
            first, second = (_floats(left, part, start, stop) for part in (a, b))
            # Products of integers are integers in float64, too.
            target += (first @ second.T).astype(out.dtype)

    _run_tiles(fill, len(left), len(other), side, symmetric, "Gram matrix")
    if symmetric:
        _mirror(out)
    return out


def column_gram(packed: PackedFeatures) -> np.ndarray:
    """Return ZᵀZ for the values Z of packed features, in int64 if they are integers.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> column_gram(PackedFeatures.pack([[1, -1], [1, 0]]))
    array([[ 2, -1],
           [-1,  1]])
    """
    m, integer = packed.n_columns, packed.code.is_integer
    # By columns, as sums of products of unpacked blocks want it; symmetric at the end.
    allocated = allocate(np.empty(0), (m, m), "int64" if integer else "float64").T
    allocated[:] = 0
    if integer and packed.code.n_planes > COUNTED_PLANES:
        sums = np.zeros((m, m), order="F")
        add_column_gram(sums, packed)
        allocated[:] = np.rint(sums)
    else:
        add_column_gram(allocated, packed)
    _mirror(allocated)
    return allocated


def add_column_gram(total: np.ndarray, packed: PackedFeatures) -> None:
    """Add ZᵀZ to the upper triangle of sums; what is below the diagonal is not kept up.

    Parameters
    ----------
    total : array of shape (n_columns, n_columns)
        The sums: of integers, or float64, which is exact as long as integers stay below 2^53.
        Values that are not integers, or have more than two bits, need float64, best stored by
        columns.
    packed : PackedFeatures
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PackedFeatures
    >>> total = np.zeros((2, 2))
    >>> add_column_gram(total, PackedFeatures.pack([[1, -1], [1, 0]]))
    >>> np.triu(total)
    array([[ 2., -1.],
           [ 0.,  1.]])
    """
    code, m = packed.code, packed.n_columns
    if total.dtype.kind == "i" and not code.is_integer:
        raise ValueError(f"total must be float64, as values are {code.dtype}.")
    if code.n_planes > COUNTED_PLANES:
        if total.dtype != np.float64:
            raise ValueError(f"total must be float64 for codes of {code.n_planes} bits.")
        with allowed_threads():
            for block in packed.unpack_blocks(_rows_of_block(m), np.float64):
                add_gram(total, block)
        return
    for start, stop in cut(len(packed), CHUNK_ROWS):
        columns = _columns(packed[start:stop])
        length = stop - start

        def add(rows: slice, others: slice, bits: Any = columns, length: int = length) -> None:
            target = total[rows, others]
            a, b = bits[:, rows], bits[:, others]
            add_inner_products(a, b, code.weights, code.offset, length, target)

        _run_tiles(add, m, m, _side(columns), True, "products of columns")


def column_sums(packed: PackedFeatures) -> np.ndarray:
    """Return the sum of each column: int64 if values are integers, else float64.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> column_sums(PackedFeatures.pack([[1, -1], [1, 0]]))
    array([ 2, -1])
    """
    code, m = packed.code, packed.n_columns
    total = np.full(m, code.offset * len(packed), np.int64 if code.is_integer else np.float64)
    for start, stop in cut(len(packed), CHUNK_ROWS):
        total += weighted_counts(_columns(packed[start:stop]), code.weights)
    return total


def column_products(packed: PackedFeatures, Y: Any) -> np.ndarray:
    """Return ZᵀY in float64, for the values Z of packed features.

    Parameters
    ----------
    packed : PackedFeatures
        The rows.
    Y : array of shape (n_rows,) or (n_rows, n_targets)
        Targets of the rows.

    Examples
    --------
    >>> from mercer import PackedFeatures
    >>> column_products(PackedFeatures.pack([[1, -1], [1, 0]]), [0.5, 2.0])
    array([ 2.5, -0.5])
    """
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim not in (1, 2) or len(Y) != len(packed):
        raise ValueError(f"Y must have {len(packed)} rows, one for each of the features'.")
    targets = np.ascontiguousarray(Y.reshape(len(Y), -1))
    planes, code = packed.planes, packed.code
    out = np.empty((packed.n_columns, targets.shape[1]))
    few = targets.shape[1] <= MASKED_TARGETS
    words = STRIP_WORDS if few else BLOCK_COLUMNS // BITS
    base = code.offset * targets.sum(axis=0) if few else 0.0

    def work(span: tuple[int, int]) -> None:
        bits = planes[:, :, slice(*span)]
        start, stop = span[0] * BITS, min(span[1] * BITS, packed.n_columns)
        sums = np.zeros((targets.shape[1], (span[1] - span[0]) * BITS))
        if few:
            add_masked_sums(bits, targets, code.weights, sums)
        else:
            buffer = np.empty((BLOCK_ROWS, stop - start))
            for rows in (slice(*rows) for rows in cut(len(packed), BLOCK_ROWS)):
                block = buffer[: rows.stop - rows.start]
                unpack_rows(bits[:, rows], code.weights, code.offset, block)
                sums[:, : stop - start] += targets[rows].T @ block
        out[start:stop] = sums[:, : stop - start].T + base

    run_tasks(work, cut(planes.shape[2], words), lambda _: 1, "sums of targets")
    return out[:, 0] if Y.ndim == 1 else out


def product(packed: PackedFeatures, coefficients: Any) -> np.ndarray:
    """Return the product of packed features with a dense vector or matrix, block by block.

    Parameters
    ----------
    packed : PackedFeatures
        The rows.
    coefficients : array of shape (n_columns,) or (n_columns, n_targets)
        What to multiply with; the result has its floating dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PackedFeatures
    >>> product(PackedFeatures.pack([[1, -1], [1, 0]]), np.asarray([0.5, 2.0]))
    array([-1.5,  0.5])
    """
    given = np.asarray(coefficients)
    if given.ndim not in (1, 2) or len(given) != packed.n_columns:
        raise ValueError(
            f"coefficients must have {packed.n_columns} rows, one for each column of the features, "
            f"got shape {given.shape}."
        )
    dtype = np.dtype(floating_name(given))
    factor = np.ascontiguousarray(given, dtype=dtype)
    out = np.empty((len(packed), *given.shape[1:]), dtype=dtype)
    plan = plan_rows(len(packed), packed.n_columns * dtype.itemsize)
    local = threading.local()

    def work(span: tuple[int, int]) -> None:
        if getattr(local, "buffer", None) is None:
            local.buffer = np.empty((plan.rows, packed.n_columns), dtype=dtype)
        rows, block = slice(*span), local.buffer[: span[1] - span[0]]
        unpack_rows(packed.planes[:, rows], packed.code.weights, packed.code.offset, block)
        np.matmul(block, factor, out=out[rows])

    run_tasks(work, cut(len(packed), plan.rows), lambda s: s[1] - s[0], "product", plan.workers)
    return out


def _columns(packed: PackedFeatures) -> np.ndarray:
    """Return the bits of columns, of shape (n_planes, n_columns, n_words(n_rows))."""
    m, planes = packed.n_columns, packed.planes
    words = -(-len(packed) // BITS)
    out = np.empty((len(planes), m, words), dtype=np.uint64)

    def work(span: tuple[int, int]) -> None:
        start, stop = span[0] * BITS, min(span[1] * BITS, m)
        for plane, target in zip(planes, out, strict=True):
            target[start:stop] = transpose_bits(plane[:, slice(*span)])[: stop - start]

    run_tasks(work, cut(planes.shape[2], STRIP_WORDS), lambda _: 1, "transposing bits")
    return out


def _floats(packed: PackedFeatures, planes: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return the values of some columns of planes in float64; ``start`` begins a word."""
    out = np.empty((planes.shape[1], stop - start))
    words = planes[:, :, start // BITS : -(-stop // BITS)]
    unpack_rows(words, packed.code.weights, packed.code.offset, out)
    return out


def _side(planes: np.ndarray) -> int:
    """Return how many rows of planes one side of a tile has."""
    return int(np.clip(SIDE_BYTES // (8 * len(planes) * planes.shape[2]), FEWEST, MOST))


def _rows_of_block(n_columns: int) -> int:
    """Return how many unpacked rows a product of all columns takes at once."""
    return plan_rows(2**20, 8 * n_columns).rows


def _run_tiles(
    work: Any, n_rows: int, n_columns: int, side: int, symmetric: bool, label: str
) -> None:
    """Call ``work`` with the slices of every tile; of a symmetric matrix only the upper ones."""
    tasks = [
        (slice(*rows), slice(*columns))
        for rows in cut(n_rows, side)
        for columns in cut(n_columns, side)
        if not symmetric or rows[0] <= columns[0]
    ]
    run_tasks(lambda task: work(*task), tasks, lambda _: 1, label)


def _mirror(matrix: np.ndarray) -> None:
    """Copy the upper triangle of a square matrix to the lower one, tile by tile."""
    spans = [slice(*span) for span in cut(len(matrix), MOST)]
    for rows in spans:
        for columns in spans:
            if columns.start > rows.start:
                matrix[columns, rows] = matrix[rows, columns].T
        square = matrix[rows, rows]
        square[:] = np.triu(square) + np.triu(square, 1).T
