"""What the engine may use: memory, threads, block size, and whom to tell about progress."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import Any

#: Called as ``progress(done, total, label)`` while long work runs.
ProgressCallback = Callable[[int, int, str], object]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


@dataclass(frozen=True)
class Settings:
    """The settings in force; change them with :func:`config`."""

    memory: int = 10**9
    n_jobs: int | None = None
    block_rows: int | None = None
    progress: bool | ProgressCallback = True

    def workers(self) -> int:
        """Return how many threads to run."""
        cores = _cores()
        if self.n_jobs is None:
            return cores
        return self.n_jobs if self.n_jobs > 0 else max(1, cores + 1 + self.n_jobs)


_of_process = Settings()
_of_block: ContextVar[Settings | None] = ContextVar("mercer settings", default=None)


def settings() -> Settings:
    """Return the settings in force: those of the ``with`` block, or of the process."""
    return _of_block.get() or _of_process


class config:
    """Set the memory budget, threads, block size and progress of every computation.

    Called as a statement it holds for the rest of the process; in a ``with`` block it holds
    until the block ends, and only in the thread of the block. Settings that are not named
    stay as they are. Worker processes (joblib's, for example) start with the defaults.

    Parameters
    ----------
    memory : str or int
        What a computation may use beside its input and its output, as bytes or as a text
        such as ``"2GB"`` or ``"512MiB"``. Blocks shrink to fit. The default is 1 GB.
    n_jobs : int or None
        Threads, also those of BLAS while a machine learns. ``None`` means one for each core
        that this process may use (or fewer if the environment variable ``OMP_NUM_THREADS`` says
        so), and leaves BLAS alone; negative numbers count from the number of cores as in
        scikit-learn.
    block_rows : int or None
        Rows in a block. ``None`` lets the engine choose what fits the processor's cache.
    progress : bool or callable
        ``True`` shows a bar on a terminal for work longer than two seconds, ``False`` never
        does; a callable is called as ``progress(done, total, label)``.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="200MB", n_jobs=1):
    ...     mercer.config().memory
    200000000
    >>> mercer.config().memory
    1000000000
    """

    def __init__(
        self,
        *,
        memory: str | int | None = None,
        n_jobs: Any = ...,
        block_rows: Any = ...,
        progress: bool | ProgressCallback | None = None,
    ) -> None:
        global _of_process
        changes: dict[str, Any] = {}
        if memory is not None:
            changes["memory"] = parse_memory(memory)
        if n_jobs is not ...:
            changes["n_jobs"] = _integer("n_jobs", n_jobs, "a number of threads such as 4, or -1")
        if block_rows is not ...:
            changes["block_rows"] = _integer("block_rows", block_rows, "a number of rows", 1)
        if progress is not None:
            if not isinstance(progress, bool) and not callable(progress):
                raise ValueError(
                    f"progress must be True, False or a function, but {progress!r} came."
                )
            changes["progress"] = progress
        self._changes = changes
        self._before = settings()
        self._mine = replace(self._before, **changes)
        if _of_block.get() is None:
            _of_process = self._mine
        else:
            _of_block.set(self._mine)

    def __enter__(self) -> config:
        global _of_process
        # It is a block's setting after all: whoever it was set for gets back what it had.
        if _of_process is self._mine:
            _of_process = self._before
        elif _of_block.get() is self._mine:
            _of_block.set(self._before)
        self._token = _of_block.set(replace(settings(), **self._changes))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _of_block.reset(self._token)

    def __getattr__(self, name: str) -> Any:
        if name in {field.name for field in fields(Settings)}:
            return getattr(settings(), name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        values = ", ".join(f"{f.name}={getattr(settings(), f.name)!r}" for f in fields(Settings))
        return f"config({values})"


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
        f"memory must be a number of bytes or a text such as '2GB' or '512MiB', "
        f"but {memory!r} came."
    )


def _positive(value: int, came: Any) -> int:
    if value < 1:
        raise ValueError(f"memory must be at least one byte, but {came!r} came.")
    return value


def _integer(name: str, value: Any, wanted: str, least: int | None = None) -> int | None:
    """Return ``value`` if it is ``None`` or an integer of the right kind."""
    if value is None:
        return None
    wrong = isinstance(value, bool) or not hasattr(value, "__index__")
    if not wrong and (value.__index__() == 0 or (least is not None and value < least)):
        wrong = True
    if wrong:
        raise ValueError(f"{name} must be None or {wanted}, but {value!r} came.")
    return int(value)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores
