"""Peak memory of a call, as seen by Python's own allocator hooks."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def peak_bytes(function: Callable[[], Result]) -> tuple[Result, int]:
    """Return the result of ``function()`` and the peak of bytes it allocated.

    NumPy reports its arrays to :mod:`tracemalloc`, from every thread.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.testing import peak_bytes
    >>> result, peak = peak_bytes(lambda: np.ones(1000))
    >>> 8000 <= peak < 20000
    True
    """
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start()
    try:
        if not started:
            # Garbage of earlier calls would be freed inside this one; none of it is counted where
            # counting has only begun.
            gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = function()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        if started:
            tracemalloc.stop()
