"""Which columns of a zonal map are exact, and how many directions the others get."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.harmonics import ANY_DIMENSION, count

#: Columns of the input up to which every degree has exact columns.
HARMONIC = 3
#: Highest degree of exact columns.
LARGEST_HARMONIC = 255


@dataclass(frozen=True)
class Plan:
    """Exact pairs (degree, number), and directions for all others."""

    exact: tuple[tuple[int, int], ...]
    n_directions: int


def harmonic_degree(
    n_features: int, n_components: int, pairs_up_to: Callable[[int], list[tuple[int, int]]]
) -> int:
    """Return the highest degree whose exact columns all fit, up to three input columns.

    Parameters
    ----------
    n_features, n_components : int
        Columns of the input, and of the map.
    pairs_up_to : callable
        The pairs of the series of a degree.

    Examples
    --------
    >>> harmonic_degree(3, 1024, lambda degree: [(l, 0) for l in range(degree + 1)])
    31
    """
    degree = 0
    while degree < LARGEST_HARMONIC:
        if n_columns(pairs_up_to(degree + 1), n_features) > n_components:
            break
        degree += 1
    return degree


def n_columns(pairs: list[tuple[int, int]], n_features: int) -> int:
    """Return the exact columns of pairs."""
    return sum(count(n_features, l) for l, _ in pairs)


def plan_columns(
    series: Any,
    masses: np.ndarray,
    n_features: int,
    n_components: int,
    exact: str | int,
    fold: bool,
    tolerance: float,
) -> Plan:
    """Return the plan of a map with random columns, of exact ones up to degree 2.

    Parameters
    ----------
    series : object with pairs and order
        The radial functions.
    masses : array of shape (n_pairs,)
        The mean of h² over typical rows: what each pair contributes to k(x, x).
    n_features, n_components : int
        Columns of the input, and of the map.
    exact : {"auto", 0, 1, 2}
        As the user wants it.
    fold : bool
        Whether the values of a radial function share columns.
    tolerance : float
        Share of k(x, x) below which a pair is sampled, whatever ``exact`` says.
    """
    each = 1 if fold else series.order
    low = [k for k, (l, _) in enumerate(series.pairs) if l <= ANY_DIMENSION and masses[k] > 0]
    costs = {k: count(n_features, series.pairs[k][0]) for k in low}
    if isinstance(exact, str):
        chosen = _worthwhile(low, costs, masses, n_components, each)
    else:
        much = tolerance * float(np.sum(masses))
        chosen = [k for k in low if series.pairs[k][0] <= exact and masses[k] > much and exact > 0]
    used = sum(costs[k] for k in chosen)
    rest = float(np.sum(masses)) - float(np.sum(masses[chosen]))
    random = not chosen or rest > 1e-15 * float(np.sum(masses))
    if used > n_components or (random and (n_components - used) // each < 1):
        raise ValueError(
            f"n_components={n_components} is too small for exact={exact!r} with {n_features} "
            f"columns, which takes {used} of them, and a direction, which takes {each}; use "
            "more, or exact='auto'."
        )
    n_directions = (n_components - used) // each if random else 0
    return Plan(tuple(series.pairs[k] for k in chosen), n_directions)


def _worthwhile(
    low: list[int], costs: dict[int, int], masses: np.ndarray, n_components: int, each: int
) -> list[int]:
    """Return the pairs whose exact columns make the error of the others smaller.

    That error is about what the others contribute, over the root of their directions. Exact
    columns never take more than half of all.
    """
    rest, directions = float(np.sum(masses)), n_components
    chosen: list[int] = []
    for k in sorted(low, key=lambda k: -masses[k] / costs[k]):
        left = directions - costs[k]
        if left < n_components / 2 or left < each:
            continue
        if (rest - masses[k]) / math.sqrt(left) < rest / math.sqrt(directions):
            chosen.append(k)
            rest, directions = rest - float(masses[k]), left
    return sorted(chosen)
