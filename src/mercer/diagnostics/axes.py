"""Where a display draws: in axes that were given, or in a figure of its own."""

from __future__ import annotations

from typing import Any

from .._optional import require


def axes_or_new(ax: Any, display: object) -> Any:
    """Return the axes that were given, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes or None
        What was given.
    display : object
        Who draws; an error says so where matplotlib is missing.

    Examples
    --------
    >>> axes_or_new("given", None)
    'given'
    """
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", "plot", type(display).__name__)
    return pyplot.subplots(layout="constrained")[1]
