"""Where progress is seen: one bar on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import builtins
import sys
import threading
import time
from importlib.util import find_spec
from typing import Any

#: Seconds of work before a bar appears.
PATIENCE = 2.0

_one_at_a_time = threading.Lock()


class Bar:
    """A line with a bar that appears after two seconds of work; at most one in a process.

    Safe to use from every thread. Where there is no terminal and no notebook, and where
    another bar is already on the screen, nothing is shown.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._closed = False
        self._state: tuple[str, int, int | None] = ("", 0, None)
        self._rich: Any = None

    def appear_by_itself(self) -> None:
        """Let the bar appear after two seconds even if nothing is told meanwhile."""
        if _has_screen():
            self._timer = threading.Timer(PATIENCE, self._refresh)
            self._timer.daemon = True
            self._timer.start()

    def show(self, label: str, done: int, total: int | None) -> None:
        """Show how much is done; a total of ``None`` is not known."""
        self._state = (label, done, total)
        if self._rich is not None or time.monotonic() - self._start >= PATIENCE:
            self._refresh()

    def write(self, line: str) -> None:
        """Write a line to stderr, above the bar if there is one."""
        with self._lock:
            if self._rich is not None:
                self._rich.console.print(line, markup=False, highlight=False, soft_wrap=True)
            elif sys.stderr is not None:
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()

    def close(self) -> None:
        """Take the bar away for good."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._rich is not None:
                self._rich.stop()
                self._rich = None
                _one_at_a_time.release()

    def _refresh(self) -> None:
        with self._lock:
            label, done, total = self._state
            if self._closed or (self._rich is None and not self._opened()):
                return
            task = self._rich.tasks[0]
            if task.description != label:
                self._rich.reset(task.id, description=label)
            # Not by update, which takes no total for "as before".
            task.total = total
            counts = "" if total is None else f"{done:,}/{total:,}"
            self._rich.update(task.id, completed=done, counts=counts)

    def _opened(self) -> bool:
        """Return whether there is a bar now, made here if there is a screen that is free."""
        if not _has_screen() or not _one_at_a_time.acquire(blocking=False):
            return False
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._rich = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._rich.add_task(self._state[0], total=None, counts="")
        self._rich.start()
        return True


def _has_screen() -> bool:
    """Return whether stderr is a terminal, or this is a notebook that can show a bar."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    # IPython puts get_ipython there; without ipywidgets rich could only warn.
    if not hasattr(builtins, "get_ipython") or find_spec("ipywidgets") is None:
        return False
    from rich.console import Console

    return Console().is_jupyter
