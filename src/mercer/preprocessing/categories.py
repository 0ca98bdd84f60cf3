"""Columns of categories: which get a column of their own, and the codes of values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._frame import is_missing
from .unseen import report_categories

#: Stands for a value that is not among the categories, until it is known to be missing or not.
UNKNOWN = -2


def shown_categories(counts: Counter[Any], most: int) -> tuple[list[Any], bool]:
    """Return the categories that get a column of their own, and whether others share one.

    Parameters
    ----------
    counts : Counter
        How often each occurs; ``None`` is missing, and comes last.
    most : int
        The most columns; beyond it the rarest share the last.

    Examples
    --------
    >>> shown_categories(Counter("aaabbc"), 2)
    (['a'], True)
    """
    shown = list(counts)
    shared = len(shown) > most
    if shared:
        shown = sorted(shown, key=lambda c: (-counts[c], str(c)))[: most - 1]
    return sorted(shown, key=lambda c: (c is None, str(c))), shared


def category_codes(
    values: np.ndarray, shown: list[Any], shared: bool, unseen: str, label: str
) -> np.ndarray:
    """Return the place of each value among the categories of its column; -1 for none.

    Parameters
    ----------
    values : array of objects
        The column; a missing value is the category ``None``.
    shown, shared : list, bool
        As :func:`shown_categories` returns them; where some share a column, so do unseen ones.
    unseen : {"warn", "error", "ignore"}
        What to do with categories that are not known.
    label : str
        What to call the column in messages.
    """
    places = {category: place for place, category in enumerate(shown)}
    other = len(shown) if shared else -1
    found = values.tolist()
    codes = np.array([places.get(value, UNKNOWN) for value in found], dtype=int)
    unknown = np.flatnonzero(codes == UNKNOWN)
    missing = np.array([is_missing(found[row]) for row in unknown], dtype=bool)
    codes[unknown[missing]] = places.get(None, other)
    codes[unknown[~missing]] = other
    if unseen == "ignore" or shared:
        return codes
    strange = Counter(found[row] for row in unknown[~missing])
    if strange:
        report_categories(strange, [c for c in shown if c is not None], unseen, label)
    return codes
