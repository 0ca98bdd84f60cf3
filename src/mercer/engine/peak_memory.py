"""By how much memory grows, at its peak, while something runs."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import tracemalloc

#: Seconds between two samples of the resident memory.
SAMPLING = 0.001
_STATM = "/proc/self/statm"


class PeakMemory:
    """Measures by how much memory grows, at its peak, inside a ``with`` block.

    A thread samples the resident memory of the process; where the system does not report it,
    ``tracemalloc`` counts what Python and NumPy allocate.

    Attributes
    ----------
    growth : int
        Bytes at the peak beyond those at the start; known after the block.
    counts : str
        What is counted: ``"resident memory"`` or ``"traced allocations"``.

    Examples
    --------
    >>> import numpy as np
    >>> with PeakMemory() as memory:
    ...     ones = np.ones(10_000_000)
    >>> 70e6 < memory.growth < 150e6
    True
    """

    def __init__(self) -> None:
        self.growth: int = 0
        self._resident = os.path.exists(_STATM)
        self.counts = "resident memory" if self._resident else "traced allocations"

    def __enter__(self) -> PeakMemory:
        gc.collect()
        _return_free_memory()
        if self._resident:
            self._stopped = threading.Event()
            self._file = os.open(_STATM, os.O_RDONLY)
            self._start = self._peak = self._look()
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()
        else:
            tracemalloc.start()
            self._start = tracemalloc.get_traced_memory()[0]
        return self

    def __exit__(self, *error: object) -> None:
        if self._resident:
            self._stopped.set()
            self._watcher.join()
            self._peak = max(self._peak, self._look())
            os.close(self._file)
        else:
            self._peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        self.growth = self._peak - self._start

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLING):
            self._peak = max(self._peak, self._look())

    def _look(self) -> int:
        """Return the bytes of resident memory."""
        pages = int(os.pread(self._file, 256, 0).split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def _return_free_memory() -> None:
    """Give freed memory back to the system where the C library can.

    Memory that an earlier call left in the heap is resident already: reusing it would not count
    as growth, and the measured peak would be too small.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
