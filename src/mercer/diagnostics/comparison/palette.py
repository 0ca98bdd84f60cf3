"""One colour, marker and line for each method, legible on light and on dark paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from .methods import DEFAULT, NAMED

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

    Methods with a name of their own look the same in every comparison; others take what is
    left. Beyond ten methods colours repeat, with other markers and lines.

    Parameters
    ----------
    methods : sequence of str
        Their labels.

    Examples
    --------
    >>> looks(["linear", "mine"])["linear"].colour == looks(["NTK", "linear"])["linear"].colour
    True
    """
    known = [label for label in _reserved() if label in methods]
    numbers = {label: _reserved().index(label) for label in known}
    taken = set(numbers.values())
    free = (number for number in count() if number not in taken)
    found = {}
    for method in methods:
        number = numbers[method] if method in numbers else next(free)
        around = number // len(COLOURS)
        found[method] = Look(
            COLOURS[number % len(COLOURS)],
            MARKERS[(number + 3 * around) % len(MARKERS)],
            LINES[around % len(LINES)],
        )
    return found


def _reserved() -> list[str]:
    """Return the labels of named methods, those of the default first."""
    names = [*DEFAULT, *(name for name in NAMED if name not in DEFAULT)]
    return [NAMED[name].label for name in names]
