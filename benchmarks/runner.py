"""Time, peak memory and error of several cases, measured in one process and interleaved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mercer.engine.peak_memory import PeakMemory

from .report import Table, Target

#: Seconds to wait before a measurement: the OpenBLAS threads of the previous case keep spinning
#: for some tens of milliseconds and would occupy the cores.
REST = 0.1


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
