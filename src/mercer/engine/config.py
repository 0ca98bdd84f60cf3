"""What the engine may use: memory, threads, blocks, a device; and whom to tell about progress."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from contextvars import Token
from dataclasses import fields, replace
from types import EllipsisType
from typing import Any

from .._limits import free_memory
from .._settings import (
    PRECISIONS,
    ProgressCallback,
    Settings,
    change_process,
    changed_in_block,
    default_memory,
    settings,
)

#: The share of the free memory that a kept kernel matrix may take, where no budget was set.
FREE_SHARE = 0.7
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def matrix_memory(X: Any = None) -> int:
    """Return the bytes that a kept kernel matrix may take.

    The memory budget, if one was set; otherwise up to 70 % of the memory that is free now, as an
    iterative solver that must recompute its matrix takes several times as long.

    Parameters
    ----------
    X : array, default=None
        The rows: those on an accelerator have its memory.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="2GB"):
    ...     matrix_memory()
    2000000000
    """
    found = settings()
    if not found.memory_is_default:
        return found.memory
    from .._array import free_device_memory

    free = free_device_memory(X)
    return max(found.memory, int(FREE_SHARE * (free_memory() if free is None else free)))


def set_config(
    *,
    memory: str | int | None = None,
    n_jobs: int | EllipsisType | None = ...,
    block_rows: int | EllipsisType | None = ...,
    progress: bool | ProgressCallback | None = None,
    device: str | EllipsisType | None = ...,
    precision: str | None = None,
) -> None:
    """Set what computations may use for the rest of the process.

    Settings that are not named stay as they are, and what an enclosing ``with config(...)``
    block has set holds until that block ends. Worker processes (joblib's, for example) start
    with the defaults. To change settings for a few lines only, use :class:`config`.

    Parameters
    ----------
    memory : str or int
        As in :class:`config`.
    n_jobs : int or None
        As in :class:`config`.
    block_rows : int or None
        As in :class:`config`.
    progress : bool or callable
        As in :class:`config`.
    device : str or None
        As in :class:`config`.
    precision : {"float32", "tf32", "bfloat16"}
        As in :class:`config`.

    Examples
    --------
    >>> import mercer
    >>> mercer.set_config(memory="2GB")
    >>> mercer.config().memory
    2000000000
    >>> mercer.set_config(memory="default")
    """
    change_process(_checked(memory, n_jobs, block_rows, progress, device, precision))


class config:
    """Set memory budget, threads, block size, progress, device and precision in a ``with`` block.

    The settings hold until the block ends, and only in the thread of the block; those that are
    not named stay as they are. ``config().memory`` and so on read what is in force.
    :func:`set_config` sets the same for the rest of the process.

    Parameters
    ----------
    memory : str or int
        What a computation may use beside its input and its output, as bytes or as a string
        such as ``"2GB"`` or ``"512MiB"``. Blocks shrink to fit. ``"default"`` is 1 GB (or a
        quarter of the memory of this machine or container, where that is less), and up to 70 %
        of the free memory for the kernel matrix of an iterative solver.
    n_jobs : int or None
        Threads, also those of BLAS while a machine learns. ``None`` means one for each core
        that this process may use, by its affinity and its container's limit (or fewer if the
        environment variable ``OMP_NUM_THREADS`` says so), and limits BLAS only where a container
        does; negative numbers count from the number of cores as in scikit-learn. Work that one
        thread does in a tenth of a second gets one of BLAS.
    block_rows : int or None
        Rows in a block. ``None`` lets the engine choose what fits the processor's cache.
    progress : bool or callable
        ``True`` shows a bar, on a terminal or in a notebook with ``ipywidgets``, for work longer
        than two seconds; ``False`` never does. A callable is called as
        ``progress(done, total, label)``.
    device : str or None
        Where rows that lie on the host are learnt: ``"cuda"`` or ``"cuda:1"`` copies their blocks
        to that device (through torch or CuPy) while the block before is computed. ``None`` learns
        where the rows are.
    precision : {"float32", "tf32", "bfloat16"}
        What the factors of float32 matrix products on an accelerator may be rounded to. Products
        are added up in float32, and sums over rows in float64, whatever it is.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="200MB", n_jobs=1):
    ...     mercer.config().memory
    200000000
    >>> mercer.config().memory
    1000000000
    """

    memory: int
    n_jobs: int | None
    block_rows: int | None
    progress: bool | ProgressCallback
    device: str | None
    precision: str

    #: Whether there are changes that no ``with`` statement has put in force.
    _unused = False

    def __init__(
        self,
        *,
        memory: str | int | None = None,
        n_jobs: int | EllipsisType | None = ...,
        block_rows: int | EllipsisType | None = ...,
        progress: bool | ProgressCallback | None = None,
        device: str | EllipsisType | None = ...,
        precision: str | None = None,
    ) -> None:
        self._changes = _checked(memory, n_jobs, block_rows, progress, device, precision)
        self._tokens: list[Token[Mapping[str, Any]]] = []
        self._unused = bool(self._changes)

    def __enter__(self) -> config:
        self._unused = False
        self._tokens.append(changed_in_block.set({**changed_in_block.get(), **self._changes}))
        return self

    def __exit__(self, *error: object) -> None:
        changed_in_block.reset(self._tokens.pop())

    def __getattr__(self, name: str) -> Any:
        if name in {one.name for one in fields(Settings)}:
            return getattr(replace(settings(), **self._changes), name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        values = ", ".join(
            f"{f.name}={getattr(self, f.name)!r}" for f in fields(Settings) if f.repr
        )
        if not self._unused:
            return f"config({values})"
        return f"<config({values}), not in force: {_REMEDY}>"

    def __del__(self) -> None:
        # As for a coroutine that was never awaited: a statement without effect must not pass.
        if self._unused and not sys.is_finalizing():
            hidden = {one.name for one in fields(Settings) if not one.repr}
            named = ", ".join(name for name in self._changes if name not in hidden)
            warnings.warn(
                f"mercer.config({named}) was made but never entered, so nothing is set: {_REMEDY}.",
                RuntimeWarning,
                stacklevel=2,
            )


_REMEDY = "use it as 'with mercer.config(...):', or mercer.set_config(...) for the whole process"


def _checked(
    memory: str | int | None,
    n_jobs: int | EllipsisType | None,
    block_rows: int | EllipsisType | None,
    progress: bool | ProgressCallback | None,
    device: str | EllipsisType | None,
    precision: str | None,
) -> dict[str, Any]:
    """Return the settings that were given, or say which is wrong."""
    changes: dict[str, Any] = {}
    if isinstance(memory, str) and memory == "default":
        changes |= {"memory": default_memory(), "memory_is_default": True}
    elif memory is not None:
        changes["memory"] = parse_memory(memory)
        changes["memory_is_default"] = False
    if n_jobs is not ...:
        changes["n_jobs"] = _integer("n_jobs", n_jobs, "a number of threads such as 4, or -1")
    if block_rows is not ...:
        changes["block_rows"] = _integer("block_rows", block_rows, "a number of rows", 1)
    if progress is not None:
        if not isinstance(progress, bool) and not callable(progress):
            raise ValueError(f"progress must be True, False or a function, got {progress!r}.")
        changes["progress"] = progress
    if device is not ...:
        if device is not None and not (isinstance(device, str) and device):
            raise ValueError(
                f"device must be None or the name of a device such as 'cuda', got {device!r}."
            )
        changes["device"] = device
    if precision is not None:
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {PRECISIONS}, got {precision!r}.")
        changes["precision"] = precision
    return changes


def parse_memory(memory: str | int) -> int:
    """Return a number of bytes from ``"2GB"``, ``"512 MiB"`` or a plain number.

    Examples
    --------
    >>> parse_memory("1.5GB"), parse_memory("1KiB"), parse_memory(4096)
    (1500000000, 1024, 4096)
    """
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", memory.upper())
        if match:
            number, unit, binary = match.groups()
            factor = _BINARY_UNITS.get(unit + "I") if binary else _UNITS[unit]
            if factor is not None:
                return _positive(int(float(number) * factor), memory)
    elif hasattr(memory, "__index__") and not isinstance(memory, bool):
        return _positive(int(memory), memory)
    raise ValueError(
        f"memory must be a number of bytes or a string such as '2GB' or '512MiB', got {memory!r}."
    )


def _positive(value: int, given: str | int) -> int:
    if value < 1:
        raise ValueError(f"memory must be at least one byte, got {given!r}.")
    return value


def _integer(name: str, value: Any, wanted: str, least: int | None = None) -> int | None:
    """Return ``value`` if it is ``None`` or an integer of the right kind."""
    if value is None:
        return None
    wrong = isinstance(value, bool) or not hasattr(value, "__index__")
    if not wrong and (value.__index__() == 0 or (least is not None and value < least)):
        wrong = True
    if wrong:
        raise ValueError(f"{name} must be None or {wanted}, got {value!r}.")
    return int(value)
