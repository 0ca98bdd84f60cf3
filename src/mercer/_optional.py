"""The seam to optional packages: one sentence and the pip line when one is missing."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any


def require(module: str, extra: str, purpose: str) -> Any:
    """Return the imported ``module``, or say how to install the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {package}, which is not installed; "
            f"install it with: pip install 'mercer[{extra}]'"
        ) from error


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it.

    Examples
    --------
    >>> is_installed("math")
    True
    """
    return module in sys.modules or importlib.util.find_spec(module) is not None
