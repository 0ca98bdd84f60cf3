"""The seam to errors on a device: what must hold is asked at once, and answered at the end.

To ask an accelerator whether a number is finite is to wait for all the work before it. Where
blocks follow each other the questions are collected, and asked together after the last block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import array_api_compat

#: What must hold, and the error if it does not.
Question = tuple[Any, Callable[[], Exception]]
_collected: ContextVar[list[Question] | None] = ContextVar("mercer questions", default=None)


def refuse_unless(holds: Any, error: Callable[[], Exception]) -> None:
    """Raise an error unless something holds: now, or at the end of :func:`asked_at_the_end`.

    Parameters
    ----------
    holds : bool or array without dimensions
        What must hold.
    error : callable
        Returns the error.

    Examples
    --------
    >>> with asked_at_the_end():
    ...     refuse_unless(1 > 2, lambda: ValueError("1 is not larger than 2"))
    ...     print("work goes on")
    Traceback (most recent call last):
    ...
    ValueError: 1 is not larger than 2
    """
    questions = _collected.get()
    if questions is not None:
        questions.append((holds, error))
    elif not bool(holds):
        raise error()


@contextmanager
def collected() -> Iterator[list[Question]]:
    """Collect the questions of a block of code in a list, and do not ask them."""
    questions: list[Question] = []
    token = _collected.set(questions)
    try:
        yield questions
    finally:
        _collected.reset(token)


@contextmanager
def asked_at_the_end() -> Iterator[None]:
    """Collect the questions of a block of code, and ask them when it ends."""
    with collected() as questions:
        yield
    if len(questions) > 1 and hasattr(questions[0][0], "device"):
        # One answer for all is one wait.
        xp = array_api_compat.array_namespace(questions[0][0])
        if bool(xp.all(xp.stack([holds for holds, _ in questions]))):
            return
    for holds, error in questions:
        if not bool(holds):
            raise error()
