"""The array libraries that are installed, each as a function that makes its arrays."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np


def array_libraries() -> dict[str, Callable[[Any], Any]]:
    """Return, by name, functions from NumPy arrays to arrays of each installed library.

    Of torch and CuPy the accelerator is listed apart from the CPU where there is one.

    Examples
    --------
    >>> from mercer.testing import array_libraries
    >>> make = array_libraries()["numpy"]
    >>> make([[1.0]])
    array([[1.]])
    """
    found: dict[str, Callable[[Any], Any]] = {"numpy": np.asarray}
    if importlib.util.find_spec("array_api_strict"):
        import array_api_strict

        found["array_api_strict"] = array_api_strict.asarray
    if importlib.util.find_spec("torch"):
        import torch

        found["torch"] = torch.asarray
        if torch.cuda.is_available():
            found["torch.cuda"] = lambda array: torch.asarray(array, device="cuda")
    if importlib.util.find_spec("cupy"):
        import cupy

        if cupy.cuda.is_available():
            found["cupy"] = cupy.asarray
    return found
