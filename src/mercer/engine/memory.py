"""Where results are put: one output, allocated once, or a sentence why it cannot be."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from .._array import empty_like_library, is_numpy


def allocate(X: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Return an uninitialised output in the library and on the device of ``X``."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    physical = physical_memory()
    too_large = MemoryError(
        f"A result of shape {shape} in {dtype} takes {n_bytes / 1e9:.3g} GB, more than this "
        "machine has; take rows in parts, a feature map with fewer components, or, for a "
        "kernel matrix, kernel.matvec, which never forms it."
    )
    if is_numpy(X) and physical is not None and n_bytes > physical:
        raise too_large
    try:
        return empty_like_library(X, shape, dtype)
    except MemoryError as error:
        raise too_large from error


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, or ``None`` where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
