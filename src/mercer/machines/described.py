"""What is known of a fitted state without further work, in words: what notebooks show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any


@dataclass(frozen=True)
class Described:
    """A solved state in words.

    Attributes
    ----------
    lines : list of (str, str)
        Pairs of a heading and a sentence on its rows, and what is made of them.
    knows_score : bool
        Whether the score to expect follows from the solution at once.
    """

    lines: list[tuple[str, str]]
    knows_score: bool


@singledispatch
def described(state: Any) -> Described | None:
    """Return a state in words; ``None`` for those that are not solved, and of other machines.

    The modules of states register what they know.

    Examples
    --------
    >>> described(None) is None
    True
    """
    return None
