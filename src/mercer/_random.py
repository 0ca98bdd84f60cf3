"""The seam to randomness: one seed, a tree of counter-based streams.

A map draws everything from ``Stream(seed_of(random_state))``. Each part of a map and each
block of directions has its own branch of the tree, found by its name and number, so that
what is drawn never depends on how many rows, threads or further blocks there are.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np


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

    def child(self, *names: str | int) -> Stream:
        """Return the stream below this one that ``names`` lead to."""
        return Stream(self.seed, self.path + tuple(_number(name) for name in names))

    def generator(self) -> np.random.Generator:
        """Return a new Philox generator at the start of this stream."""
        return np.random.Generator(
            np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=self.path))
        )


def _number(name: str | int) -> int:
    """Return a number that stands for ``name`` in every process and on every machine."""
    if isinstance(name, int):
        return name
    return int.from_bytes(hashlib.blake2s(name.encode(), digest_size=4).digest(), "little")
