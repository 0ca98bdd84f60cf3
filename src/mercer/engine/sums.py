"""Sums over tasks that do not depend on which thread was faster."""

from __future__ import annotations

import threading
from typing import Any


class OrderedSum:
    """Sums of what tasks return, added in the order of the tasks whichever is done first.

    So that the last digits do not depend on which thread was faster.

    Examples
    --------
    >>> total = OrderedSum()
    >>> total.add(1, 0.5)
    >>> total.add(0, 1.0)
    >>> total.values
    [1.5]
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._waiting: dict[int, tuple[Any, ...]] = {}
        self._next = 0
        self._lock = threading.Lock()

    def add(self, number: int, *values: Any) -> None:
        """Add the results of a task, or keep them until those before it are there."""
        with self._lock:
            self._waiting[number] = values
            while self._next in self._waiting:
                ready = self._waiting.pop(self._next)
                if not self.values:
                    self.values = [0.0 + value for value in ready]
                else:
                    for place, value in enumerate(ready):
                        self.values[place] += value
                self._next += 1
