"""The seam to randomness: one seed, a tree of counter-based streams.

A map draws everything from ``Stream(seed_of(random_state))``. Each part of a map and each
block of directions has its own branch of the tree, found by its name and number, so that
what is drawn never depends on how many rows, threads or further blocks there are.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._registry import storable

#: Numbers that a draw counts for at least: the memory of the objects around it.
OVERHEAD = 256
#: Numbers that Philox makes at once.
BATCH = 4


def seed_of(random_state: Any) -> int:
    """Return the integer seed that ``random_state`` stands for.

    An integer is its own seed; a ``RandomState`` or ``Generator`` gives (and advances by)
    one draw; ``None`` asks the operating system. All are below 2^32, as scikit-learn wants
    integers to be, so that a seed can be given again.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def stored_random_state(random_state: Any, seed: int | None) -> Any:
    """Return ``random_state`` for a model file: a generator is the seed that a fit took from it.

    Before a fit, ``seed`` is ``None`` and the generator is stored as it is.

    Examples
    --------
    >>> stored_random_state(np.random.default_rng(0), seed=3)
    3
    """
    plain = random_state is None or isinstance(random_state, (int, np.integer))
    return random_state if plain or seed is None else seed


class DrawBudget:
    """Counts the numbers that are drawn, and refuses more than a limit before they are.

    Parameters
    ----------
    limit : int or None, default=None
        The most numbers; ``None``: only count.

    Examples
    --------
    >>> budget = DrawBudget(limit=1000)
    >>> budget.spend(900)
    >>> budget.spend(900)
    Traceback (most recent call last):
    ...
    ValueError: more than 1,000 random numbers would have to be drawn, which is too large
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.spent: int = 0

    def spend(self, numbers: int) -> None:
        """Count numbers that are about to be drawn."""
        self.spent += int(numbers)
        if self.limit is not None and self.spent > self.limit:
            raise ValueError(
                f"more than {self.limit:,} random numbers would have to be drawn, which is too "
                "large"
            )


@storable
@dataclass(frozen=True)
class Stream:
    """A node in the tree of random streams that grows from one seed.

    Examples
    --------
    >>> from mercer._random import Stream
    >>> first = Stream(0).child("directions", 0).generator().standard_normal(2)
    >>> again = Stream(0).child("directions", 0).generator().standard_normal(2)
    >>> bool((first == again).all())
    True
    """

    seed: int
    path: tuple[int, ...] = ()
    #: What draws of the whole tree are counted by, if anything.
    budget: DrawBudget | None = field(default=None, compare=False, repr=False)

    def child(self, *names: str | int) -> Stream:
        """Return the stream below this one that ``names`` lead to."""
        path = self.path + tuple(_number(name) for name in names)
        return Stream(self.seed, path, self.budget)

    def reserve(self, numbers: int, draws: int = 1) -> None:
        """Say, before memory is taken for them, that so many numbers will be drawn."""
        if self.budget is not None:
            self.budget.spend(numbers + OVERHEAD * draws)

    def generator(self) -> np.random.Generator:
        """Return a new Philox generator at the start of this stream."""
        return np.random.Generator(
            np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=self.path))
        )

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return the attributes to store."""
        return {"seed": self.seed, "path": self.path, "budget": None}


def skip_doubles(generator: np.random.Generator, numbers: int) -> None:
    """Leave out what ``generator.random(numbers)`` would draw, without drawing it.

    Parameters
    ----------
    generator : Generator
        Of a :class:`Stream`.
    numbers : int
        How many numbers.

    Examples
    --------
    >>> one, other = (Stream(0).generator() for _ in range(2))
    >>> _ = one.random(1_000_003)
    >>> skip_doubles(other, 1_000_003)
    >>> one.random() == other.random()
    True
    """
    source: Any = generator.bit_generator
    # Philox makes four numbers at a time, some of which may be waiting.
    waiting = min(numbers, BATCH - int(source.state["buffer_pos"]))
    generator.random(waiting)
    batches, rest = divmod(numbers - waiting, BATCH)
    if batches:
        source.advance(batches)
    generator.random(rest)


def _number(name: str | int) -> int:
    """Return a number that stands for ``name`` in every process and on every machine."""
    if isinstance(name, int):
        return name
    return int.from_bytes(hashlib.blake2s(name.encode(), digest_size=4).digest(), "little")
