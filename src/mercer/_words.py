"""The seam to people: the nearest name to one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def did_you_mean(name: Any, names: Iterable[Any], otherwise: str = "") -> str:
    """Return a question with the nearest name there is, or what to say if none is near.

    Examples
    --------
    >>> did_you_mean("prize", ["price", "size"])
    "did you mean 'price'?"
    >>> did_you_mean("x", ["price"], "there is only 'price'.")
    "there is only 'price'."
    """
    near = difflib.get_close_matches(str(name), [str(other) for other in names], n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
