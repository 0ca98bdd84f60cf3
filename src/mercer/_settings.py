"""The seam to settings: what computations may use, for the process and in ``with`` blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ._limits import memory, threads

#: Called as ``progress(done, total, label)`` while long work runs.
ProgressCallback = Callable[[int, int, str], object]
#: What the factors of a float32 product on an accelerator may be rounded to.
PRECISIONS = ("float32", "tf32", "bfloat16")


#: The memory budget by default, and the most it takes of the memory that this process may use.
DEFAULT_MEMORY, DEFAULT_SHARE = 10**9, 0.25


def default_memory() -> int:
    """Return the memory budget that holds where none was set."""
    allowed = memory()
    if allowed is None:
        return DEFAULT_MEMORY
    return min(DEFAULT_MEMORY, int(DEFAULT_SHARE * allowed.value))


@dataclass(frozen=True)
class Settings:
    """The settings in force; change them with :func:`set_config` or :class:`config`."""

    memory: int = field(default_factory=default_memory)
    #: Whether the budget is the default, which a kernel matrix may exceed where there is room.
    memory_is_default: bool = field(default=True, repr=False)
    n_jobs: int | None = None
    block_rows: int | None = None
    progress: bool | ProgressCallback = True
    device: str | None = None
    precision: str = "float32"

    def workers(self) -> int:
        """Return how many threads to run."""
        if self.n_jobs is not None and self.n_jobs > 0:
            return self.n_jobs
        allowed = threads().value
        return allowed if self.n_jobs is None else max(1, allowed + 1 + self.n_jobs)


_NOTHING: Mapping[str, Any] = MappingProxyType({})
_of_process = Settings()
#: What ``with`` blocks have changed.
changed_in_block: ContextVar[Mapping[str, Any]] = ContextVar("mercer settings", default=_NOTHING)


def settings() -> Settings:
    """Return the settings in force: those of the process, with what ``with`` blocks change."""
    changes = changed_in_block.get()
    return replace(_of_process, **changes) if changes else _of_process


def change_process(changes: Mapping[str, Any]) -> None:
    """Change the settings of the process."""
    global _of_process
    _of_process = replace(_of_process, **changes)
