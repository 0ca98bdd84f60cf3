"""The graph that is being recorded: its nodes, and the numbers that it holds."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np

from ..._optional import require

#: The version of the operators that are used: from here on reductions take axes as an input.
OLDEST_OPSET = 18
#: From here on a Fourier transform does, too.
AXIS_IS_INPUT = 20


class NotRecordable(TypeError):
    """What a model asks for and a graph cannot give, such as the numbers of its input."""


class Rows:
    """The number of rows of the input, or a multiple of it: not known before the graph runs.

    Examples
    --------
    >>> from mercer.io.onnx.tape import Rows, Tape
    >>> rows = Rows(Tape(18), "X")
    >>> 2 * rows // 2 == rows
    True
    """

    def __init__(self, tape: Tape, source: str, factor: int = 1) -> None:
        self.tape, self.source, self.factor = tape, source, factor

    def __mul__(self, other: int) -> Rows:
        return Rows(self.tape, self.source, self.factor * int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Rows:
        if self.factor % other:
            raise NotRecordable("The number of rows is not known before the graph runs.")
        return Rows(self.tape, self.source, self.factor // other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.factor == other.factor

    def __hash__(self) -> int:
        return hash(("rows", self.factor))

    def __index__(self) -> int:
        raise NotRecordable("The number of rows is not known before the graph runs.")

    def __repr__(self) -> str:
        return "rows" if self.factor == 1 else f"{self.factor} rows"

    def name(self) -> str:
        """Return the name of an int64 vector of one entry that holds the number."""
        length = self.tape.emit("Shape", [self.source], start=0, end=1)
        return self.tape.emit(
            "Mul", [length, self.tape.constant(np.asarray([self.factor], np.int64))]
        )


class Tape:
    """Nodes and numbers of a graph, in the order in which they were recorded.

    Parameters
    ----------
    opset : int
        The version of the operators.
    fresh : callable, default=None
        Makes a name that is not taken of a word; ``None``: words are numbered.

    Examples
    --------
    >>> from mercer.io.onnx.tape import Tape
    >>> tape = Tape(18)
    >>> tape.emit("Cos", ["X"]), len(tape.nodes)
    ('cos_0', 1)
    """

    def __init__(self, opset: int, fresh: Callable[[str], str] | None = None) -> None:
        if opset < OLDEST_OPSET:
            raise ValueError(f"target_opset must be at least {OLDEST_OPSET}, got {opset}.")
        numbers = count()
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self._fresh = fresh or (lambda word: f"{word}_{next(numbers)}")
        self._known: dict[Any, str] = {}

    def constant(self, value: np.ndarray) -> str:
        """Return the name of an array of numbers; equal arrays are stored once."""
        content = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        key = value.dtype.str, value.shape, blake2b(content).digest()
        if key not in self._known:
            self._known[key] = self._fresh("numbers")
            self.constants[self._known[key]] = value
        return self._known[key]

    def emit(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node with one output, and return the name of that."""
        helper = require("onnx.helper", "onnx", "ONNX")
        name = self._fresh(operator.lower())
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def needed(self, outputs: list[str]) -> tuple[list[Any], dict[str, np.ndarray]]:
        """Return the nodes and the numbers that some outputs follow from, and no others."""
        wanted, kept = set(outputs), []
        for node in reversed(self.nodes):
            if wanted.intersection(node.output):
                kept.append(node)
                wanted.update(node.input)
        numbers = {name: value for name, value in self.constants.items() if name in wanted}
        return kept[::-1], numbers
