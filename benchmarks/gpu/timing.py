"""Times of work on a device, and the memory it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch


@dataclass(frozen=True)
class Timed:
    """What was measured of a function.

    Attributes
    ----------
    result : object
        What it returned last.
    milliseconds : float
        The median time of a call.
    peak : int
        Bytes that it allocated on the device at most, its result included.
    """

    result: Any
    milliseconds: float
    peak: int


def timed(function: Callable[[], Any], repeats: int, device: str) -> Timed:
    """Return the median time of some calls after a first one, and the memory of the last."""
    result = function()
    times = []
    for _ in range(repeats):
        result = None
        peak_before = _reset(device)
        start = time.perf_counter()
        result = function()
        synchronize(device)
        times.append(1000 * (time.perf_counter() - start))
    return Timed(result, median(times), _peak(device) - peak_before)


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _reset(device: str) -> int:
    synchronize(device)
    if not device.startswith("cuda"):
        return 0
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def _peak(device: str) -> int:
    return torch.cuda.max_memory_allocated() if device.startswith("cuda") else 0
