"""Where results are put: one output, allocated once, or a sentence why it cannot be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import empty_like_library, is_numpy
from .._limits import memory


def allocate(X: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Return an uninitialised output in the library and on the device of ``X``."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    allowed = memory()
    there = "" if allowed is None else f" the {allowed.value / 1e9:.3g} GB of"
    container = allowed is not None and "container" in allowed.source
    too_large = MemoryError(
        f"A result of shape {shape} in {dtype} takes {n_bytes / 1e9:.3g} GB, more than{there} this "
        f"{'container' if container else 'machine'}; take rows in parts, a feature map with fewer "
        "components, or, for a kernel matrix, kernel.matvec, which never forms it."
    )
    if is_numpy(X) and allowed is not None and n_bytes > allowed.value:
        raise too_large
    try:
        return empty_like_library(X, shape, dtype)
    except MemoryError as error:
        raise too_large from error
