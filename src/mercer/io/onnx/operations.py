"""How an operator on recorded arrays becomes a node of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._optional import require
from .array import Recorded, stored_dtype
from .tape import NotRecordable, Rows, Tape

#: Operators that runtimes compute in float32 only.
SINGLE = ("Asin",)


def asarray(value: Any, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Recorded:
    """Return an array of numbers; a recorded one stays as it is."""
    return value if isinstance(value, Recorded) else Recorded.known(value, dtype)


def tape_of(*arrays: Recorded) -> Tape | None:
    """Return the tape that some arrays are on; ``None`` if the numbers of all are known."""
    return next((array.tape for array in arrays if array.tape is not None), None)


def recording(tape: Tape | None) -> Tape:
    """Return the tape that an operator is recorded on, or say that nothing is recorded."""
    if tape is None:
        raise NotRecordable("It asks for numbers of rows that are not known before the graph runs.")
    return tape


def made(
    operator: str, arrays: Sequence[Recorded], shape: Any, dtype: Any, *more: str, **attributes: Any
) -> Recorded:
    """Return the result of an operator, recorded."""
    tape = recording(tape_of(*arrays))
    inputs = [array.on(tape) for array in arrays]
    return Recorded(shape, dtype, tape, tape.emit(operator, [*inputs, *more], **attributes))


def integers(tape: Tape | None, values: Sequence[Any]) -> str:
    """Return the name of a vector of int64, of which one may be a number of rows."""
    tape = recording(tape)
    if not any(isinstance(value, Rows) for value in values):
        return tape.constant(np.asarray(values, dtype=np.int64))
    parts = [v.name() if isinstance(v, Rows) else integers(tape, [v]) for v in values]
    return tape.emit("Concat", parts, axis=0)


def broadcast_shape(*shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the shape of arrays together."""
    width = max(len(shape) for shape in shapes)
    aligned = [(1,) * (width - len(shape)) + tuple(shape) for shape in shapes]
    found = []
    for sizes in zip(*aligned, strict=True):
        wide = [size for size in sizes if not (isinstance(size, int) and size == 1)]
        if any(size != wide[0] for size in wide):
            raise ValueError(f"Arrays of shapes {', '.join(map(str, shapes))} do not go together.")
        found.append(wide[0] if wide else 1)
    return tuple(found)


def alike(*operands: Any) -> list[Recorded]:
    """Return arrays and numbers as arrays of their common dtype."""
    arrays = [asarray(x) if isinstance(x, np.ndarray) and x.ndim else x for x in operands]
    kinds = [x.dtype if isinstance(x, Recorded) else np.asarray(x).item() for x in arrays]
    common = np.result_type(*kinds)
    return [
        astype(x, common) if isinstance(x, Recorded) else Recorded.known(np.asarray(x, common))
        for x in arrays
    ]


def elementwise(
    operator: str, function: Callable[..., Any], *operands: Any, dtype: Any = None
) -> Recorded:
    """Return a function of the entries of arrays that are broadcast."""
    arrays = alike(*operands)
    if tape_of(*arrays) is None:
        return Recorded.known(function(*(array.value for array in arrays)), dtype)
    own = arrays[0].dtype
    if operator in SINGLE and own == np.float64:
        return astype(
            elementwise(operator, function, *(astype(x, np.float32) for x in arrays)), own
        )
    if operator == "Div" and own.kind in "iub":
        arrays = [astype(array, np.float64) for array in arrays]
        own = np.float64
    shape = broadcast_shape(*(array.shape for array in arrays))
    return made(operator, arrays, shape, own if dtype is None else dtype)


def astype(X: Recorded, dtype: Any, *, copy: Any = None, device: Any = None) -> Recorded:
    """Return an array in another dtype."""
    dtype = np.dtype(dtype)
    if X.dtype == dtype:
        return X
    if X.tape is None:
        return Recorded.known(X.value.astype(dtype))
    if dtype.kind == "c":
        raise NotRecordable("It computes with complex numbers.")
    stored, before = stored_dtype(dtype), stored_dtype(X.dtype)
    if stored == before:
        return Recorded(X.shape, dtype, X.tape, X.name)
    return made("Cast", [X], X.shape, dtype, to=tensor_type(stored))


def tensor_type(dtype: Any) -> int:
    """Return the number that ONNX has for a dtype."""
    helper = require("onnx.helper", "onnx", "ONNX")
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def product(X: Any, Y: Any) -> Recorded:
    """Return the matrix product."""
    X, Y = alike(X, Y)
    if tape_of(X, Y) is None:
        return Recorded.known(X.value @ Y.value)
    first, second = X.shape, Y.shape
    if len(second) == 1:
        shape: tuple[Any, ...] = first[:-1]
    else:
        shape = (*broadcast_shape(first[:-2], second[:-2]), first[-2], second[-1])
    return made("MatMul", [X, Y], shape, X.dtype)
