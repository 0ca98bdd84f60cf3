"""Tests of penetrance tables: exact marginals, exact heritability, honest refusals."""

import re
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.datasets import marginal_penetrance, penetrance_table, table_heritability

frequencies = st.floats(0.02, 0.5)


def exact_genotypes(q):
    """Return the probabilities of the genotypes, without rounding."""
    q = Fraction(float(q))
    return [(1 - q) ** 2, 2 * q * (1 - q), q**2]


def exact_marginals(table, qs, loci):
    """Return the probability of the disease given the genotypes at ``loci``, unrounded."""
    weights = [exact_genotypes(q) for q in qs]
    marginals = {}
    for genotypes in product(range(3), repeat=len(qs)):
        weight = Fraction(1)
        for locus, genotype in enumerate(genotypes):
            if locus not in loci:
                weight *= weights[locus][genotype]
        key = tuple(genotypes[locus] for locus in loci)
        marginals[key] = marginals.get(key, 0) + weight * Fraction(float(table[genotypes]))
    return marginals


def exact_heritability(table, qs):
    (prevalence,) = exact_marginals(table, qs, ()).values()
    (second,) = exact_marginals(np.asarray(table) ** 2, qs, ()).values()
    return float((second - prevalence**2) / (prevalence * (1 - prevalence)))


def largest_of_two_loci(q, prevalence):
    """Return the largest heritability of two loci: that of the best corner of the polytope.

    A corner has four independent entries at 0 or 1; the others follow from the marginals.
    """
    weights = np.array([float(p) for p in exact_genotypes(q)])
    joint = np.outer(weights, weights).ravel()
    rows = [np.kron(weights, row) for row in np.eye(3)] + [
        np.kron(row, weights) for row in np.eye(3)
    ]
    best = 0.0
    for cells in combinations(range(9), 4):
        A = np.vstack([rows, np.eye(9)[list(cells)]])
        if np.linalg.svd(A)[1][8] < 1e-9:
            continue
        ends = np.array(list(product([0.0, 1.0], repeat=4))).T
        right = np.vstack([np.full((6, 16), prevalence), ends])
        tables = np.linalg.lstsq(A, right, rcond=None)[0]
        fits = (abs(A @ tables - right).max(axis=0) < 1e-9) & (
            abs(tables - 0.5).max(axis=0) < 0.5 + 1e-9
        )
        if fits.any():
            best = max(best, (joint @ (tables[:, fits] - prevalence) ** 2).max())
    return best / (prevalence * (1 - prevalence))


def named_largest(refusal):
    return float(re.search(r"the largest that was found is (\S+);", str(refusal)).group(1))


def largest_found(*arguments):
    """Return the largest heritability that the refusal of ``arguments`` names."""
    with pytest.raises(ValueError, match="the largest that was found is") as refusal:
        penetrance_table(*arguments)
    return named_largest(refusal.value)


@settings(max_examples=20)
@given(
    st.lists(frequencies, min_size=2, max_size=3),
    st.floats(0, 0.05),
    st.floats(0.02, 0.98),
    st.integers(0, 100),
)
def test_tables_are_pure_and_strict_or_refused(qs, heritability, prevalence, seed):
    try:
        table = penetrance_table(len(qs), qs, heritability, prevalence, seed)
    except ValueError as refusal:
        found = named_largest(refusal)
        assert found < heritability
        heritability = found
        table = penetrance_table(len(qs), qs, found, prevalence, seed)
    assert table.shape == (3,) * len(qs)
    assert table.min() >= 0
    assert table.max() <= 1
    for size in range(len(qs)):
        for loci in combinations(range(len(qs)), size):
            for marginal in exact_marginals(table, qs, loci).values():
                assert abs(marginal - Fraction(prevalence)) <= 1e-12
    assert exact_heritability(table, qs) == pytest.approx(heritability, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_loci", [4, 5])
def test_tables_of_many_loci(n_loci):
    table = penetrance_table(n_loci, 0.4, 0.3, 0.5, random_state=0)
    for locus in range(n_loci):
        others = [other for other in range(n_loci) if other != locus]
        assert abs(marginal_penetrance(table, 0.4, others) - 0.5).max() <= 1e-12
    assert table_heritability(table, 0.4) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("q", "prevalence"), [(0.5, 0.3), (0.5, 0.1), (0.2, 0.3), (0.2, 0.5), (0.35, 0.5), (0.1, 0.1)]
)
def test_a_refusal_of_two_loci_names_the_largest_heritability(q, prevalence):
    largest = largest_of_two_loci(q, prevalence)
    found = largest_found(2, q, 0.99, prevalence, 0)
    # It is rounded down to four digits.
    assert largest * (1 - 1.1e-3) <= found <= largest * (1 + 1e-9)


def test_the_checkerboard_is_fully_heritable():
    board = np.indices((3, 3)).sum(axis=0) % 2
    for seed in range(4):
        table = penetrance_table(2, 0.5, 1.0, 0.5, random_state=seed)
        assert min(abs(table - board).max(), abs(1 - table - board).max()) < 1e-12
    # With carriers as frequent as others, carrying exactly one is fully heritable too.
    q = 1 - 0.5**0.5
    assert table_heritability(penetrance_table(2, q, 1.0, 0.5, 0), q) == pytest.approx(1)


def test_the_tables_of_the_paper_are_feasible():
    for heritability in (0.05, 0.1, 0.2):
        for seed in range(5):
            table = penetrance_table(2, 0.2, heritability, random_state=seed)
            assert table_heritability(table, 0.2) == pytest.approx(heritability)


def test_without_heritability_the_table_is_constant():
    assert penetrance_table(3, 0.3, 0.0, 0.1, 0) == pytest.approx(np.full((3, 3, 3), 0.1))


def test_the_same_seed_gives_the_same_table():
    first = penetrance_table(random_state=1)
    assert np.array_equal(first, penetrance_table(random_state=1))
    assert not np.allclose(first, penetrance_table(random_state=2))
    assert np.array_equal(
        penetrance_table(random_state=np.random.default_rng(1)),
        penetrance_table(random_state=np.random.default_rng(1)),
    )


@given(
    st.lists(st.floats(0, 1), min_size=27, max_size=27),
    st.lists(frequencies, min_size=3, max_size=3),
    st.permutations(range(3)),
    st.integers(0, 3),
)
def test_marginals_are_averages_over_the_other_loci(entries, qs, order, size):
    table, loci = np.reshape(entries, (3, 3, 3)), order[:size]
    marginal = marginal_penetrance(table, qs, loci)
    assert marginal.shape == (3,) * size
    for genotypes, value in exact_marginals(table, qs, loci).items():
        assert marginal[genotypes] == pytest.approx(float(value), abs=1e-14)


@given(st.lists(st.floats(0.01, 1), min_size=9, max_size=9), st.tuples(frequencies, frequencies))
def test_heritability_is_a_ratio_of_variances(entries, qs):
    table = np.reshape(entries, (3, 3)) * 0.9
    assert table_heritability(table, qs) == pytest.approx(exact_heritability(table, qs), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_loci": 1}, "n_loci must be a whole number from 2 to 5"),
        ({"n_loci": 6}, "n_loci must be a whole number from 2 to 5"),
        ({"n_loci": 2.0}, "n_loci must be a whole number"),
        ({"minor_allele_frequency": 0.0}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": 0.6}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": [0.2, np.nan]}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": [[0.2, 0.2]]}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": "0.2"}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": [0.2, 0.3, 0.2]}, "one for each of the 2 loci"),
        ({"heritability": -0.1}, "heritability must be a number in"),
        ({"heritability": 1.1}, "heritability must be a number in"),
        ({"heritability": None}, "heritability must be a number in"),
        ({"prevalence": 0.0}, r"prevalence must be a number in \(0, 1\)"),
        ({"prevalence": 1.0}, r"prevalence must be a number in \(0, 1\)"),
        ({"random_state": -1}, "random_state must be"),
        ({"heritability": 0.9}, "use at most that, more frequent alleles or another prevalence"),
    ],
)
def test_bad_arguments_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        penetrance_table(**arguments)


@pytest.mark.parametrize("q", [1e-6, 1e-3])
@pytest.mark.parametrize("prevalence", [1e-6, 0.3, 1 - 1e-9])
def test_rare_alleles_are_refused_in_a_sentence_too(q, prevalence):
    assert 0 < largest_found(3, q, 0.5, prevalence, 0) < 0.01


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (0.5, "3 entries along each axis"),
        (np.full((3, 2), 0.5), r"got shape \(3, 2\)"),
        (np.full((3, 3), 1.5), r"all in \[0, 1\]"),
        (np.full((3, 3), np.nan), r"all in \[0, 1\]"),
    ],
)
def test_bad_tables_are_refused(table, match):
    for function in (marginal_penetrance, table_heritability):
        with pytest.raises(ValueError, match=match):
            function(table, 0.2)


def test_bad_loci_and_certain_diseases_are_refused():
    table = np.full((3, 3), 0.5)
    with pytest.raises(ValueError, match="loci must be a whole number from 0 to 1"):
        marginal_penetrance(table, 0.2, [2])
    with pytest.raises(ValueError, match="must not contain a locus twice"):
        marginal_penetrance(table, 0.2, [1, 1])
    with pytest.raises(ValueError, match="neither certain nor impossible"):
        table_heritability(np.zeros((3, 3)), 0.2)
