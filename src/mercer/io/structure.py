"""Fitted estimators as plain structure and arrays, and back: no pickle, no code.

Everything that may be stored in a model file is listed here: plain values, arrays, random
generators, and the objects of a closed list of classes. Whatever else is met is refused, when a
file is written as when it is read.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from dataclasses import replace
from functools import cached_property, singledispatchmethod
from typing import Any

import numpy as np
import scipy.sparse

from .._registry import HasCheckedState, HasStoredState
from ..features import FeatureMap
from ..features.recipe import Recipe
from ..solvers import Solution
from .classes import class_of, key_of
from .errors import ModelFileError
from .functions import TYPES, function_key, function_of

__all__ = ["ModelFileError", "Packer", "Unpacker"]

#: Kinds of arrays that are stored as they are; strings and objects go into the structure.
STORED_KINDS = "biuf"
#: Dtypes that coefficients may be rounded to.
ROUNDED = ("float16", "float32")
#: Random bit generators of NumPy, by name.
BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}


def rounded(coef: np.ndarray, dtype: str) -> np.ndarray:
    """Return coefficients in a smaller dtype, or say that it cannot hold them.

    Parameters
    ----------
    coef : array of shape (n_features, n_targets)
        The coefficients.
    dtype : {"float16", "float32"}
        The dtype.

    Examples
    --------
    >>> rounded(np.asarray([[1.0], [1 / 3]]), "float16").ravel()
    array([1.    , 0.3333], dtype=float16)
    """
    with np.errstate(over="ignore", under="ignore"):
        found = coef.astype(dtype)
    largest = np.abs(coef).max(axis=0, initial=0.0)
    # Twice what a normal number loses; small ones among large ones may lose more.
    if not (np.abs(found.astype(float) - coef) <= np.finfo(dtype).eps * largest).all():
        raise ValueError(
            f"coefficients={dtype!r} cannot hold coefficients whose largest is "
            f"{largest.max():.3g}: leave it out, or learn from scaled targets or features."
        )
    return np.asarray(found)


class Packer:
    """Turns objects into a structure of plain values and a dictionary of arrays.

    Parameters
    ----------
    compact : bool
        Leave out what only further learning needs, and keep maps as seed and shape.
    coefficients : {"float16", "float32"} or None, default=None
        What the coefficients of ridge solutions are rounded to.
    """

    compact: bool

    def __init__(self, compact: bool, coefficients: str | None = None) -> None:
        if coefficients not in (None, *ROUNDED):
            raise ValueError(
                f"coefficients must be None or one of {', '.join(ROUNDED)}, got {coefficients!r}."
            )
        self.compact, self.coefficients = compact, coefficients
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []

    @singledispatchmethod
    def pack(self, value: Any, where: str = "model") -> Any:
        """Return the structure of a value, which ``where`` names in errors."""
        if callable(value) and hasattr(value, "__name__"):
            return {"function": function_key(value, where)}
        return self._object(value, where)

    @pack.register(type(None))
    @pack.register(bool)
    @pack.register(str)
    @pack.register(int)
    def _plain(self, value: Any, where: str = "model") -> Any:
        return value

    @pack.register
    def _float(self, value: float, where: str = "model") -> Any:
        return value if math.isfinite(value) else {"float": repr(value)}

    @pack.register
    def _scalar(self, value: np.generic, where: str = "model") -> Any:
        return {"scalar": self.pack(value.item(), where), "dtype": value.dtype.name}

    @pack.register(list)
    @pack.register(tuple)
    @pack.register(set)
    def _items(self, value: Any, where: str = "model") -> Any:
        items = [self.pack(item, f"{where}[{k}]") for k, item in enumerate(value)]
        if isinstance(value, list):
            return items
        return {"set" if isinstance(value, set) else "tuple": items}

    @pack.register(dict)
    def _dict(self, value: dict[Any, Any], where: str = "model") -> Any:
        pairs = [[self.pack(k, where), self.pack(v, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"counter" if isinstance(value, Counter) else "dict": pairs}

    @pack.register
    def _solution(self, value: Solution, where: str = "model") -> Any:
        if self.coefficients is not None:
            value = replace(value, coef=rounded(value.coef, self.coefficients))
        return self._object(value, where)

    @pack.register
    def _slice(self, value: slice, where: str = "model") -> Any:
        return {"slice": [self.pack(part, where) for part in (value.start, value.stop, value.step)]}

    @pack.register
    def _dtype(self, value: np.dtype, where: str = "model") -> Any:
        return {"dtype": value.str}

    @pack.register
    def _type(self, value: type, where: str = "model") -> Any:
        for name, kind in TYPES.items():
            if kind is value:
                return {"type": name}
        if not issubclass(value, np.generic):
            raise ModelFileError(f"{where} is the class {value!r}, which a model file cannot hold.")
        return {"type": np.dtype(value).str}

    @pack.register
    def _date(self, value: datetime.date, where: str = "model") -> Any:
        return {"date": value.isoformat()}

    @pack.register
    def _generator(self, value: np.random.Generator, where: str = "model") -> Any:
        return {"generator": self.pack(value.bit_generator.state, where)}

    @pack.register
    def _random_state(self, value: np.random.RandomState, where: str = "model") -> Any:
        return {"random_state": self.pack(value.get_state(legacy=False), where)}

    @pack.register
    def _array(self, array: np.ndarray, where: str = "model") -> Any:
        if array.dtype.kind in STORED_KINDS:
            if not array.dtype.isnative:
                array = array.astype(array.dtype.newbyteorder("="))
            name = self._names.get(id(array))
            if name is None:
                name = self._names[id(array)] = f"a{len(self.arrays)}"
                self._kept.append(array)
                by_columns = array.ndim > 1 and array.flags.f_contiguous
                self.arrays[name] = np.ascontiguousarray(array.T if by_columns else array)
            by_columns = array.ndim > 1 and array.flags.f_contiguous
            return {
                "array": name,
                "order": "F" if by_columns else "C",
                "writeable": bool(array.flags.writeable),
            }
        if array.dtype.kind not in "OU":
            raise ModelFileError(
                f"{where} is an array of {array.dtype}, which a model file cannot hold."
            )
        items = [self.pack(item, where) for item in array.ravel().tolist()]
        return {"objects": items, "shape": list(array.shape), "dtype": array.dtype.str}

    @pack.register
    def _csr(self, rows: scipy.sparse.csr_array, where: str = "model") -> Any:
        parts = [self.pack(part, where) for part in (rows.data, rows.indices, rows.indptr)]
        return {"csr": parts, "shape": [int(size) for size in rows.shape]}

    def _object(self, value: Any, where: str) -> Any:
        key = key_of(type(value), where)
        if self.compact and isinstance(value, FeatureMap) and Recipe.serves(value):
            try:
                recipe = Recipe.of(value)
            except ValueError as error:
                raise ModelFileError(f"{where} cannot be saved: {error}.") from error
            return {"drawn": self._object(recipe, where)}
        own = isinstance(value, HasStoredState)
        state = value.__mercer_state__(self.compact) if own else dict(vars(value))
        return {
            "object": key,
            "state": {
                name: self.pack(part, f"{where}.{name}")
                for name, part in state.items()
                # What is computed when it is first asked for need not be stored.
                if not isinstance(getattr(type(value), name, None), cached_property)
            },
        }


class Unpacker:
    """Makes objects of what a :class:`Packer` has written.

    Parameters
    ----------
    arrays : dict of str to array
        The arrays of the file.
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays
        #: Top-level modules of the objects that were made.
        self.modules: set[str] = set()

    def unpack(self, node: Any) -> Any:
        """Return the value that a structure stands for."""
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, list):
            return [self.unpack(item) for item in node]
        kind = next(iter(node), None)
        maker = getattr(self, f"_{kind}", None) if kind in KINDS else None
        if maker is None:
            raise ModelFileError(f"it holds something unknown, {kind!r}")
        return maker(node)

    def _array(self, node: Any) -> np.ndarray:
        stored = self._arrays[node["array"]]
        array = stored.T if node["order"] == "F" else stored
        array.flags.writeable = bool(node["writeable"])
        return array

    def _csr(self, node: Any) -> scipy.sparse.csr_array:
        parts = tuple(self.unpack(part) for part in node["csr"])
        rows = scipy.sparse.csr_array(parts, shape=tuple(node["shape"]))
        # Places beyond the rows would be read from memory that is not theirs.
        rows.check_format(full_check=True)
        return rows

    def _objects(self, node: Any) -> np.ndarray:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in "OU":
            raise ModelFileError(f"it holds an array of {dtype}")
        items = [self.unpack(item) for item in node["objects"]]
        if dtype.kind == "U":
            # As wide as the longest string; the width that the file gives is not trusted.
            return np.array([str(item) for item in items], dtype=str).reshape(node["shape"])
        found = np.empty(len(items), dtype=object)
        found[:] = items
        return found.reshape(node["shape"])

    def _scalar(self, node: Any) -> Any:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in STORED_KINDS + "U":
            raise ModelFileError(f"it holds a number of type {dtype}")
        return dtype.type(self.unpack(node["scalar"]))

    def _float(self, node: Any) -> float:
        return float(node["float"])

    def _tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self.unpack(item) for item in node["tuple"])

    def _set(self, node: Any) -> set[Any]:
        return {self.unpack(item) for item in node["set"]}

    def _dict(self, node: Any) -> dict[Any, Any]:
        return {self.unpack(key): self.unpack(value) for key, value in node["dict"]}

    def _counter(self, node: Any) -> Counter[Any]:
        return Counter({self.unpack(key): self.unpack(value) for key, value in node["counter"]})

    def _slice(self, node: Any) -> slice:
        return slice(*(self.unpack(part) for part in node["slice"]))

    def _dtype(self, node: Any) -> np.dtype:
        return np.dtype(node["dtype"])

    def _type(self, node: Any) -> type:
        name = node["type"]
        return TYPES[name] if name in TYPES else np.dtype(name).type

    def _function(self, node: Any) -> Any:
        return function_of(node["function"])

    def _date(self, node: Any) -> datetime.date:
        text = node["date"]
        whole = datetime.datetime if "T" in text else datetime.date
        return whole.fromisoformat(text)

    def _generator(self, node: Any) -> np.random.Generator:
        state = self.unpack(node["generator"])
        generator = np.random.Generator(_bit_generator(state))
        generator.bit_generator.state = state
        return generator

    def _random_state(self, node: Any) -> np.random.RandomState:
        state = self.unpack(node["random_state"])
        random_state = np.random.RandomState(_bit_generator(state))
        random_state.set_state(state)
        return random_state

    def _object(self, node: Any) -> Any:
        kind = class_of(node["object"])
        self.modules.add(kind.__module__.partition(".")[0])
        made: Any = object.__new__(kind)
        for name, part in node["state"].items():
            if name.startswith("__"):
                raise ModelFileError(f"it sets {name!r}")
            made.__dict__[name] = self.unpack(part)
        if isinstance(made, HasCheckedState):
            made.__mercer_check__()
        return made

    def _drawn(self, node: Any) -> Any:
        recipe = self.unpack(node["drawn"])
        if not isinstance(recipe, Recipe):
            raise ModelFileError(f"a {type(recipe).__name__} cannot be drawn again")
        return recipe.draw()


#: The kinds of nodes that a file may hold.
KINDS = {name[1:] for name in vars(Unpacker) if name.startswith("_") and not name.startswith("__")}


def _bit_generator(state: Any) -> Any:
    """Return a new bit generator of the kind that a state is of."""
    name = state["bit_generator"]
    if name not in BIT_GENERATORS:
        raise ModelFileError(f"it holds a random generator {name!r}, which is not on the list")
    return BIT_GENERATORS[name](0)
