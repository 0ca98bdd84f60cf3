"""Penetrance tables of pure and strict epistasis: no proper subset of the loci matters.

A table gives the probability of the disease for each combination of genotypes. Genotypes are
counts of the minor allele, 0, 1 or 2, in Hardy-Weinberg equilibrium: (1 - q)², 2q(1 - q), q².
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from .._random import Stream
from .arguments import checked_integer, checked_number, checked_seed

#: A table of this many loci has 3^5 = 243 entries; to refuse one of more would take long.
MOST_LOCI = 5
#: The lowest frequency of an allele: the entries of rarer genotypes would overflow.
RAREST = 1e-6
#: Corners of the polytope of tables are exact to about this much.
ROUNDING = 1e-13


def penetrance_table(
    n_loci: int = 2,
    minor_allele_frequency: float | Sequence[float] = 0.2,
    heritability: float = 0.2,
    prevalence: float = 0.3,
    random_state: Any = None,
) -> np.ndarray:
    r"""Return a random table of disease probabilities with pure and strict epistasis.

    As in GAMETES [1]_, the disease depends on all loci together and on no proper subset of
    them: given the genotypes at some of the loci only, its probability is the prevalence K.
    The tables with this property are :math:`K + \sum_a c_a \prod_i u_{a_i}(g_i)`, where
    :math:`u_1` and :math:`u_2` are the two orthonormal functions of a genotype with mean 0,
    the additive and the dominant one. Their variance is :math:`\|c\|^2`, and their
    heritability :math:`\|c\|^2 / K(1 - K)`.

    Parameters
    ----------
    n_loci : int, default=2
        The number of loci, 2 to 5.
    minor_allele_frequency : float or one for each locus, default=0.2
        The frequency q of the minor allele, from 1e-6 to 0.5.
    heritability : float, default=0.2
        The variance of the table over K(1 - K), from 0 (no effect) to 1.
    prevalence : float, default=0.3
        The probability K of the disease in the population.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the table.

    Returns
    -------
    table : array of shape (3,) * n_loci
        The probability of the disease for each combination of genotypes.

    Raises
    ------
    ValueError
        If no table with this heritability was found. The error tells the largest one found.

    Notes
    -----
    A random direction c is followed as long as all entries stay in [0, 1]. If that is too
    short for the heritability, a linear program finds the table that goes farthest in this
    direction, from there the next one, and so on: the variance grows at each step until a
    corner of the polytope of tables is a local maximum. The table is where this path reaches the
    heritability; if it does not, another path starts. The largest variance is the maximum
    of a convex function, so that nothing short of listing all corners can prove that a
    larger one does not exist.

    References
    ----------
    .. [1] R. Urbanowicz et al., "GAMETES: a fast, direct algorithm for generating pure,
       strict, epistatic models with random architectures", BioData Mining 5, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.datasets import marginal_penetrance, penetrance_table, table_heritability
    >>> table = penetrance_table(2, 0.2, heritability=0.1, prevalence=0.3, random_state=0)
    >>> table.shape
    (3, 3)
    >>> bool(np.allclose(marginal_penetrance(table, 0.2, [1]), 0.3))
    True
    >>> round(table_heritability(table, 0.2), 12)
    0.1
    """
    n_loci = checked_integer("n_loci", n_loci, 2, MOST_LOCI)
    frequencies = checked_frequencies(minor_allele_frequency, n_loci)
    heritability = checked_number("heritability", heritability, 0, 1)
    prevalence = checked_number("prevalence", prevalence, 0, 1, closed="neither")
    generator = Stream(checked_seed(random_state)).child("table").generator()
    basis = reduce(np.kron, [_centred_functions(q) for q in frequencies])
    variance = heritability * prevalence * (1 - prevalence)
    largest = 0.0
    # Of starts at two loci, one in twenty or more reaches the global maximum.
    for _ in range(512 // 2**n_loci):
        direction = generator.standard_normal(basis.shape[1:])
        before, after = _climb(basis, prevalence, direction, variance)
        if after @ after >= variance * (1 - ROUNDING):
            deviations = basis @ _crossing(before, after, variance)
            # Only rounding is clipped: all points between the two are tables.
            return np.clip(prevalence + deviations, 0.0, 1.0).reshape((3,) * n_loci)
        largest = max(largest, float(after @ after))
    found = _rounded_down(largest / (prevalence * (1 - prevalence)))
    raise ValueError(
        f"No table of {n_loci} loci has heritability={heritability} with minor allele "
        f"frequencies {frequencies.tolist()} and prevalence={prevalence}: the largest that was "
        f"found is {found}; use at most that, more frequent alleles or another prevalence."
    )


def marginal_penetrance(
    table: ArrayLike,
    minor_allele_frequency: float | Sequence[float],
    loci: Sequence[int] = (),
) -> np.ndarray:
    """Return the probability of the disease given the genotypes at some of the loci.

    Parameters
    ----------
    table : array of shape (3,) * n_loci
        The probability of the disease given the genotypes at all loci.
    minor_allele_frequency : float or one for each locus
        The frequency of the minor allele, from 1e-6 to 0.5.
    loci : sequence of int, default=()
        The loci that are given; none means the prevalence.

    Returns
    -------
    marginal : array of shape (3,) * len(loci)
        The axes follow ``loci``.

    Examples
    --------
    >>> from mercer.datasets import marginal_penetrance
    >>> table = [[0.0, 0.0, 1.0], [0.0, 0.5, 0.0], [1.0, 0.0, 0.0]]
    >>> marginal_penetrance(table, 0.5, [0])
    array([0.25, 0.25, 0.25])
    """
    table = _checked_table(table)
    frequencies = checked_frequencies(minor_allele_frequency, table.ndim)
    given = [checked_integer("loci", locus, 0, table.ndim - 1) for locus in loci]
    if len(set(given)) < len(given):
        raise ValueError(f"loci must not contain a locus twice, got {list(loci)!r}.")
    for locus in reversed(range(table.ndim)):
        if locus not in given:
            table = np.tensordot(table, genotype_frequencies(frequencies[locus]), (locus, 0))
    return np.transpose(table, [sorted(given).index(locus) for locus in given])


def table_heritability(table: ArrayLike, minor_allele_frequency: float | Sequence[float]) -> float:
    """Return the heritability of a penetrance table: its variance over K(1 - K).

    Parameters
    ----------
    table : array of shape (3,) * n_loci
        The probability of the disease given the genotypes at all loci.
    minor_allele_frequency : float or one for each locus
        The frequency of the minor allele, from 1e-6 to 0.5.

    Examples
    --------
    >>> from mercer.datasets import table_heritability
    >>> round(table_heritability([[0, 0, 1], [0, 0.5, 0], [1, 0, 0]], 0.5), 6)
    0.666667
    """
    table = _checked_table(table)
    frequencies = checked_frequencies(minor_allele_frequency, table.ndim)
    weights = joint_frequencies(frequencies)
    prevalence = float((weights * table).sum())
    if not 0 < prevalence < 1:
        raise ValueError(
            f"The heritability of a table with prevalence {prevalence:g} is not defined; give "
            "one in which the disease is neither certain nor impossible."
        )
    variance = float((weights * (table - prevalence) ** 2).sum())
    return variance / (prevalence * (1 - prevalence))


def genotype_frequencies(q: float) -> np.ndarray:
    """Return the probabilities of 0, 1 and 2 minor alleles of frequency ``q``."""
    return np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])


def joint_frequencies(frequencies: np.ndarray) -> np.ndarray:
    """Return the probability of each combination of genotypes at independent loci."""
    return reduce(np.multiply.outer, [genotype_frequencies(q) for q in frequencies])


def checked_frequencies(values: Any, n_loci: int) -> np.ndarray:
    """Return the frequency of the minor allele of each of ``n_loci`` loci."""
    several = list(values) if np.ndim(values) == 1 else [values] * n_loci
    if len(several) != n_loci:
        raise ValueError(
            f"minor_allele_frequency must be a number or one for each of the {n_loci} loci, "
            f"got {values!r}."
        )
    name = "minor_allele_frequency"
    return np.array([checked_number(name, q, RAREST, 0.5) for q in several])


def _checked_table(table: ArrayLike) -> np.ndarray:
    table = np.asarray(table, dtype=float)
    if table.ndim == 0 or set(table.shape) != {3} or not np.all((table >= 0) & (table <= 1)):
        raise ValueError(
            "table must have 3 entries along each axis, all in [0, 1], got shape "
            f"{table.shape} and entries {table.ravel()[:9].tolist()}."
        )
    return table


def _centred_functions(q: float) -> np.ndarray:
    """Return the additive and the dominant function of the genotype: mean 0, orthonormal."""
    p = 1 - q
    additive = np.array([-2 * q, 1 - 2 * q, 2 - 2 * q]) / (2 * p * q) ** 0.5
    return np.stack([additive, [-q / p, 1.0, -p / q]], axis=1)


def _climb(
    basis: np.ndarray, prevalence: float, direction: np.ndarray, variance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the last two points of a path of growing norm, which ends at ``variance``.

    It ends below where the norm grows no more.
    """
    before = np.zeros_like(direction)
    after = _longest(basis, prevalence, direction)
    while after @ after < variance * (1 - ROUNDING):
        farthest = linprog(
            -after / np.linalg.norm(after),
            A_ub=np.vstack([basis, -basis]),
            b_ub=np.repeat([1 - prevalence, prevalence], len(basis)),
            bounds=(None, None),
        ).x
        # The program may fail, or find nothing, where rare genotypes have huge entries.
        if farthest is None or not np.any(farthest):
            break
        farthest = _longest(basis, prevalence, farthest)
        if farthest @ farthest <= (1 + 1e-6) * (after @ after):
            break
        before, after = after, farthest
    return before, after


def _longest(basis: np.ndarray, prevalence: float, direction: np.ndarray) -> np.ndarray:
    """Return the largest multiple of ``direction`` whose table stays in [0, 1]."""
    deviations = basis @ direction
    return direction / np.maximum(deviations / (1 - prevalence), -deviations / prevalence).max()


def _crossing(before: np.ndarray, after: np.ndarray, variance: float) -> np.ndarray:
    """Return the point between the two whose squared norm is ``variance``."""
    step = after - before
    slope, curvature = before @ step, step @ step
    gap = max(variance - before @ before, 0.0)
    return before + step * (((slope**2 + curvature * gap) ** 0.5 - slope) / curvature)


def _rounded_down(value: float) -> float:
    """Return ``value`` to four digits, never rounded up."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 3)
    return float(f"{np.floor(value / unit) * unit:.4g}")
