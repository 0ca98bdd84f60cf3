"""Exact kernel or features, and how many: from the rows, the memory budget and what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._registry import storable
from ..._settings import settings
from ...engine.config import matrix_memory
from ...solvers.cost import (
    COMPONENTS,
    EXACT_ROWS,
    FOLDS,
    exact_memory,
    features_memory,
    most_components,
    solve_memory,
)
from ..exact_machine import DIRECT_ROWS
from ..report import AS_ASKED

#: Features where there are many rows and memory for it.
MANY_COMPONENTS, MANY_ROWS = 4096, 100_000
#: Rows up to which all of them are centres by default; landmarks beyond, at most so many, and so
#: that their kernel with all rows has no more entries than a product has time for.
ALL_CENTRES, MOST_CENTRES, MOST_ENTRIES = 100_000, 10_000, 5 * 10**9
#: Arrays of the size of the landmarks' kernel matrix that are held beside the panels.
LANDMARK_COPIES = 8
#: The fewest features to fall back to.
FEWEST = 64


@storable
@dataclass(frozen=True)
class Method:
    """Exact kernel, landmarks, features or linear; how many, why, and the bytes it takes."""

    name: str
    n_components: int | None
    reason: str
    memory: int


def choose_method(
    n_rows: int | None, n_components: Any, approximation: str, featured: bool
) -> Method:
    """Return exact or features, from the rows, the memory budget and what was asked for.

    Parameters
    ----------
    n_rows : int or None
        Rows to learn from; ``None`` if they are not known beforehand.
    n_components : int or "auto"
        Features that were asked for.
    approximation : {"auto", "exact", "features"}
        What was asked for.
    featured : bool
        Whether there are random features for the kernel; others are seen through landmarks.

    Examples
    --------
    >>> choose_method(1000, "auto", "auto", featured=True).name
    'exact'
    >>> choose_method(50_000, "auto", "auto", featured=True).n_components
    2048
    """
    budget = settings().memory
    if approximation == "features" or (n_components != "auto" and approximation == "auto"):
        return _features(n_rows, n_components, AS_ASKED)
    need = 0 if n_rows is None else exact_memory(n_rows)
    if approximation == "exact":
        return Method("exact", None, AS_ASKED, need)
    if n_rows is None:
        return _features(None, n_components, "the number of rows is not known beforehand")
    if n_rows <= EXACT_ROWS and need <= budget:
        return Method("exact", None, f"for {n_rows:,} rows it is no slower than features", need)
    if featured:
        why = f"they are faster above {EXACT_ROWS:,} rows"
        if n_rows <= EXACT_ROWS:
            why = "the memory budget is too small"
        return _features(
            n_rows, n_components, f"{why}; the exact kernel would need {need / 1e9:.3g} GB"
        )
    if need > budget:
        why = f"the exact kernel would need {need / 1e9:.3g} GB, more than the memory budget"
        return _features(n_rows, n_components, why)
    return Method("exact", None, "the kernel has no random features, and fits in memory", need)


def refuse_what_does_not_fit(
    n_rows: int | None, n_components: Any, approximation: str, near: Any = None
) -> None:
    """Raise a ``MemoryError`` if what was asked for cannot fit, before any work is done.

    Parameters
    ----------
    n_rows : int or None
        Rows to learn from; ``None`` if they are not known beforehand.
    n_components : int or "auto"
        Features that were asked for.
    approximation : {"auto", "exact", "features"}
        What was asked for.
    near : array, default=None
        Where the rows are; ``None``: in the memory of the host.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="1GB"):
    ...     refuse_what_does_not_fit(10**6, 20_000, "auto")
    Traceback (most recent call last):
    ...
    MemoryError: n_components=20000 needs 28.8 GB for sums of products of features, but may take ...
    """
    budget = matrix_memory(near)
    end = f"but may take {budget / 1e9:.3g} GB (of mercer.config(memory=...) or of what is free)"
    featured = approximation == "features" or approximation == "auto"
    if n_components != "auto" and featured:
        need = solve_memory(int(n_components), FOLDS)
        if need > budget:
            raise MemoryError(
                f"n_components={n_components} needs {need / 1e9:.3g} GB for sums of products of "
                f"features, {end}; n_components={most_components(budget)} fits, and so does "
                f"n_components={int(n_components)} with memory='{need / 1e9:.0f}GB'."
            )
    if approximation == "exact" and n_rows is not None and n_rows <= DIRECT_ROWS:
        need = exact_memory(n_rows)
        if need > budget:
            raise MemoryError(
                f"approximation='exact' needs {need / 1e9:.3g} GB for the kernel matrix of "
                f"{n_rows:,} rows, {end}; approximation='features' fits with "
                f"{most_components(budget):,} features, and 'exact' with "
                f"memory='{need / 1e9:.2g}GB'."
            )


def matrix_bytes(n_rows: int) -> int:
    """Return the bytes of the kernel matrix that an iterative solver keeps.

    Examples
    --------
    >>> matrix_bytes(10_000)
    200000000
    """
    return min(2 * n_rows**2, matrix_memory())


def choose_centres(n_rows: int, share: float = 1.0) -> Method:
    """Return all rows as centres, or as many landmarks as memory and time allow.

    Parameters
    ----------
    n_rows : int
        Rows to learn from.
    share : float, default=1.0
        The time that is left over the time that all rows would take.

    Examples
    --------
    >>> import mercer
    >>> with mercer.config(memory="20GB"):
    ...     choose_centres(50_000).name, choose_centres(400_000).n_components
    ('exact', 10000)
    """
    if n_rows <= ALL_CENTRES and share >= 1:
        return Method("exact", None, "all rows are centres", matrix_bytes(n_rows))
    why = f"there are more than {ALL_CENTRES:,} rows"
    size = min(MOST_CENTRES, MOST_ENTRIES // n_rows, n_rows // 2)
    if share < 1 and share * n_rows / 2 < size:
        # A product with landmarks uses every entry twice, one with all rows only half of them.
        size, why = max(FEWEST, int(share * n_rows / 2)), "the time limit allows no more"
    allowed = int((matrix_memory() / (8 * LANDMARK_COPIES)) ** 0.5)
    if allowed < size:
        size, why = max(FEWEST, allowed), "memory allows no more"
    need = 8 * LANDMARK_COPIES * size**2 + min(4 * n_rows * size, matrix_memory())
    return Method("landmarks", size, why, need)


def _features(n_rows: int | None, n_components: Any, why: str) -> Method:
    if n_components != "auto":
        return Method("features", int(n_components), why, features_memory(int(n_components)))
    size = MANY_COMPONENTS if n_rows is not None and n_rows >= MANY_ROWS else COMPONENTS
    while n_rows is not None and size > n_rows / 2 and size > FEWEST:
        size //= 2
    wanted, budget = size, settings().memory
    while features_memory(size) > budget and size > FEWEST:
        size //= 2
    if size < wanted:
        why += f", and {budget / 1e9:g} GB of memory allow {size:,} features"
    return Method("features", size, why, features_memory(size))
