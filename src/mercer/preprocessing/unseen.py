"""What was not there when the encoder was fitted: rows are refused, or a warning tells of it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any


def report_categories(strange: Counter[Any], known: list[Any], unseen: str, label: str) -> None:
    """Warn of categories that were not there when the encoder was fitted, or refuse them.

    Parameters
    ----------
    strange : Counter
        How often each occurs.
    known : list
        The categories that were there.
    unseen : {"warn", "error"}
        What to do.
    label : str
        What to call the column.
    """
    first, n_others = next(iter(strange)), len(strange) - 1
    others = f" and {n_others} more" if n_others else ""
    some = ", ".join(repr(c) for c in known[:10]) + (", ..." if len(known) > 10 else "")
    text = (
        f"Column {label} holds the category {first!r}{others} in {_rows(sum(strange.values()))}, "
        f"not seen when the model was fitted (known: {some})"
    )
    _tell(text, "encoded as all zeros", unseen)


def report_gaps(gaps: Mapping[str, int], instead: str, unseen: str) -> None:
    """Warn of missing entries in columns that were complete when the encoder was fitted.

    Parameters
    ----------
    gaps : mapping of str to int
        What to call each column, and its number of missing entries.
    instead : str
        What such entries are taken for.
    unseen : {"warn", "error"}
        What to do.
    """
    first, n_others = next(iter(gaps)), len(gaps) - 1
    plural = "s" if n_others > 1 else ""
    others = f" (and {n_others:,} more column{plural} likewise)" if n_others else ""
    text = (
        f"Column {first} is missing in {_rows(gaps[first])}, but never was when the model was "
        f"fitted{others}"
    )
    _tell(text, f"taken for {instead}, of which error bars do not know", unseen)


def _rows(n: int) -> str:
    return f"{n:,} row{'s' if n > 1 else ''}"


def _tell(text: str, consequence: str, unseen: str) -> None:
    if unseen == "error":
        raise ValueError(f"{text}; correct it, or fit with TableEncoder(unseen='warn').")
    warnings.warn(
        f"{text}; {consequence} (TableEncoder(unseen='ignore') silences this warning, "
        "unseen='error' refuses such rows).",
        UserWarning,
        # From the caller of transform, which scikit-learn wraps.
        stacklevel=8,
    )
