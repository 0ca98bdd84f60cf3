"""Tests of case-control data with pure epistasis."""

import numpy as np
import pytest

from mercer.datasets import make_epistasis, penetrance_table


def genotypes(q):
    return np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])


def shares(X, n_loci):
    """Return the share of the rows that has each combination of genotypes."""
    counts = np.zeros((3,) * n_loci)
    for row in X:
        counts[tuple(row)] += 1
    return counts / len(X)


def within_errors(observed, expected, n):
    return np.all(abs(observed - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12)


def test_shapes_and_types():
    X, y, loci = make_epistasis(
        31, 12, n_loci=3, heritability=0.1, random_state=0, return_loci=True
    )
    assert X.shape == (31, 12)
    assert X.dtype == np.int8
    assert set(np.unique(X)) <= {0, 1, 2}
    assert y.dtype == np.int64
    assert y.sum() == 15
    assert len(set(loci.tolist())) == 3
    assert set(loci.tolist()) <= set(range(12))
    assert len(make_epistasis(30, 5, random_state=0)) == 2


@pytest.mark.parametrize("n_loci", [2, 3])
def test_cases_and_controls_follow_bayes_rule(n_loci):
    n, qs, prevalence = 20_000, [0.4, 0.3, 0.45][:n_loci], 0.25
    X, y, loci = make_epistasis(
        n,
        n_loci + 2,
        n_loci=n_loci,
        heritability=0.15,
        minor_allele_frequency=qs,
        prevalence=prevalence,
        random_state=7,
        return_loci=True,
    )
    table = penetrance_table(n_loci, qs, 0.15, prevalence, random_state=7)
    for genotype, share in np.ndenumerate(shares(X[y == 1][:, loci], n_loci)):
        joint = np.prod([genotypes(q)[g] for q, g in zip(qs, genotype, strict=True)])
        assert within_errors(share, joint * table[genotype] / prevalence, n // 2)
    for genotype, share in np.ndenumerate(shares(X[y == 0][:, loci], n_loci)):
        joint = np.prod([genotypes(q)[g] for q, g in zip(qs, genotype, strict=True)])
        assert within_errors(share, joint * (1 - table[genotype]) / (1 - prevalence), n // 2)


def test_the_population_has_the_prevalence_and_the_table():
    n = 30_000
    X, y, loci = make_epistasis(
        n, 4, prevalence=0.3, balanced=False, random_state=2, return_loci=True
    )
    assert within_errors(y.mean(), np.array(0.3), n)
    table = penetrance_table(2, 0.2, 0.2, 0.3, random_state=2)
    assert within_errors(shares(X[:, loci], 2), np.outer(genotypes(0.2), genotypes(0.2)), n)
    for genotype, chance in np.ndenumerate(table):
        ill = y[(X[:, loci] == genotype).all(axis=1)]
        assert within_errors(ill.mean(), chance, len(ill))


def test_no_locus_alone_tells_anything():
    n = 20_000
    X, y, loci = make_epistasis(n, 6, heritability=0.2, random_state=3, return_loci=True)
    for locus in loci:
        for label in (0, 1):
            assert within_errors(shares(X[y == label][:, [locus]], 1), genotypes(0.2), n // 2)
    # Together they tell a lot.
    a, b = (shares(X[y == label][:, loci], 2) for label in (0, 1))
    assert abs(a - b).max() > 20 / np.sqrt(n)


def test_the_other_loci_are_noise_in_equilibrium():
    n = 20_000
    X, y, loci = make_epistasis(n, 8, background_frequency=0.35, random_state=4, return_loci=True)
    for column in set(range(8)) - set(loci.tolist()):
        for label in (0, 1):
            assert within_errors(shares(X[y == label][:, [column]], 1), genotypes(0.35), n // 2)
    correlations = np.corrcoef(np.delete(X, loci, axis=1).T)
    assert abs(np.triu(correlations, 1)).max() <= 5 / np.sqrt(n)


def test_frequencies_of_the_other_loci_fill_their_range():
    n = 400
    X = make_epistasis(n, 300, background_frequency=(0.1, 0.3), random_state=5)[0]
    means = X.mean(axis=0) / 2
    assert np.all(means > 0.1 - 5 * np.sqrt(0.1 * 0.9 / 2 / n))
    assert np.all(means < 0.3 + 5 * np.sqrt(0.3 * 0.7 / 2 / n))
    assert means.min() < 0.13
    assert means.max() > 0.27


def test_causal_loci_and_labels_stand_anywhere():
    first = [
        make_epistasis(8, 5, heritability=0.0, random_state=seed, return_loci=True)[1:]
        for seed in range(300)
    ]
    places = np.array([loci for _, loci in first])
    labels = np.array([y for y, _ in first])
    for column in range(5):
        assert np.all(within_errors((places == column).mean(axis=0), np.array(0.2), 300))
    assert np.all(within_errors(labels.mean(axis=0), np.array(0.5), 300))


@pytest.mark.parametrize("balanced", [True, False])
def test_the_same_seed_gives_the_same_data(balanced):
    def draw(state):
        return make_epistasis(40, 9, balanced=balanced, random_state=state, return_loci=True)

    for a, b in zip(draw(1), draw(1), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(draw(np.random.default_rng(1)), draw(np.random.default_rng(1)), strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(draw(1)[0], draw(2)[0])
    generator = np.random.default_rng(0)
    assert not np.array_equal(draw(generator)[0], draw(generator)[0])


def test_a_single_person_and_no_noise_are_fine():
    X, y, loci = make_epistasis(1, 2, random_state=0, return_loci=True)
    assert X.shape == (1, 2)
    assert y.tolist() == [0]
    assert sorted(loci.tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_samples": 0}, "n_samples must be a whole number"),
        ({"n_snps": 0}, "n_snps must be a whole number"),
        ({"n_snps": 2, "n_loci": 3, "heritability": 0.1}, "n_snps=2 columns cannot hold n_loci=3"),
        ({"n_loci": 1}, "n_loci must be a whole number from 2 to 5"),
        ({"heritability": 2}, "heritability must be a number in"),
        ({"heritability": 0.95}, "the largest that was found is"),
        ({"minor_allele_frequency": 0.7}, "minor_allele_frequency must be a number in"),
        ({"minor_allele_frequency": [0.1]}, "one for each of the 2 loci"),
        ({"background_frequency": 0.0}, "background_frequency must be a number in"),
        ({"background_frequency": (0.1, 0.7)}, "background_frequency must be a number in"),
        ({"background_frequency": (0.1, 0.2, 0.3)}, r"a pair \(low, high\)"),
        ({"background_frequency": (0.3, 0.1)}, "swap its two ends"),
        ({"prevalence": 0}, "prevalence must be a number in"),
        ({"balanced": "no"}, "balanced must be True or False"),
        ({"return_loci": None}, "return_loci must be True or False"),
        ({"random_state": 1.5}, "random_state must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        make_epistasis(**{"n_samples": 10, "n_snps": 10, **arguments})
