"""Time, peak memory and error of several cases, measured in one process and interleaved."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .report import Table, Target

#: Seconds to wait before a measurement: the OpenBLAS threads of the previous case keep spinning
#: for some tens of milliseconds and would occupy the cores.
REST = 0.1
#: Seconds between two samples of the resident memory.
SAMPLING = 0.001
_STATM = "/proc/self/statm"


@dataclass(frozen=True)
class Case:
    """One thing to measure.

    Attributes
    ----------
    name : str
        What the tables call it.
    role : {"ours", "peer", "limit"}
        mercer, another library (ratios refer to the first peer), or the minimum that the
        hardware needs.
    function : callable
        Called without arguments; returns the result.
    error : callable, optional
        Called with the result; returns a number.
    """

    name: str
    role: Literal["ours", "peer", "limit"]
    function: Callable[[], Any]
    error: Callable[[Any], float] | None = None


def product_limit(X: np.ndarray, n_directions: int, n_columns: int) -> Case:
    """Return the case of the machine's limit for a result of ``n_columns`` columns.

    That is the product of ``X`` with ``n_directions`` directions into an allocated buffer, and
    writing an allocated result once.
    """
    weights = np.ones((X.shape[1], n_directions), dtype=X.dtype)
    buffer = np.ones((X.shape[0], n_directions), dtype=X.dtype)
    result = np.ones((X.shape[0], n_columns), dtype=X.dtype)

    def product_and_fill() -> np.ndarray:
        np.matmul(X, weights, out=buffer)
        result.fill(1)
        return result

    return Case("product and fill", "limit", product_and_fill)


def measure(title: str, cases: Sequence[Case], repeats: int) -> Table:
    """Return a table with a row for each case: time, ratios, memory and error.

    Parameters
    ----------
    title : str
        What is computed, and its shape.
    cases : sequence of Case
        What to measure. In every round each of them is called once.
    repeats : int
        Rounds. The fastest counts, which excludes compilation and most of other load.
    """
    seconds = {case.name: np.inf for case in cases}
    for _ in range(repeats):
        for case in cases:
            seconds[case.name] = min(seconds[case.name], _seconds(case.function))
    peer = next((seconds[case.name] for case in cases if case.role == "peer"), None)
    limit = next((seconds[case.name] for case in cases if case.role == "limit"), None)
    rows = []
    for case in cases:
        time_taken = seconds[case.name]
        rows.append(
            {
                "case": case.name,
                "role": case.role,
                "speed / peer": peer / time_taken if peer else None,
                "time / limit": time_taken / limit if limit else None,
                "seconds": time_taken,
                **_memory_and_error(case),
            }
        )
    return Table(title, rows)


def check(table: Table, case: str, column: str, sense: str, bound: float) -> Target:
    """Return the target that ``column`` of ``case`` is ``"at least"`` or ``"at most"`` a number."""
    measured = next(row[column] for row in table.rows if row["case"] == case)
    return Target(f"{table.title}: {case}, {column}", sense, bound, measured)


def _seconds(function: Callable[[], Any]) -> float:
    """Return the seconds of one call, after a pause; freeing the result is not timed."""
    time.sleep(REST)
    start = time.perf_counter()
    result = function()
    taken = time.perf_counter() - start
    del result
    return taken


def _memory_and_error(case: Case) -> dict[str, float | None]:
    """Return memory and error of one more call, which is not timed.

    The limit writes to an allocated result, so its memory is not measured.
    """
    if case.role == "limit":
        return {"extra MB": None, "peak / result": None, "error": None}
    with PeakMemory() as memory:
        result = case.function()
    return {
        "extra MB": (memory.growth - result.nbytes) / 1e6,
        "peak / result": memory.growth / result.nbytes,
        "error": None if case.error is None else float(case.error(result)),
    }


class PeakMemory:
    """Measures by how much memory grows, at its peak, inside a ``with`` block.

    A thread samples the resident memory of the process; where the system does not report it,
    ``tracemalloc`` counts what Python and NumPy allocate.

    Attributes
    ----------
    growth : int
        Bytes at the peak beyond those at the start; known after the block.
    """

    def __enter__(self) -> PeakMemory:
        gc.collect()
        _return_free_memory()
        self._resident = os.path.exists(_STATM)
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
