"""An array without numbers: what is done to it becomes the nodes of a graph."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .tape import NotRecordable, Rows, Tape

#: Small integers are computed with in 32 bits: hardly any operator knows those of 8.
WIDER = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32"}


def _operator(name: str, function: Callable[..., Any], dtype: Any = None) -> tuple[Any, Any]:
    """Return the methods of an operator of two arrays, and of the same with sides exchanged."""

    def method(self: Recorded, other: Any) -> Recorded:
        return _module("operations").elementwise(name, function, self, other, dtype=dtype)

    def exchanged(self: Recorded, other: Any) -> Recorded:
        return _module("operations").elementwise(name, function, other, self, dtype=dtype)

    return method, exchanged


def _function(name: str, function: Callable[..., Any], dtype: Any = None) -> Any:
    """Return the method of an operator of one array."""

    def method(self: Recorded) -> Recorded:
        return _module("operations").elementwise(name, function, self, dtype=dtype)

    return method


class Recorded:
    """An array of the Array API whose numbers are not known before a graph runs.

    Formulas that are written against the Array API are called with it as they are called with any
    array, and leave their nodes on a tape. Arrays whose numbers are known (``value``), such as the
    parameters of a model, are not on a tape until they meet one that is.

    Parameters
    ----------
    shape : tuple of int or Rows
        The shape.
    dtype : dtype
        The dtype.
    tape : Tape or None
        Where operations are recorded; ``None`` for numbers that are known.
    name : str
        The name in the graph.
    value : array, default=None
        The numbers, where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.io.onnx.array import Recorded
    >>> from mercer.io.onnx.tape import Tape
    >>> tape = Tape(18)
    >>> X = Recorded.rows(tape, "X", 3, np.float32)
    >>> (X @ np.ones((3, 2), np.float32) > 0).shape
    (rows, 2)
    >>> [node.op_type for node in tape.nodes]
    ['MatMul', 'Greater']
    """

    #: NumPy leaves ``array * recorded`` to this class.
    __array_ufunc__ = None
    device = "recorded"

    def __init__(
        self, shape: Any, dtype: Any, tape: Tape | None, name: str = "", value: Any = None
    ) -> None:
        self.shape: tuple[Any, ...] = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.tape, self.name, self.value = tape, name, value

    @classmethod
    def rows(cls, tape: Tape, name: str, width: int, dtype: Any) -> Recorded:
        """Return the input of a graph: any number of rows."""
        return cls((Rows(tape, name), width), dtype, tape, name)

    @classmethod
    def known(cls, value: Any, dtype: Any = None) -> Recorded:
        """Return an array of numbers."""
        array = np.ascontiguousarray(value, dtype=dtype)
        return cls(np.shape(value), array.dtype, None, value=array.reshape(np.shape(value)))

    @property
    def values_are_known(self) -> bool:
        """Whether the array has numbers."""
        return self.value is not None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of entries, where it is known."""
        return math.prod(self.shape)

    @property
    def T(self) -> Recorded:
        """The transpose."""
        return _module("namespace").permute_dims(self, (1, 0))

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return _module("namespace")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._numbers(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self._numbers())

    def __float__(self) -> float:
        return float(self._numbers())

    def __int__(self) -> int:
        return int(self._numbers())

    def _numbers(self) -> np.ndarray:
        if self.value is None:
            raise NotRecordable("It looks at the numbers of its rows to decide what to compute.")
        return np.asarray(self.value)

    def on(self, tape: Tape) -> str:
        """Return the name of the array in a graph."""
        if self.value is None:
            return self.name
        return tape.constant(self.value.astype(stored_dtype(self.dtype)))

    def __getitem__(self, key: Any) -> Recorded:
        return _module("indexing").indexed(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._become(_module("indexing").replaced(self, key, value))

    def _become(self, other: Recorded) -> None:
        """Take the place of another array: what assignment in place means here."""
        self.tape, self.name, self.value = other.tape, other.name, other.value

    __add__, __radd__ = _operator("Add", np.add)
    __sub__, __rsub__ = _operator("Sub", np.subtract)
    __mul__, __rmul__ = _operator("Mul", np.multiply)
    __truediv__, __rtruediv__ = _operator("Div", np.true_divide)
    __pow__, __rpow__ = _operator("Pow", np.power)
    __and__, __rand__ = _operator("And", np.logical_and, bool)
    __or__, __ror__ = _operator("Or", np.logical_or, bool)
    __gt__, __lt__ = _operator("Greater", np.greater, bool)
    __ge__, __le__ = _operator("GreaterOrEqual", np.greater_equal, bool)
    __eq__, __hash__ = _operator("Equal", np.equal, bool)[0], None  # type: ignore[assignment]

    __neg__ = _function("Neg", np.negative)
    __invert__ = _function("Not", np.logical_not, bool)
    __abs__ = _function("Abs", np.abs)

    def __matmul__(self, other: Any) -> Recorded:
        return _module("operations").product(self, other)

    def __rmatmul__(self, other: Any) -> Recorded:
        return _module("operations").product(Recorded.known(other), self)


def _module(name: str) -> Any:
    """Return a module of functions on recorded arrays, all of which import this one."""
    return importlib.import_module(f".{name}", __package__)


def stored_dtype(dtype: Any) -> np.dtype:
    """Return the dtype that numbers of a dtype have in a graph.

    Examples
    --------
    >>> stored_dtype(np.int8)
    dtype('int32')
    """
    return np.dtype(WIDER.get(np.dtype(dtype).name, np.dtype(dtype).name))
