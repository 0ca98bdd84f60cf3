"""The seam to optional packages: one sentence and the pip line when one is missing."""

from __future__ import annotations

import importlib
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
