"""The Array API namespace of recorded arrays: each function adds the nodes that compute it."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import fft
from .array import Recorded
from .operations import (
    alike,
    asarray,
    astype,
    broadcast_shape,
    elementwise,
    integers,
    made,
    tape_of,
)
from .tape import NotRecordable, Rows

bool = np.dtype("bool")
int8, int32, int64, uint8 = (np.dtype(name) for name in ("int8", "int32", "int64", "uint8"))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
__all__ = ["asarray", "astype", "fft"]


class MissingFunction(NotRecordable, AttributeError):
    """A function of the Array API that recorded arrays do not have."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    raise MissingFunction(f"It uses {name}(), for which there is no operator here.")


def _function(operator: str, function: Callable[..., Any]) -> Callable[..., Recorded]:
    """Return a function of the entries under its name in the Array API."""
    return lambda *operands: elementwise(operator, function, *operands)


abs, sign, floor = (
    _function(*pair) for pair in (("Abs", np.abs), ("Sign", np.sign), ("Floor", np.floor))
)
sin, cos, asin = (
    _function(*pair) for pair in (("Sin", np.sin), ("Cos", np.cos), ("Asin", np.arcsin))
)
exp, log, sqrt = (
    _function(*pair) for pair in (("Exp", np.exp), ("Log", np.log), ("Sqrt", np.sqrt))
)
multiply, maximum, minimum = (
    _function(*pair) for pair in (("Mul", np.multiply), ("Max", np.maximum), ("Min", np.minimum))
)


def clip(X: Recorded, low: Any = None, high: Any = None) -> Recorded:
    """Return entries brought into a range."""
    X = X if low is None else maximum(X, low)
    return X if high is None else minimum(X, high)


def isnan(X: Recorded) -> Recorded:
    """Return which entries are missing: those that do not equal themselves."""
    return ~(X == X)


def isfinite(X: Recorded) -> Recorded:
    """Return which entries are numbers, and not infinite."""
    return X - X == 0


def where(condition: Recorded, first: Any, second: Any) -> Recorded:
    """Return entries of one array where a condition holds, and of another elsewhere."""
    first, second = alike(first, second)
    condition = asarray(condition)
    if tape_of(condition, first, second) is None:
        return Recorded.known(np.where(condition.value, first.value, second.value))
    shape = broadcast_shape(condition.shape, first.shape, second.shape)
    return made("Where", [condition, first, second], shape, first.dtype)


def full(shape: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Recorded:
    """Return an array of equal entries."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    rows = [size for size in shape if isinstance(size, Rows)]
    number = Recorded.known(np.asarray(value, float64 if dtype is None else dtype))
    if not rows:
        return Recorded.known(np.full(shape, number.value))
    tape = rows[0].tape
    name = tape.emit("Expand", [number.on(tape), integers(tape, shape)])
    return Recorded(shape, number.dtype, tape, name)


def full_like(X: Recorded, value: Any, *, dtype: Any = None) -> Recorded:
    """Return an array of equal entries, as large as another."""
    return full(X.shape, value, dtype=X.dtype if dtype is None else dtype)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Recorded:
    """Return an array of zeros."""
    return full(shape, 0, dtype=dtype)


def zeros_like(X: Recorded) -> Recorded:
    """Return zeros as many as the entries of an array."""
    return full_like(X, 0)


def ones_like(X: Recorded) -> Recorded:
    """Return ones as many as the entries of an array."""
    return full_like(X, 1)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Recorded:
    """Return an array of ones."""
    return full(shape, 1, dtype=dtype)


def broadcast_to(X: Recorded, shape: Any) -> Recorded:
    """Return an array repeated to a shape."""
    if X.tape is None and not builtins.any(isinstance(size, Rows) for size in shape):
        return Recorded.known(np.broadcast_to(X.value, shape))
    tape = X.tape or next(size.tape for size in shape if isinstance(size, Rows))
    name = tape.emit("Expand", [X.on(tape), integers(tape, shape)])
    return Recorded(shape, X.dtype, tape, name)


def concat(arrays: Sequence[Recorded], axis: int = 0) -> Recorded:
    """Return arrays side by side."""
    arrays = alike(*arrays)
    if tape_of(*arrays) is None:
        return Recorded.known(np.concatenate([array.value for array in arrays], axis=axis))
    axis %= arrays[0].ndim
    shape = list(arrays[0].shape)
    shape[axis] = builtins.sum(array.shape[axis] for array in arrays)
    return made("Concat", arrays, shape, arrays[0].dtype, axis=axis)


def expand_dims(X: Recorded, axis: int) -> Recorded:
    """Return an array with one dimension of length one more."""
    axis %= X.ndim + 1
    return reshape(X, (*X.shape[:axis], 1, *X.shape[axis:]))


def stack(arrays: Sequence[Recorded], axis: int = 0) -> Recorded:
    """Return arrays along a dimension of their own."""
    return concat([expand_dims(array, axis) for array in arrays], axis=axis % (arrays[0].ndim + 1))


def reshape(X: Recorded, shape: Any) -> Recorded:
    """Return the entries in another shape, of which one number may be -1."""
    shape = list(shape)
    if X.tape is None:
        return Recorded.known(X.value.reshape(shape))
    for place, size in enumerate(shape):
        if not isinstance(size, Rows) and size == -1:
            shape[place] = _rest(X.shape, shape[:place] + shape[place + 1 :])
    rows = [place for place, size in enumerate(shape) if isinstance(size, Rows)]
    numbers = [-1 if place in rows else size for place, size in enumerate(shape)]
    return made("Reshape", [X], shape, X.dtype, integers(X.tape, numbers))


def _rest(shape: Sequence[Any], known: Sequence[Any]) -> Any:
    """Return the size that is missing beside known ones of a shape."""
    found = _entries(shape) // _entries(known)
    rows = [size for size in shape if isinstance(size, Rows)]
    if not rows or builtins.any(isinstance(size, Rows) for size in known):
        return found
    return rows[0] // rows[0].factor * found


def _entries(shape: Sequence[Any]) -> int:
    """Return the entries of a shape, for one row of the input where their number is not known."""
    return math.prod(size.factor if isinstance(size, Rows) else size for size in shape)


def flip(X: Recorded, *, axis: int) -> Recorded:
    """Return an array with the order of one dimension reversed."""
    backwards = [slice(None)] * X.ndim
    backwards[axis] = slice(None, None, -1)
    return X[tuple(backwards)]


def permute_dims(X: Recorded, axes: Sequence[int]) -> Recorded:
    """Return an array with its dimensions in another order."""
    if X.tape is None:
        return Recorded.known(np.transpose(X.value, axes))
    return made("Transpose", [X], [X.shape[axis] for axis in axes], X.dtype, perm=list(axes))


def take(X: Recorded, places: Any, *, axis: int = 0) -> Recorded:
    """Return some entries along a dimension."""
    X, places = asarray(X), asarray(places)
    if tape_of(X, places) is None:
        return Recorded.known(np.take(X.value, places.value, axis=axis))
    axis %= X.ndim
    shape = (*X.shape[:axis], *places.shape, *X.shape[axis + 1 :])
    return made("Gather", [X, astype(places, int64)], shape, X.dtype, axis=axis)


def _reduced(
    operator: str, function: Callable[..., Any], X: Recorded, axis: Any, keepdims: Any
) -> Recorded:
    """Return an array reduced along some dimensions."""
    axes = range(X.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(one % X.ndim for one in axes)
    if X.tape is None:
        return Recorded.known(function(X.value, axis=axes, keepdims=keepdims))
    kept = [1 if k in axes else size for k, size in enumerate(X.shape)]
    shape = kept if keepdims else [size for k, size in enumerate(kept) if k not in axes]
    numbers = integers(X.tape, axes)
    return made(operator, [X], shape, X.dtype, numbers, keepdims=int(keepdims))


def sum(X: Recorded, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Recorded:
    """Return sums along dimensions."""
    X = X if dtype is None else astype(X, dtype)
    return _reduced("ReduceSum", np.sum, X, axis, keepdims)


def max(X: Recorded, *, axis: Any = None, keepdims: Any = False) -> Recorded:
    """Return the largest entries along dimensions."""
    return _reduced("ReduceMax", np.max, X, axis, keepdims)


def min(X: Recorded, *, axis: Any = None, keepdims: Any = False) -> Recorded:
    """Return the smallest entries along dimensions."""
    return _reduced("ReduceMin", np.min, X, axis, keepdims)


def mean(X: Recorded, *, axis: Any = None, keepdims: Any = False) -> Recorded:
    """Return means along dimensions."""
    return _reduced("ReduceMean", np.mean, X, axis, keepdims)


def argmax(X: Recorded, *, axis: int) -> Recorded:
    """Return the places of the largest entries along a dimension."""
    shape = [size for k, size in enumerate(X.shape) if k != axis % X.ndim]
    return made("ArgMax", [X], shape, int64, axis=axis, keepdims=0)


def searchsorted(values: Recorded, X: Recorded) -> Recorded:
    """Return how many sorted values are below each entry."""
    return sum(astype(values < X[..., None], int64), axis=-1)


def remainder(X: Recorded, Y: Recorded) -> Recorded:
    """Return what is left of entries when others are taken off as often as they fit."""
    return X - floor(X / Y) * Y
