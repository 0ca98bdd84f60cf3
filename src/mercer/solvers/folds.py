"""Which fold a row is in: drawn from its position among all rows, the same in every run."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from .._random import Stream

#: Rows whose folds are drawn at once where they are passed over.
DRAWN = 2**20


def fold_draws() -> np.random.Generator:
    """Return the generator that draws the folds of rows, at the first of them."""
    return Stream(0).child("folds").generator()


def draws_below(lengths: Sequence[int], n_folds: int) -> list[np.random.Generator]:
    """Return generators of folds that begin below so many rows, and one that begins below all.

    They have drawn the folds of all rows above: what a draw takes of the generator depends on
    what it finds.

    Parameters
    ----------
    lengths : sequence of int
        Rows of blocks that follow each other.
    n_folds : int
        Folds there are.

    Examples
    --------
    >>> first, second, _ = draws_below([3, 2], n_folds=5)
    >>> first.integers(5, size=5)[3:] == second.integers(5, size=2)
    array([ True,  True])
    """
    generator = fold_draws()
    found = [copy.deepcopy(generator)]
    for length in lengths:
        for start in range(0, length, DRAWN):
            generator.integers(n_folds, size=min(DRAWN, length - start))
        found.append(copy.deepcopy(generator))
    return found
