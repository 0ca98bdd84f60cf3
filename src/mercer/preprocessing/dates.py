"""Dates: strings that hold them, days since 1970, and what month and weekday they are."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np

#: What is read as a date: ISO 8601, a whole date with or without a time of day and an offset.
ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?Z|[+-]\d{2}(?::?\d{2})?)?)?"
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: What :func:`date_parts` returns, as the ends of names of columns.
PARTS = (" month cos", " month sin", *(f"={day}" for day in WEEKDAYS))
_DAY = np.timedelta64(1, "D")
_MICROSECONDS = 86_400_000_000


def parsed_date(text: Any) -> datetime | None:
    """Return a string as a date in UTC, or ``None`` if it is not a date of ISO 8601.

    Examples
    --------
    >>> parsed_date("2024-02-29T12:30+02:00")
    datetime.datetime(2024, 2, 29, 10, 30)
    >>> parsed_date("2023-02-29") is None
    True
    """
    if not isinstance(text, str) or not ISO.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text.replace(" Z", "Z"))
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def parsed_dates(values: np.ndarray) -> np.ndarray | None:
    """Return strings as ``datetime64``, or ``None`` if some are not dates or all are missing.

    Parameters
    ----------
    values : array of objects
        Strings, with ``None`` for missing values.
    """
    texts = values.tolist()
    # Most dates occur more than once.
    known: dict[Any, np.datetime64] = {None: np.datetime64("NaT", "us")}
    for text in texts:
        # Lists and the like are no keys.
        if (text is None or isinstance(text, str)) and text in known:
            continue
        date = parsed_date(text)
        if date is None:
            return None
        known[text] = np.datetime64(date, "us")
    return np.array([known[text] for text in texts]) if len(known) > 1 else None


def days(values: np.ndarray) -> np.ndarray:
    """Return dates as days since 1970, and durations as days; NaN where they are missing.

    Examples
    --------
    >>> days(np.asarray(["1970-01-02T12:00", "NaT"], dtype="datetime64[s]"))
    array([1.5, nan])
    """
    span = values - np.datetime64(0, "D") if values.dtype.kind == "M" else values
    return np.where(np.isnat(values), np.nan, span / _DAY)


def date_parts(days: np.ndarray) -> np.ndarray:
    """Return the month of dates as a point of a circle, and a column for each weekday.

    The place in the year is counted in months, the day being a fraction of its month, and goes
    around the circle once a year: the end of December lies beside the beginning of January.
    Weekdays are columns of zeros and ones, as categories are: no weekday is near another.

    Parameters
    ----------
    days : array of shape (n_rows,)
        Days since 1970, NaN where missing.

    Returns
    -------
    parts : array of shape (n_rows, 9)
        The columns named by :data:`PARTS`; NaN where the date is missing.

    Examples
    --------
    >>> date_parts(np.asarray([0.0]))  # 1 January 1970 was a Thursday
    array([[1., 0., 0., 0., 0., 1., 0., 0., 0.]])
    """
    missing = np.isnan(days)
    counted = np.rint(np.where(missing, 0.0, days) * _MICROSECONDS).astype(np.int64)
    dates = counted.astype("datetime64[us]")
    months = dates.astype("datetime64[M]")
    start = months.astype("datetime64[us]")
    fraction = (dates - start) / (
        (months + np.timedelta64(1, "M")).astype("datetime64[us]") - start
    )
    angle = (months.astype(np.int64) % 12 + fraction) * (2 * np.pi / 12)
    # Day 0 was a Thursday.
    weekday = (dates.astype("datetime64[D]").astype(np.int64) + 3) % 7
    parts = np.column_stack([np.cos(angle), np.sin(angle), weekday[:, None] == np.arange(7)])
    parts[missing] = np.nan
    return parts
