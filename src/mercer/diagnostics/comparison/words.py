"""Numbers of a comparison as people read them: in the terminal and on the page alike."""

from __future__ import annotations


def three(value: float) -> str:
    """Return a number in three digits.

    Examples
    --------
    >>> three(0.12345), three(1234.5)
    ('0.123', '1.23e+03')
    """
    return f"{value:#.3g}"


def interval(low: float, high: float) -> str:
    """Return an interval.

    Examples
    --------
    >>> interval(0.1, 0.2)
    '0.100 to 0.200'
    """
    return f"{three(low)} to {three(high)}"


def seconds(value: float) -> str:
    """Return a time.

    Examples
    --------
    >>> seconds(0.0123), seconds(1.23), seconds(75.0)
    ('12 ms', '1.2 s', '75 s')
    >>> seconds(0.0004)
    '<1 ms'
    """
    if value < 0.001:
        return "<1 ms"
    if value < 0.1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def amount(n_bytes: float) -> str:
    """Return an amount of memory.

    Examples
    --------
    >>> amount(900), amount(12_300), amount(4_560_000), amount(2e9)
    ('900 B', '12 kB', '4.6 MB', '2.0 GB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            value = n_bytes / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{n_bytes:.0f} B"
