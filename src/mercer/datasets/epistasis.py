"""Case-control data with pure epistasis, in the manner of GAMETES."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._random import Stream
from .arguments import checked_flag, checked_integer, checked_number, checked_seed
from .penetrance import RAREST, checked_frequencies, joint_frequencies, penetrance_table


def make_epistasis(
    n_samples: int = 1000,
    n_snps: int = 100,
    *,
    n_loci: int = 2,
    heritability: float = 0.2,
    minor_allele_frequency: float | Sequence[float] = 0.2,
    background_frequency: float | tuple[float, float] = (0.05, 0.5),
    prevalence: float = 0.3,
    balanced: bool = True,
    random_state: Any = None,
    return_loci: bool = False,
) -> tuple[np.ndarray, ...]:
    """Return genotypes and a disease that depends on a few of them, but only jointly.

    The disease follows a random table of :func:`penetrance_table`: no proper subset of the
    causal loci tells anything about it [1]_. The other loci are noise. All loci are
    independent in the population and in Hardy-Weinberg equilibrium.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows, one for each person.
    n_snps : int, default=100
        The number of columns, one for each locus.
    n_loci : int, default=2
        The number of causal loci, 2 to 5.
    heritability : float, default=0.2
        The heritability of the table.
    minor_allele_frequency : float or one for each causal locus, default=0.2
        The frequency of the minor allele of the causal loci, from 1e-6 to 0.5.
    background_frequency : float or pair of float, default=(0.05, 0.5)
        The frequency of the minor allele of the other loci, or the range in which it is
        uniform.
    prevalence : float, default=0.3
        The probability of the disease in the population.
    balanced : bool, default=True
        Whether to draw as many cases as controls (one control more if ``n_samples`` is
        odd), each from its own exact law, or people from the population.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything. ``penetrance_table`` with the same integer gives the table used.
    return_loci : bool, default=False
        Whether to return the columns of the causal loci too.

    Returns
    -------
    X : array of shape (n_samples, n_snps), int8
        The number of minor alleles, 0, 1 or 2.
    y : array of shape (n_samples,), int64
        1 for cases, 0 for controls.
    loci : array of shape (n_loci,)
        The columns of the causal loci, in the order of the axes of the table. Only if
        ``return_loci=True``.

    References
    ----------
    .. [1] R. Urbanowicz et al., "GAMETES: a fast, direct algorithm for generating pure,
       strict, epistatic models with random architectures", BioData Mining 5, 2012.

    Examples
    --------
    >>> from mercer.datasets import make_epistasis
    >>> X, y, loci = make_epistasis(400, 20, random_state=0, return_loci=True)
    >>> X.shape, X.dtype, int(y.sum()), len(loci)
    ((400, 20), dtype('int8'), 200, 2)
    """
    n_samples = checked_integer("n_samples", n_samples, 1)
    n_snps = checked_integer("n_snps", n_snps, 1)
    low, high = _checked_range(background_frequency)
    seed = checked_seed(random_state)
    table = penetrance_table(n_loci, minor_allele_frequency, heritability, prevalence, seed)
    if n_snps < n_loci:
        raise ValueError(
            f"n_snps={n_snps} columns cannot hold n_loci={n_loci} causal loci; use more columns "
            "or fewer loci."
        )
    stream = Stream(seed)
    generator = stream.child("people").generator()
    weights = joint_frequencies(checked_frequencies(minor_allele_frequency, n_loci))
    if checked_flag("balanced", balanced):
        cells, y = _cases_and_controls(generator, table, weights, n_samples)
    else:
        cells = _draw_cells(generator, weights, n_samples)
        y = (generator.random(n_samples) < table.ravel()[cells]).astype(np.int64)
    generator = stream.child("background").generator()
    loci = generator.permutation(n_snps)[:n_loci]
    X = np.empty((n_samples, n_snps), dtype=np.int8)
    # Column by column, as NumPy draws in int64.
    for column, frequency in enumerate(generator.uniform(low, high, n_snps)):
        X[:, column] = generator.binomial(2, frequency, n_samples)
    X[:, loci] = np.stack(np.unravel_index(cells, table.shape), axis=1)
    return (X, y, loci) if checked_flag("return_loci", return_loci) else (X, y)


def _cases_and_controls(
    generator: np.random.Generator, table: np.ndarray, weights: np.ndarray, n_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return causal genotypes, as numbers of entries of the table, and labels."""
    n_cases = n_samples // 2
    y = generator.permutation(np.repeat(np.array([1, 0]), [n_cases, n_samples - n_cases]))
    cells = np.empty(n_samples, dtype=np.int64)
    # By Bayes' rule the genotypes of cases have weights P(g) P(case | g).
    for label, chances in ((0, weights * (1 - table)), (1, weights * table)):
        of_label = y == label
        cells[of_label] = _draw_cells(generator, chances, int(of_label.sum()))
    return cells, y


def _draw_cells(generator: np.random.Generator, weights: np.ndarray, size: int) -> np.ndarray:
    return generator.choice(weights.size, size, p=weights.ravel() / weights.sum())


def _checked_range(frequency: Any) -> tuple[float, float]:
    """Return the ends of the range of the frequencies of the loci that are noise."""
    ends = list(frequency) if np.ndim(frequency) == 1 else [frequency] * 2
    if len(ends) != 2:
        raise ValueError(
            f"background_frequency must be a number or a pair (low, high), got {frequency!r}."
        )
    name = "background_frequency"
    low, high = (checked_number(name, end, RAREST, 0.5) for end in ends)
    if low > high:
        raise ValueError(f"background_frequency must ascend, got {frequency!r}; swap its two ends.")
    return low, high
