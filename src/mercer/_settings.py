"""The seam to settings: what computations may use, for the process and in ``with`` blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

#: Called as ``progress(done, total, label)`` while long work runs.
ProgressCallback = Callable[[int, int, str], object]
#: What the factors of a float32 product on an accelerator may be rounded to.
PRECISIONS = ("float32", "tf32", "bfloat16")


@dataclass(frozen=True)
class Settings:
    """The settings in force; change them with :func:`set_config` or :class:`config`."""

    memory: int = 10**9
    #: Whether the budget is the default, which a kernel matrix may exceed where there is room.
    memory_is_default: bool = field(default=True, repr=False)
    n_jobs: int | None = None
    block_rows: int | None = None
    progress: bool | ProgressCallback = True
    device: str | None = None
    precision: str = "float32"

    def workers(self) -> int:
        """Return how many threads to run."""
        cores = _cores()
        if self.n_jobs is None:
            return cores
        return self.n_jobs if self.n_jobs > 0 else max(1, cores + 1 + self.n_jobs)


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


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores
