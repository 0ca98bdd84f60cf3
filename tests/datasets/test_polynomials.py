"""Tests of sparse polynomials and of their leap complexity."""

import math
import pickle
from dataclasses import FrozenInstanceError
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import hermite_e

from mercer.datasets import TARGETS, SparsePolynomial, leap_complexity, staircase

monomials = st.lists(st.integers(0, 4), max_size=4).map(lambda js: tuple(sorted(js)))
few_terms = st.dictionaries(monomials, st.floats(-3, 3), max_size=5)


def slow_value(terms, x):
    """Return the sum over terms of products of normalised Hermite polynomials."""
    total = 0.0
    for monomial, coefficient in terms.items():
        factor = coefficient
        for j in set(monomial):
            k = monomial.count(j)
            factor *= hermite_e.hermeval(x[j], [0] * k + [1]) / math.sqrt(math.factorial(k))
        total += factor
    return total


def slow_leap(terms):
    """Return the smallest, over all orders, of the largest degree in new coordinates."""
    best = math.inf
    for order in permutations(m for m, b in terms.items() if b != 0):
        seen, largest = set(), 0
        for monomial in order:
            largest = max(largest, sum(j not in seen for j in monomial))
            seen |= set(monomial)
        best = min(best, largest)
    return best


@given(few_terms, st.lists(st.floats(-2, 2), min_size=5, max_size=5))
def test_values_are_sums_of_products_of_hermite_polynomials(terms, x):
    value = SparsePolynomial(terms)(np.array([x, x[::-1]]))
    assert value == pytest.approx([slow_value(terms, x), slow_value(terms, x[::-1])], abs=1e-10)


def test_the_first_hermite_polynomials_are_those_of_the_paper():
    x = np.linspace(-2, 2, 9)
    expected = [x, (x**2 - 1) / 2**0.5, (x**3 - 3 * x) / 6**0.5]
    for degree, values in enumerate(expected, start=1):
        assert SparsePolynomial({(0,) * degree: 1})(x[:, None]) == pytest.approx(values)


def test_all_terms_are_orthonormal_for_normal_inputs():
    nodes, weights = hermite_e.hermegauss(8)
    X = np.array(list(product(nodes, nodes)))
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    keys = [m for size in range(4) for m in combinations_with_replacement(range(2), size)]
    F = np.stack([SparsePolynomial({m: 1.0})(X) for m in keys])
    assert (F * mass) @ F.T == pytest.approx(np.eye(len(keys)), abs=1e-12)


@given(few_terms)
def test_variance_on_the_hypercube_is_exact(terms):
    f = SparsePolynomial({m: b for m, b in terms.items() if len(set(m)) == len(m)})
    assert f.is_multilinear
    X = np.array(list(product([-1, 1], repeat=5)))
    assert f.variance == pytest.approx(f(X).var(), abs=1e-10)


def test_terms_are_merged_and_zeros_dropped():
    f = SparsePolynomial({(2, 0): 1, (0, 2): 2, (1,): 0, (3,): 1, (): -1})
    assert f.terms == {(): -1.0, (3,): 1.0, (0, 2): 3.0}
    assert f.coordinates == (0, 2, 3)
    assert f.degree == 2
    assert SparsePolynomial({(0,): 1, (1, 1): 0}).is_multilinear
    assert not SparsePolynomial({(1, 1): 1}).is_multilinear


def test_polynomials_are_values():
    f = SparsePolynomial({(0,): 1, (0, np.int64(1)): 2})
    same = SparsePolynomial({(1, 0): 2.0, (0,): 1.0})
    assert f == same
    assert hash(f) == hash(same)
    assert pickle.loads(pickle.dumps(f)) == f
    assert eval(repr(f)) == f
    assert f != SparsePolynomial({(0,): 1})
    f.terms.clear()
    assert f == same
    with pytest.raises(FrozenInstanceError):
        f._pairs = ()


def test_the_zero_polynomial_is_zero():
    zero = SparsePolynomial({})
    assert np.array_equal(zero(np.ones((3, 1))), np.zeros(3))
    assert (zero.coordinates, zero.degree, zero.variance, leap_complexity(zero)) == ((), 0, 0, 0)


def test_rows_of_integers_are_computed_in_float64():
    X = np.array([[100, 100]], dtype=np.int8)
    assert SparsePolynomial({(0, 1): 1})(X) == pytest.approx([10_000.0])


@given(few_terms)
def test_leap_complexity_is_the_smallest_over_all_orders(terms):
    assert leap_complexity(SparsePolynomial(terms)) == slow_leap(terms)


@pytest.mark.parametrize(
    ("terms", "leap"),
    [
        ([()], 0),
        ([(0,)], 1),
        ([(0, 0)], 2),
        ([(0,), (0, 0, 0)], 1),
        ([(0, 1), (1, 2), (2, 3)], 2),
        ([(0,), (1,), (0, 1, 2), (2, 3, 5)], 2),
        ([(0, 1, 2), (3,), (2, 3)], 2),
        ([(5, 6, 7, 8)], 4),
    ],
)
def test_leap_complexity_of_examples(terms, leap):
    assert leap_complexity(SparsePolynomial(dict.fromkeys(terms, -0.5))) == leap


@pytest.mark.parametrize("leap", [1, 2, 3])
@pytest.mark.parametrize("n_steps", [1, 2, 4])
def test_staircases_have_the_leap_that_is_asked_for(n_steps, leap):
    f = staircase(n_steps, leap)
    assert leap_complexity(f) == leap
    assert len(f.terms) == n_steps
    assert f.degree == n_steps * leap
    assert f.coordinates == tuple(range(n_steps * leap))


def test_the_targets_of_the_figures():
    leaps = {name: leap_complexity(f) for name, f in TARGETS.items()}
    assert leaps == {"figure1": 1, "figure2": 1, "figure3": 1, "figure8": 2, "figure9": 2}
    x1, x2, x3, x4, x5 = x = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    values = {name: f(x[None])[0] for name, f in TARGETS.items()}
    assert values == {
        "figure1": x1 + x2 + x3 + x1 * x2 * x3,
        "figure2": x1 + x2 + x1 * x2 * x3 + x1 * x2 * x3 * x4,
        "figure3": x1 + x2 + x1 * x2 * x3 + x1 * x2 * x3 * x4,
        "figure8": x1 * x2 + x1 * x2 * x3 * x4,
        "figure9": x1 + x2 * x3 + x1 * x2 * x3 * x4 * x5,
    }
    with pytest.raises(TypeError):
        TARGETS["figure1"] = TARGETS["figure2"]


@pytest.mark.parametrize(
    ("terms", "error", "match"),
    [
        ([(0,), (1,)], TypeError, "terms must map tuples"),
        ({3: 1.0}, TypeError, r"write \(3,\)"),
        ({"01": 1.0}, TypeError, "tuples of coordinates"),
        ({(0, -1): 1.0}, ValueError, "whole numbers from 0 on"),
        ({(0.0,): 1.0}, ValueError, "whole numbers from 0 on"),
        ({(True,): 1.0}, ValueError, "whole numbers from 0 on"),
        ({(0,): np.nan}, ValueError, "must be a finite number"),
        ({(0,): "1"}, ValueError, "must be a finite number"),
        ({(0,): 1j}, ValueError, "must be a finite number"),
    ],
)
def test_bad_terms_are_refused(terms, error, match):
    with pytest.raises(error, match=match):
        SparsePolynomial(terms)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.ones(3), "two-dimensional"),
        (np.ones((2, 3, 4)), "two-dimensional"),
        ([["a", "b", "c"]], "real numbers"),
        (np.ones((2, 3), dtype=complex), "real numbers"),
        (np.ones((2, 2)), "give at least 3 columns"),
    ],
)
def test_bad_rows_are_refused(X, match):
    with pytest.raises(ValueError, match=match):
        SparsePolynomial({(0, 2): 1.0})(X)


def test_bad_arguments_of_functions_are_refused():
    with pytest.raises(TypeError, match="must be a SparsePolynomial"):
        leap_complexity({(0,): 1.0})
    with pytest.raises(ValueError, match="n_steps must be a whole number"):
        staircase(0)
    with pytest.raises(ValueError, match="leap must be a whole number"):
        staircase(2, 0)
