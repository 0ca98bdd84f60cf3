"""Progress of long work: a bar on a terminal after two seconds, or the user's callback."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any

from .config import settings

#: Seconds of work before a bar appears.
PATIENCE = 2.0


class Progress:
    """Counts finished work from any thread and shows it from the thread that waits."""

    def __init__(self, label: str, total: int) -> None:
        self.label = label
        self.total = total
        self.done = 0
        self._lock = threading.Lock()
        self._told = -1
        self._bar: Any = None
        self._task: Any = None
        self._start = 0.0

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.show()
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: int) -> None:
        """Add finished work; safe to call from every thread."""
        with self._lock:
            self.done += amount

    def show(self) -> None:
        """Tell the callback, or move the bar, if there is news."""
        if self.done == self._told:
            return
        self._told = self.done
        progress = settings().progress
        if callable(progress):
            progress(self.done, self.total, self.label)
        elif progress and self._wanted():
            self._bar.update(self._task, completed=self.done)

    def _wanted(self) -> bool:
        """Return whether there is a bar, making one when the work has become long."""
        if self._bar is None:
            if time.monotonic() - self._start < PATIENCE or not sys.stderr.isatty():
                return False
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.label, total=self.total)
            self._bar.start()
        return True
