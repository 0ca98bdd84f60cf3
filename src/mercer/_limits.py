"""The seam to what this process may use of the machine: cores and memory, containers included.

A container (Docker, Kubernetes, a batch system) sees all cores and all memory of its host, and is
slowed down or killed beyond its own limits. Those stand in files of the kernel's control groups,
of the first version or the second; a limit of an enclosing group holds, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path("/")
#: Bytes from which on a limit of the first version's files means that there is none.
UNLIMITED = 2**60


@dataclass(frozen=True)
class Limit:
    """A number of cores or bytes, and where it comes from."""

    value: int
    source: str


def cores(root: Path = ROOT) -> Limit:
    """Return how many cores this process may use, at least one.

    Parameters
    ----------
    root : Path
        The root of the file system that says so.

    Examples
    --------
    >>> cores().value >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
        source = "cores of this machine"
        if count < (os.cpu_count() or count):
            source = "cores that this process may run on (affinity)"
        found = Limit(count, source)
    else:
        found = Limit(os.cpu_count() or 1, "cores of this machine")
    quota = processor_quota(root)
    return quota if quota is not None and quota.value < found.value else found


def threads(root: Path = ROOT) -> Limit:
    """Return how many threads to run by default: one for each core, or as the environment says.

    Examples
    --------
    >>> threads().value <= cores().value
    True
    """
    found, asked = cores(root), os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) < found.value:
        return Limit(max(1, int(asked)), "environment variable OMP_NUM_THREADS")
    return found


@cache
def processor_quota(root: Path = ROOT) -> Limit | None:
    """Return the cores' worth of time that a container may use, rounded up; ``None`` if all."""
    found = []
    for folder in _folders("cpu", root):
        quota, period = _quota_of(folder)
        if quota > 0 and period > 0:
            count = max(1, math.ceil(quota / period))
            found.append(Limit(count, f"processor limit of the container ({folder})"))
    return _least(found)


@cache
def memory(root: Path = ROOT) -> Limit | None:
    """Return the bytes of memory that this process may use; ``None`` where nothing tells."""
    found = [
        Limit(limit, f"memory limit of the container ({folder})")
        for folder in _folders("memory", root)
        for limit in _memory_limits(folder)
    ]
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        found.append(Limit(physical, "memory of this machine"))
    except (AttributeError, ValueError, OSError):
        pass
    return _least(found)


def free_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that are free for this process, or 0 where nothing tells.

    What a container has used counts without the files that it has only read: their pages are
    given back when memory is short.
    """
    free = [found for found in (_free_in_machine(root),) if found]
    for folder in _folders("memory", root):
        limits, used = _memory_limits(folder), _memory_used(folder)
        if limits and used is not None:
            # A byte at least: 0 means that nothing is known.
            free.append(max(1, min(limits) - used))
    return min(free, default=0)


def _least(found: list[Limit]) -> Limit | None:
    return min(found, key=lambda limit: limit.value, default=None)


def _free_in_machine(root: Path) -> int:
    line = _lines(root / "proc/meminfo", "MemAvailable:")
    if line is not None:
        return 1024 * int(line.split()[0])
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 0


def _quota_of(folder: Path) -> tuple[int, int]:
    """Return the microseconds of a period that may be used, and the period; zeros if all may."""
    second = _text(folder / "cpu.max").split()
    if len(second) == 2 and second[0].isdigit():
        return int(second[0]), int(second[1])
    quota, period = (_number(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return (quota or 0, period or 0)


def _memory_limits(folder: Path) -> list[int]:
    names = ("memory.max", "memory.high", "memory.limit_in_bytes")
    found = (_number(folder / name) for name in names)
    return [limit for limit in found if limit is not None and 0 < limit < UNLIMITED]


def _memory_used(folder: Path) -> int | None:
    for name, reclaimed in (
        ("memory.current", "inactive_file"),
        ("memory.usage_in_bytes", "total_inactive_file"),
    ):
        used = _number(folder / name)
        if used is not None:
            kept = _lines(folder / "memory.stat", reclaimed)
            return max(0, used - int(kept or 0))
    return None


def _folders(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders of the groups of this process, from its own to the outermost one seen."""
    groups = {}
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(","):
            groups[name] = path
    for line in _text(root / "proc/self/mountinfo").splitlines():
        place, _, kind = line.partition(" - ")
        kind_of_files, *_, options = kind.split()
        # The second version has one tree for all controllers, without a name.
        name = "" if kind_of_files == "cgroup2" else controller
        first = kind_of_files == "cgroup" and controller in options.split(",")
        if name not in groups or not (first or kind_of_files == "cgroup2"):
            continue
        path = groups[name]
        top, mounted = place.split()[3:5]
        outermost = root / mounted.lstrip("/")
        # A container may see a part of the tree only, which is then mounted as if it were whole.
        parts: tuple[str, ...] = ()
        if PurePosixPath(path).is_relative_to(top):
            parts = PurePosixPath(path).relative_to(top).parts
        if not outermost.joinpath(*parts).is_dir():
            parts = ()
        for length in range(len(parts), -1, -1):
            yield outermost.joinpath(*parts[:length])


def _lines(path: Path, name: str) -> str | None:
    """Return what follows a name at the beginning of a line; ``None`` if no line has it."""
    for line in _text(path).splitlines():
        if line.startswith(f"{name} "):
            return line[len(name) :].strip()
    return None


def _number(path: Path) -> int | None:
    try:
        return int(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
