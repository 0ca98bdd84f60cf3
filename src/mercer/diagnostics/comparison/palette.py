"""One colour, marker and line for each method, legible on light and on dark paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Colours with a contrast of 3 to white and to near black; neighbours differ in hue and lightness.
COLOURS = (
    "#7d8590",
    "#c2591b",
    "#8a5cc7",
    "#c9428f",
    "#2f7fd1",
    "#0f9b8e",
    "#b8860b",
    "#4d9a2a",
    "#d14545",
    "#6b77e0",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
LINES = ("-", "--", "-.", (0, (1, 1.2)))


@dataclass(frozen=True)
class Look:
    """How a method looks in every picture.

    Attributes
    ----------
    colour : str
        As CSS has it.
    marker : str
        As matplotlib has it.
    line : str or tuple
        A line style of matplotlib.
    """

    colour: str
    marker: str
    line: str | tuple[float, tuple[float, ...]]


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """Return a look for each method.

    Beyond ten methods colours repeat, with other markers and lines.

    Parameters
    ----------
    methods : sequence of str
        In the order of their colours.

    Examples
    --------
    >>> looks(["linear", "NTK"])["linear"].colour
    '#7d8590'
    """
    found = {}
    for number, method in enumerate(methods):
        around = number // len(COLOURS)
        found[method] = Look(
            COLOURS[number % len(COLOURS)],
            MARKERS[(number + 3 * around) % len(MARKERS)],
            LINES[around % len(LINES)],
        )
    return found
