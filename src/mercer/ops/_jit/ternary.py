"""Sums of features with signs, and bits of what crosses a threshold, for groups of rows.

A group of rows is transposed, so that one feature of all its rows is contiguous: a column of a
ternary projection is then a sum of whole vectors, one addition for each non-zero entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from . import compiled

#: Bytes of one feature of a group of rows: two registers of the widest SIMD instructions.
GROUP_BYTES = 128
#: Bytes of a cache line.
LINE_BYTES = 64
#: Sums that run side by side, so that an addition does not wait for the one before it.
ACCUMULATORS = 4
#: Columns that are summed before their results are turned back into rows; bits of a word.
PANEL = 64
#: Codes of what becomes of a value; see ``mercer.ops.thresholds``.
ODD, EVEN, SIGN = 0, 1, 2


@intrinsic
def _signed_sum(typing_context: Any, table: Any, indices: Any, spans: Any, target: Any) -> Any:
    """Write the sum of some rows of a table minus that of others to ``target``.

    ``spans`` are three places in ``indices``: rows from the first to the second are added, those
    up to the third subtracted. numba would keep a sum in memory, where every addition waits for
    the store of the one before; this is the same loop with the sums in registers.
    """
    lanes = GROUP_BYTES // (table.dtype.bitwidth // 8)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        number = context.get_value_type(kinds[0].dtype)
        vector = ir.VectorType(number, lanes)
        zero = ir.Constant(vector, [ir.Constant(number, 0.0)] * lanes)
        alignment = kinds[0].dtype.bitwidth // 8
        rows, places, result = (
            context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (0, 1, 3)
        )
        rows, result = (builder.bitcast(data, vector.as_pointer()) for data in (rows, result))
        start, middle, stop = cgutils.unpack_tuple(builder, arguments[2])
        integer = start.type

        def add(k: Any, sums: Any) -> None:
            place = builder.zext(builder.load(builder.gep(places, [k])), integer)
            row = builder.load(builder.gep(rows, [place]), align=alignment)
            builder.store(builder.fadd(builder.load(sums), row), sums)

        def total(first: Any, last: Any) -> Any:
            sums = [cgutils.alloca_once(builder, vector) for _ in range(ACCUMULATORS)]
            for one in sums:
                builder.store(zero, one)
            whole = builder.and_(builder.sub(last, first), integer(-ACCUMULATORS))
            whole = builder.add(first, whole)
            step = integer(ACCUMULATORS)
            with cgutils.for_range_slice(builder, first, whole, step) as (k, _):
                for u, one in enumerate(sums):
                    add(builder.add(k, integer(u)), one)
            with cgutils.for_range_slice(builder, whole, last, integer(1)) as (k, _):
                add(k, sums[0])
            values = [builder.load(one) for one in sums]
            while len(values) > 1:
                pairs = zip(values[::2], values[1::2], strict=True)
                values = [builder.fadd(left, right) for left, right in pairs]
            return values[0]

        difference = builder.fsub(total(start, middle), total(middle, stop))
        builder.store(difference, result, align=alignment)
        return context.get_dummy_value()

    return types.void(table, indices, spans, target), code


@intrinsic
def _word_above(typing_context: Any, values: Any, start: Any, bounds: Any, column: Any) -> Any:
    """Return a word with a bit for each of 64 values that is above its bound.

    Both are contiguous; the first value is at ``start``, the first bound at ``column``.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        number = context.get_value_type(kinds[0].dtype)
        pointer = ir.VectorType(number, PANEL).as_pointer()
        sides = []
        for k in (0, 2):
            data = context.make_array(kinds[k])(context, builder, arguments[k]).data
            data = builder.bitcast(builder.gep(data, [arguments[k + 1]]), pointer)
            sides.append(builder.load(data, align=kinds[k].dtype.bitwidth // 8))
        return builder.bitcast(builder.fcmp_ordered(">", *sides), ir.IntType(PANEL))

    return types.uint64(values, start, bounds, column), code


@compiled
def _aligned(like, rows, columns):
    """Return zeros whose rows begin with a cache line: a load across two takes twice the time."""
    room = np.zeros(rows * columns + LINE_BYTES // like.itemsize, like.dtype)
    skip = (-room.ctypes.data % LINE_BYTES) // like.itemsize
    return room[skip : skip + rows * columns].reshape(rows, columns)


@compiled
def _fill_table(X, first, table):
    """Transpose a group of rows; return how many there are."""
    rows = min(table.shape[1], X.shape[0] - first)
    for r in range(rows):
        row = X[first + r]
        for j in range(row.shape[0]):
            table[j, r] = row[j]
    return rows


@compiled
def _fill_panel(table, indices, offsets, first, panel, values):
    """Write the projections of a group on some columns, a row for each row of the group."""
    for c in range(min(PANEL, offsets.shape[0] // 2 - first)):
        k = 2 * (first + c)
        _signed_sum(table, indices, (offsets[k], offsets[k + 1], offsets[k + 2]), panel[c])
    # Whole rows, even where columns are missing: loops of a known length over contiguous numbers.
    for r in range(values.shape[0]):
        for c in range(PANEL):
            values[r, c] = panel[c, r]


@compiled
def dense_rows(X, indices, offsets, out):
    """Write the projection of every row of ``X`` to ``out``."""
    n, d = X.shape
    m = out.shape[1]
    group = GROUP_BYTES // X.itemsize
    table, panel = _aligned(X, d, group), _aligned(X, PANEL, group)
    values = _aligned(X, group, PANEL)
    for i in range(0, n, group):
        rows = _fill_table(X, i, table)
        for c in range(0, m, PANEL):
            _fill_panel(table, indices, offsets, c, panel, values)
            few = min(PANEL, m - c)
            for r in range(rows):
                for j in range(few):
                    out[i + r, c + j] = values[r, j]


@compiled
def dense_codes(X, indices, offsets, lower, upper, kind, out):
    """Write what thresholds make of the projection of every row to ``out``, in int8."""
    n, d = X.shape
    m = out.shape[1]
    group = GROUP_BYTES // X.itemsize
    table, panel = _aligned(X, d, group), _aligned(X, PANEL, group)
    values = _aligned(X, group, PANEL)
    flat = values.reshape(-1)
    for i in range(0, n, group):
        rows = _fill_table(X, i, table)
        for c in range(0, m, PANEL):
            few = min(PANEL, m - c)
            _fill_panel(table, indices, offsets, c, panel, values)
            for r in range(rows):
                code_span(flat, r * PANEL, few, lower, upper, kind, out, i + r, c)


@compiled
def dense_planes(X, indices, offsets, lower, upper, kind, planes, first):
    """Write the bits of the projection of every row to rows of ``planes`` from ``first`` on."""
    n, d = X.shape
    m = upper.shape[0]
    group = GROUP_BYTES // X.itemsize
    table, panel = _aligned(X, d, group), _aligned(X, PANEL, group)
    values = _aligned(X, group, PANEL)
    flat = values.reshape(-1)
    for i in range(0, n, group):
        rows = _fill_table(X, i, table)
        for c in range(0, m, PANEL):
            few = min(PANEL, m - c)
            _fill_panel(table, indices, offsets, c, panel, values)
            for r in range(rows):
                pack_word(flat, r * PANEL, few, lower, upper, kind, planes, first + i + r, c)


@compiled
def _sparse_row(data, columns, indices, offsets, target):
    """Write the projection of one sparse row, from the signed lists of the rows of a matrix."""
    target[:] = 0
    for k in range(data.shape[0]):
        value, place = data[k], 2 * columns[k]
        for e in range(offsets[place], offsets[place + 1]):
            target[indices[e]] += value
        for e in range(offsets[place + 1], offsets[place + 2]):
            target[indices[e]] -= value


@compiled
def sparse_rows(data, columns, indptr, indices, offsets, out):
    """Write the projection of every CSR row to ``out``."""
    for i in range(out.shape[0]):
        span = slice(indptr[i], indptr[i + 1])
        _sparse_row(data[span], columns[span], indices, offsets, out[i])


@compiled
def sparse_codes(data, columns, indptr, indices, offsets, lower, upper, kind, out):
    """Write what thresholds make of the projection of every CSR row to ``out``, in int8."""
    m = out.shape[1]
    values = np.empty(m, data.dtype)
    for i in range(out.shape[0]):
        span = slice(indptr[i], indptr[i + 1])
        _sparse_row(data[span], columns[span], indices, offsets, values)
        code_span(values, 0, m, lower, upper, kind, out, i, 0)


@compiled
def sparse_planes(data, columns, indptr, indices, offsets, lower, upper, kind, planes, first):
    """Write the bits of the projection of every CSR row to rows of ``planes``."""
    m = upper.shape[0]
    values = np.empty(m, data.dtype)
    for i in range(indptr.shape[0] - 1):
        span = slice(indptr[i], indptr[i + 1])
        _sparse_row(data[span], columns[span], indices, offsets, values)
        for c in range(0, m, PANEL):
            few = min(PANEL, m - c)
            pack_word(values, c, few, lower, upper, kind, planes, first + i, c)


@compiled
def value_planes(Z, lower, upper, kind, planes, first):
    """Write the bits of values to rows of ``planes`` from ``first`` on."""
    m = Z.shape[1]
    flat = Z.reshape(-1)
    for i in range(Z.shape[0]):
        for c in range(0, m, PANEL):
            few = min(PANEL, m - c)
            pack_word(flat, i * m + c, few, lower, upper, kind, planes, first + i, c)


# Slices would be counted references, which cost more than what is done with them.


@compiled
def code_span(values, start, count, lower, upper, kind, out, row, column):
    """Write what thresholds make of some values to a row of ``out``, from a column on."""
    one, zero = np.int8(1), np.int8(0)
    for c in range(count):
        value, j = values[start + c], column + c
        above = one if value > upper[j] else zero
        below = one if value < lower[j] else zero
        if kind == ODD:
            out[row, j] = above - below
        elif kind == EVEN:
            out[row, j] = above | below
        else:
            out[row, j] = above + above - one


@compiled
def pack_word(values, start, count, lower, upper, kind, planes, row, column):
    """Write the bits of at most 64 values to the words of a row that begin at a column."""
    above, below = bits_above(values, start, upper, column, count), np.uint64(0)
    if kind != SIGN:
        below = bits_above(lower, column, values, start, count)
    word = column // PANEL
    if kind == ODD:
        planes[0, row, word] = above
        planes[1, row, word] = below
    else:
        planes[0, row, word] = above | below


@compiled
def bits_above(values, start, bounds, column, count):
    """Return a word with a bit for each of at most 64 values that is above its bound."""
    if count == PANEL:
        return _word_above(values, start, bounds, column)
    word, one, zero = np.uint64(0), np.uint64(1), np.uint64(0)
    for c in range(count):
        word |= (one if values[start + c] > bounds[column + c] else zero) << np.uint64(c)
    return word
