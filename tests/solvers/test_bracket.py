"""Tests of the choice of alpha with many features against the whole grid and against refits."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from mercer.solvers import Problem, RidgeStatistics, bracket, solve_ridge
from mercer.solvers.cost import SUMS_COPIES

#: More features than any test has.
NEVER = 10**9


def problem_data(seed, n=400, m=40, t=2, noise=0.5):
    """Return features whose variances decay, and noisy linear functions of them."""
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((n, m)) * np.arange(1, m + 1) ** -1.0 + 3
    Y = Z @ generator.standard_normal((m, t)) + noise * generator.standard_normal((n, t)) + 7
    return Z, Y


def gathered(Z, Y, n_folds=5, weights=None):
    statistics = RidgeStatistics(Z.shape[1], Y.shape[1], n_folds)
    for start in range(0, len(Z), 150):
        rows = slice(start, start + 150)
        statistics.add(Z[rows], Y[rows], None if weights is None else weights[rows])
    return statistics


def both(monkeypatch, statistics, problem):
    """Return the solutions by the whole path and by the bracket."""
    solutions = []
    for large in (NEVER, 1):
        monkeypatch.setattr(bracket, "LARGE", large)
        solutions.append(solve_ridge(statistics, problem))
    return solutions


def places(alphas, grid):
    """Return where alphas stand in a grid, and check that they are of it."""
    found = np.abs(np.log(grid) - np.log(alphas)[:, None]).argmin(axis=1)
    assert alphas == pytest.approx(grid[found], rel=1e-9)
    return found


@pytest.mark.parametrize("n_folds", [0, 5])
@pytest.mark.parametrize("noise", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_choice_is_as_good_as_that_of_the_whole_grid(
    monkeypatch, n_folds, noise, weighted, intercept
):
    for seed in range(3):
        Z, Y = problem_data(seed, noise=noise)
        weights = np.random.default_rng(9).uniform(0.5, 2, len(Z)) if weighted else None
        statistics = gathered(Z, Y, n_folds, weights)
        grid, found = both(monkeypatch, statistics, Problem(intercept=intercept))
        assert found.criterion == grid.criterion == ("cv" if n_folds else "gcv")
        # Evaluated candidates only, each with the score that the whole path gives it.
        at = places(found.alphas, grid.alphas)
        assert len(found.alphas) <= 10 < len(grid.alphas)
        assert found.scores == pytest.approx(grid.scores[at], rel=1e-6)
        overall = (grid.scores / grid.scores.min(axis=0)).sum(axis=1)
        chosen = places(found.alpha[:1], grid.alphas)[0]
        assert overall[chosen] <= 1.01 * overall.min()
        assert found.expected == pytest.approx(grid.scores[chosen], rel=1e-6)


@pytest.mark.parametrize("n_folds", [0, 5])
def test_the_record_is_that_of_the_whole_path_at_the_same_alpha(monkeypatch, n_folds):
    Z, Y = problem_data(0)
    statistics = gathered(Z, Y, n_folds)
    monkeypatch.setattr(bracket, "LARGE", 1)
    found = solve_ridge(statistics, Problem())
    expected = solve_ridge(statistics, Problem(found.alpha[0]))
    for name in ("coef", "intercept", "residual", "noise", "degrees_of_freedom", "alpha"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-7), name
    assert found.condition >= 0.98 * expected.condition
    assert (found.method, found.trusted) == ("primal", True)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_fold_is_held_out_if_it_has_rows_enough(monkeypatch, intercept):
    Z, Y = problem_data(1)
    statistics = gathered(Z, Y)
    monkeypatch.setattr(bracket, "LARGE", 1)
    monkeypatch.setattr(bracket, "HELD_OUT", 10)
    found = solve_ridge(statistics, Problem(intercept=intercept))
    generator = RidgeStatistics(1, 1, 5)._generator
    blocks = [generator.integers(5, size=len(Z[start:][:150])) for start in range(0, len(Z), 150)]
    fold_of = np.concatenate(blocks)
    sizes = np.bincount(fold_of)
    held = fold_of == np.abs(sizes - sizes.mean()).argmin()
    for alpha, scores in zip(found.alphas, found.scores, strict=True):
        model = Ridge(alpha=alpha, fit_intercept=intercept).fit(Z[~held], Y[~held])
        expected = ((model.predict(Z[held]) - Y[held]) ** 2).mean(axis=0)
        assert scores == pytest.approx(expected, rel=1e-8)


def test_one_fold_of_many_rows_chooses_as_well_as_all(monkeypatch):
    for seed in range(4):
        Z, Y = problem_data(seed, n=20_000, noise=3.0)
        grid, found = both(monkeypatch, gathered(Z, Y), Problem())
        overall = (grid.scores / grid.scores.min(axis=0)).sum(axis=1)
        assert overall[places(found.alpha[:1], grid.alphas)[0]] <= 1.01 * overall.min()


def test_folds_of_uneven_weight_are_all_held_out(monkeypatch):
    monkeypatch.setattr(bracket, "HELD_OUT", 10)
    Z, Y = problem_data(2)
    weights = np.ones(len(Z))
    weights[0] = 1e4
    grid, found = both(monkeypatch, gathered(Z, Y, weights=weights), Problem())
    assert found.scores == pytest.approx(grid.scores[places(found.alphas, grid.alphas)], rel=1e-6)


@pytest.mark.parametrize("n_folds", [0, 5])
def test_one_and_two_candidates(monkeypatch, n_folds):
    Z, Y = problem_data(3)
    statistics = gathered(Z, Y, n_folds)
    grid, found = both(monkeypatch, statistics, Problem(np.array([1e3, 1.0])))
    assert found.alphas.tolist() == [1.0, 1e3]
    assert found.scores == pytest.approx(grid.scores, rel=1e-8)
    assert found.alpha.tolist() == grid.alpha.tolist()
    grid, found = both(monkeypatch, statistics, Problem(np.array([2.0])))
    assert (found.criterion, len(found.scores)) == ("given", 0)
    assert found.coef == pytest.approx(grid.coef, rel=1e-10)


def test_a_target_each_and_tiny_candidates_take_the_whole_path(monkeypatch):
    Z, Y = problem_data(4)
    for problem in (Problem(per_target=True), Problem(np.array([0.0, 1e-18, 1.0]))):
        grid, found = both(monkeypatch, gathered(Z, Y), problem)
        for name in ("coef", "alphas", "scores", "alpha"):
            assert np.array_equal(getattr(found, name), getattr(grid, name)), name


def test_few_features_take_the_whole_path():
    Z, Y = problem_data(5)
    assert bracket.LARGE > 2048
    assert len(solve_ridge(gathered(Z, Y), Problem()).alphas) == 31


def test_rows_in_a_single_fold_are_refused(monkeypatch):
    monkeypatch.setattr(bracket, "LARGE", 1)
    with pytest.raises(ValueError, match="at least two of them"):
        solve_ridge(gathered(*problem_data(0, n=1)), Problem())


def test_an_untrusted_alpha_is_solved_from_the_rows(monkeypatch):
    # A noiseless target of a direction that varies little: the smallest alpha is the best.
    generator = np.random.default_rng(0)
    Z = generator.standard_normal((300, 8)) * np.logspace(0, -5, 8)
    Y = Z @ (np.logspace(0, 5, 8)[:, None])
    problem = Problem(np.logspace(-8.4, 0, 9))
    monkeypatch.setattr(bracket, "LARGE", 1)
    found = solve_ridge(gathered(Z, Y), problem, lambda: iter([(Z, Y, None)]))
    assert (found.method, found.criterion) == ("qr", "cv")
    assert len(found.alphas) == len(found.scores) < 9


def test_candidates_that_fail_are_never_chosen():
    def score(alpha):
        if alpha < 5:
            raise np.linalg.LinAlgError("not positive definite")
        return np.array([np.nan if alpha < 10 else alpha, 1.0])

    tried, scores = bracket.searched(np.arange(1.0, 32.0), score, 2)
    assert not np.isnan(scores).any()
    assert tried[scores[:, 0].argmin()] == 10
    assert np.isinf(scores[tried < 10][:, 0]).all()
    assert np.isinf(scores[tried < 5]).all()


def test_nothing_but_failures_is_the_most_cautious_choice():
    tried, scores = bracket.searched(np.arange(1.0, 32.0), lambda alpha: np.array([np.nan]), 1)
    assert tried.max() == 31
    assert np.isinf(scores).all()


@given(st.integers(1, 60), st.floats(-1.2, 1.2), st.floats(0.01, 5))
def test_the_minimum_of_a_valley_is_found(size, centre, steepness):
    grid = np.linspace(-1, 1, size)
    alphas = 10.0 ** (5 * grid)

    def error(alpha):
        return np.array([1 + steepness * (np.log10(alpha) / 5 - centre) ** 2])

    tried, scores = bracket.searched(alphas, error, 1)
    best = min(float(error(alpha)[0]) for alpha in alphas)
    assert scores.min() <= 1.01 * best
    assert len(tried) <= min(size, 12)
    assert np.all(np.diff(tried) > 0)
    assert set(tried) <= set(alphas)


@pytest.mark.parametrize("n_folds", [0, 5])
def test_memory_is_as_planned(monkeypatch, n_folds):
    monkeypatch.setattr(bracket, "LARGE", 1)
    m = 500
    statistics = gathered(*problem_data(0, n=600, m=m, t=1), n_folds)
    tracemalloc.start()
    solve_ridge(statistics, Problem())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= SUMS_COPIES * 8 * m**2
