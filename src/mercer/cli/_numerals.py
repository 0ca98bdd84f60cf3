"""Strings that a person would read as numbers: what they look like, and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._words import AdvisedError, listed

#: The share of the strings that may look otherwise.
FEW = 0.05
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
#: Groups of three digits with separators between them, and what a fraction may begin with.
GROUPED = re.compile(r"[+-]?\d{1,3}((,\d{3})+|(['’ \u00a0\u202f]\d{3})+)(\.\d+)?")
GROUPED_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}([.'’ \u00a0\u202f]\d{3})+(,\d+)?")
CURRENCY = re.compile(
    r"(?:[$€£¥₹%]|\b(?:EUR|USD|CHF|GBP|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|BRL)\b)"
)
#: How people write that a value is missing, beside what is taken for missing by default.
MISSING = {"?", "-", "--", "---", ".", "..", "n.a.", "n.a", "none", "missing", "unknown", "nil"}


@dataclass(frozen=True)
class Numerals:
    """What strings look like, and what to do about it."""

    #: What they look like, such as "numbers with decimal commas".
    looks: str
    #: What to do, up to the options.
    advice: str
    #: The options to add, if that helps.
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Doubt:
    """A column of strings that look like numbers."""

    column: str
    example: str
    numerals: Numerals

    def told(self, instead: str) -> AdvisedError:
        """Return the sentence about it; ``instead`` says why it matters."""
        return AdvisedError(
            f"Column {self.column!r} holds strings such as {self.example!r}, {instead}; they look "
            f"like {self.numerals.looks}: {self.numerals.advice}",
            self.numerals.options,
        )


SIGNS = Numerals("numbers with a currency or percent sign", "remove the signs from the file")
COMMAS = Numerals("numbers with decimal commas", "add ", {"decimal": ","})
GROUPS = Numerals("numbers with thousands separators", "remove the separators from the file")
BOTH = Numerals(
    "numbers with thousands separators and decimal commas",
    "remove the separators from the file and add ",
    {"decimal": ","},
)
POINTS = Numerals("numbers with decimal points", "leave out --decimal ','")
EXCHANGED = str.maketrans(".,", ",.")
#: What to look for, in order, beside plain numbers.
SHAPES = (
    (GROUPS, (GROUPED,)),
    (COMMAS, (DECIMAL_COMMA,)),
    (BOTH, (GROUPED, GROUPED_DECIMAL_COMMA, DECIMAL_COMMA)),
)


def recognised(strings: Iterable[str], decimal: str = ".") -> Numerals | None:
    """Return what strings look like, or nothing if they do not look like numbers.

    ``decimal`` is the decimal point that the file was read with.

    Examples
    --------
    >>> recognised(["12,5", "7", "3,25"]).looks
    'numbers with decimal commas'
    >>> recognised(["1,234", "12,000.50"]).looks
    'numbers with thousands separators'
    >>> recognised(["$ 12", "$ 7.50"]).looks
    'numbers with a currency or percent sign'
    >>> recognised(["12.5", "?"]).options
    {'na_values': ['?']}
    >>> recognised(["red", "green"]) is None
    True
    """
    if decimal == ",":
        found = recognised(string.translate(EXCHANGED) for string in strings)
        return POINTS if found is COMMAS else GROUPS if found is BOTH else found
    different = sorted(set(strings))
    words = [text for text in different if text.strip().casefold() in MISSING]
    texts = [text.strip() for text in different if text not in words]
    bare = [CURRENCY.sub("", text).strip() for text in texts]
    strange = [text for text in bare if not PLAIN.fullmatch(text)]
    few = FEW * len(texts)
    if len(strange) == len(bare) and not any(_fits(text, SHAPES[-1][1]) for text in strange):
        return None
    for numerals, patterns in SHAPES:
        fitting = [text for text in strange if _fits(text, patterns)]
        if fitting and len(strange) - len(fitting) <= few:
            return numerals if bare == texts else SIGNS
    if len(strange) > few:
        return None
    if bare != texts:
        return SIGNS
    exceptions = [*words, *strange]
    if not exceptions:
        return None
    shown = listed([repr(word) for word in exceptions], most=3)
    return Numerals(
        f"numbers, except {shown}",
        "if that stands for a missing value, add ",
        {"na_values": exceptions[:3]},
    )


def an_example(strings: Sequence[str]) -> str:
    """Return a string that shows what strings are about: the first with a digit, if there is."""
    return next((text for text in strings if any(map(str.isdigit, text))), strings[0])


def _fits(text: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    return any(pattern.fullmatch(text) for pattern in patterns)


def doubtful_columns(block: Any, decimal: str) -> list[Doubt]:
    """Return the columns of strings that look like numbers, in a block of a table.

    Parameters
    ----------
    block : pyarrow.RecordBatch
        The block; other things have no such columns.
    decimal : str
        The decimal point that the file was read with.
    """
    doubts = []
    for name in getattr(block, "column_names", ()):
        column = block.column(name)
        if str(column.type) not in ("string", "large_string"):
            continue
        strings = [text for text in column.unique().to_pylist() if text is not None]
        numerals = recognised(strings[:1000], decimal)
        if numerals is not None:
            doubts.append(Doubt(name, an_example(strings), numerals))
    return doubts
