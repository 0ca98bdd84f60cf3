"""Conjugate gradients from rows to predictions, against dense solutions of the same problem."""

import numpy as np
import pytest

import mercer
from mercer.kernels import Gaussian, Laplace, Matern
from mercer.solvers import Problem, solve_kernel
from mercer.solvers.iterative import solve_kernel_rows
from mercer.solvers.row_systems import AllRows, IterativeOptions
from mercer.testing import array_libraries

KERNEL = Laplace(1.0)
PAST = -np.inf


class InterruptedAt:
    """Raises an interruption from the keyboard after an iteration of one of the two solves."""

    def __init__(self, solve, iteration):
        self.wanted, self.solve = (solve, iteration), -1

    def __call__(self, n_iterations, residual):
        self.solve += n_iterations == 1
        if (self.solve, n_iterations) == self.wanted:
            raise KeyboardInterrupt


def data(n=300, n_targets=1, noise=0.1):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    Y = np.column_stack([np.sin((k + 3) * X[:, 0]) * 4.0**k for k in range(n_targets)])
    return X, Y + noise * rng.standard_normal(Y.shape) + 2.0, rng.uniform(-1, 1, (50, 2))


def dense(kernel, X, Y, alpha, weights=None, intercept=True):
    return solve_kernel(kernel(X), Y, Problem(alpha, intercept), weights)


def predicted(kernel, new, X, fit):
    centres = X if fit.centres is None else X[fit.centres]
    return kernel(new, centres) @ fit.solution.coef + fit.solution.intercept


def expected(kernel, new, X, solution):
    return kernel(new, X) @ solution.coef + solution.intercept


@pytest.mark.parametrize(("tolerance", "allowed"), [(1e-8, 1e-5), (1e-12, 1e-9)])
@pytest.mark.parametrize("kernel", [KERNEL, Matern(nu=1.5, lengthscale=1.0), Gaussian(1.0)])
@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_predictions_are_those_of_a_dense_solve(tolerance, allowed, kernel, alpha):
    X, Y, new = data()
    fit = solve_kernel_rows(kernel, X, Y, Problem(alpha), None, IterativeOptions(None, tolerance))
    assert fit.stopped == "residual"
    assert fit.residual <= tolerance
    exact = expected(kernel, new, X, dense(kernel, X, Y, alpha))
    assert np.abs(predicted(kernel, new, X, fit) - exact).max() < allowed


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_targets", [1, 2, 6])
def test_weights_constant_and_targets_are_those_of_a_dense_solve(weighted, intercept, n_targets):
    X, Y, new = data(200, n_targets)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 200) if weighted else None
    options = IterativeOptions(tolerance=1e-11)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1, intercept), weights, options)
    exact = dense(KERNEL, X, Y, 0.1, weights, intercept)
    gap = predicted(KERNEL, new, X, fit) - expected(KERNEL, new, X, exact)
    assert np.all(np.abs(gap) < 1e-8 * Y.std(axis=0))
    np.testing.assert_allclose(fit.solution.intercept, exact.intercept, atol=1e-8)
    assert fit.solution.intercept.any() == intercept
    np.testing.assert_allclose(fit.solution.coef, exact.coef, atol=1e-7 * Y.std())


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 2e-7, 1e-9])
def test_reported_residual_is_that_of_the_coefficients(tolerance):
    X, Y, _ = data()
    options = IterativeOptions(tolerance=tolerance)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1, intercept=False), None, options)
    gap = KERNEL(X) @ fit.solution.coef + 0.1 * fit.solution.coef - Y
    true = np.linalg.norm(gap) / np.linalg.norm(Y)
    assert fit.residual <= tolerance
    assert true == pytest.approx(fit.residual, rel=0.1, abs=1e-14)


def test_centres_are_solved_as_a_dense_system_of_them():
    X, Y, new = data(400)
    options = IterativeOptions(n_centres=60, tolerance=1e-9)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, options)
    assert len(set(fit.centres.tolist())) == len(fit.solution.coef) == 60
    C, B = KERNEL(X[fit.centres]), np.column_stack([KERNEL(X, X[fit.centres]), np.ones(400)])
    A = B.T @ B
    A[:60, :60] += 0.1 * C
    exact = np.linalg.solve(A, B.T @ Y)
    gap = predicted(KERNEL, new, X, fit) - KERNEL(new, X[fit.centres]) @ exact[:60] - exact[60]
    # The kernel with the centres is in float32.
    assert np.abs(gap).max() < 1e-5


def test_as_many_centres_as_rows_are_all_rows():
    X, Y, _ = data(60)
    fits = [
        solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, IterativeOptions(n_centres))
        for n_centres in (None, 60, 1000)
    ]
    assert all(fit.centres is None for fit in fits)
    assert all(np.array_equal(fit.solution.coef, fits[0].solution.coef) for fit in fits)


def test_rows_of_weight_two_count_as_two_rows():
    X, Y, new = data(200)
    weights = np.where(np.arange(200) < 80, 2.0, 1.0)
    twice = np.r_[np.arange(200), np.arange(80)]
    options = IterativeOptions(tolerance=1e-11)
    one = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), weights, options)
    other = solve_kernel_rows(KERNEL, X[twice], Y[twice], Problem(0.1), None, options)
    np.testing.assert_allclose(
        predicted(KERNEL, new, X, one), predicted(KERNEL, new, X[twice], other), atol=1e-8
    )


def test_duplicated_rows_are_solved_as_by_a_dense_solve():
    X, Y, new = data(300)
    X = X[np.arange(300) % 25]
    for tolerance, allowed in ((1e-6, 1e-4), (1e-11, 1e-8)):
        options = IterativeOptions(tolerance=tolerance)
        fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, options)
        exact = expected(KERNEL, new, X, dense(KERNEL, X, Y, 0.1))
        assert np.abs(predicted(KERNEL, new, X, fit) - exact).max() < allowed


@pytest.mark.parametrize("constant", [0.0, 5.0, 0.1, -1e6])
@pytest.mark.parametrize("n_centres", [None, 30])
@pytest.mark.parametrize("alpha", [None, 0.1])
def test_a_constant_target_is_predicted(constant, n_centres, alpha):
    X, _, new = data(120)
    Y = np.full((120, 1), constant)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(alpha), None, IterativeOptions(n_centres))
    np.testing.assert_allclose(predicted(KERNEL, new, X, fit), constant, rtol=1e-12)
    assert (fit.solution.noise <= 1e-20 * max(1.0, constant**2)).all()


@pytest.mark.parametrize("n_centres", [None, 60])
@pytest.mark.parametrize("constant", [5.0, 0.1, 1e6 + 0.1])
def test_a_constant_target_does_not_choose_alpha_for_the_others(n_centres, constant):
    X, Y, _ = data(400, noise=0.5)
    alphas = np.asarray([1e-2, 1e-1, 1.0, 10.0, 100.0])
    alone, beside = (
        solve_kernel_rows(KERNEL, X, targets, Problem(alphas), None, IterativeOptions(n_centres))
        for targets in (Y, np.column_stack([Y, np.full(400, constant)]))
    )
    assert 1e-2 < alone.solution.alpha[0] < 100.0
    assert beside.solution.alpha == pytest.approx(alone.solution.alpha[0])


@pytest.mark.parametrize("n_centres", [None, 40])
@pytest.mark.parametrize("tolerance", [None, 1e-8])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_deadline_in_the_past_gives_the_mean(n_centres, tolerance, weighted):
    X, Y, new = data(200, 2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200) if weighted else None
    options = IterativeOptions(n_centres, tolerance, deadline=PAST)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), weights, options)
    assert (fit.stopped, fit.iterations) == ("time", 0)
    values = predicted(KERNEL, new, X, fit)
    assert np.isfinite(values).all()
    mean = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(values, np.tile(mean, (50, 1)))
    assert np.isfinite(fit.solution.noise).all()


@pytest.mark.parametrize("n_centres", [None, 60])
@pytest.mark.parametrize(("solve", "tolerance"), [(0, None), (0, 1e-9), (1, None), (1, 1e-9)])
def test_an_interruption_gives_the_iterate_so_far(n_centres, solve, tolerance):
    X, Y, new = data(300)
    options = IterativeOptions(n_centres, tolerance, note=InterruptedAt(solve, 3 - solve))
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.01), None, options)
    assert fit.stopped == "interrupted"
    assert "interrupted" in fit.described()
    # Nothing goes on after it.
    assert options.note.solve == solve
    values = predicted(KERNEL, new, X, fit)
    assert np.isfinite(values).all()
    # Some iterations explain most of the targets, but not all that can be.
    truth = np.sin(3 * new[:, :1]) + 2.0
    assert ((values - truth) ** 2).mean() < 0.2 * truth.var()
    assert fit.solution.expected[0] < 0.2 * Y.var()


@pytest.mark.parametrize("n_centres", [None, 60])
def test_the_best_candidate_is_that_of_dense_solves(n_centres):
    X, Y, _ = data(400, noise=0.5)
    alphas = np.asarray([1e-3, 1e-1, 1.0, 30.0, 1e4])
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(alphas), None, IterativeOptions(n_centres))
    rest = np.delete(np.arange(400), fit.places)
    errors = []
    for alpha in alphas:
        known = dense(KERNEL, X[rest], Y[rest], alpha)
        gap = expected(KERNEL, X[fit.places], X[rest], known) - Y[fit.places]
        errors.append(float((gap**2).mean()))
    assert fit.solution.criterion == "held_out"
    assert np.array_equal(fit.solution.alphas, alphas)
    chosen = int(np.flatnonzero(alphas == fit.solution.alpha[0])[0])
    assert fit.solution.scores.shape == (5, 1)
    assert chosen == fit.solution.scores[:, 0].argmin()
    assert fit.solution.expected == fit.solution.scores[chosen]
    # Where alpha is large both systems are all but solved.
    np.testing.assert_allclose(fit.solution.scores[2:, 0], errors[2:], rtol=0.1)
    assert errors[chosen] <= 1.1 * min(errors)


def test_many_candidates_are_narrowed_down_to_those_about_the_best():
    X, Y, _ = data(300, noise=0.3)
    alphas = np.logspace(-6, 4, 21)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(alphas))
    best = float(dense(KERNEL, X, Y, alphas).alpha[0])
    assert len(fit.solution.alphas) == 3
    assert set(fit.solution.alphas) <= set(alphas)
    assert 0.03 < fit.solution.alpha[0] / best < 30.0


@pytest.mark.parametrize("n_centres", [None, 50])
def test_held_out_predictions_are_those_of_the_places(n_centres):
    X, Y, _ = data(300, 2)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, IterativeOptions(n_centres))
    assert len(set(fit.places.tolist())) == 30
    rest = np.delete(np.arange(300), fit.places)
    exact = expected(KERNEL, X[fit.places], X[rest], dense(KERNEL, X[rest], Y[rest], 0.1))
    correlations = [
        np.corrcoef(ours, theirs)[0, 1]
        for ours, theirs in zip(fit.held_out.T, exact.T, strict=True)
    ]
    assert min(correlations) > 0.98
    errors = ((fit.held_out - Y[fit.places]) ** 2).mean(axis=0)
    np.testing.assert_allclose(fit.solution.expected, errors)


@pytest.mark.parametrize(
    ("n_centres", "tolerance", "partly"),
    [(None, 1e-6, 1_500_000), (None, 1e-9, 3_000_000), (50, None, 250_000), (50, 1e-9, 450_000)],
)
def test_kept_and_recomputed_matrices_give_the_same_solution(n_centres, tolerance, partly):
    X, Y, new = data(700)
    found, shares = [], []
    # Of all, of the first tiles or panels, and of none.
    for memory in (10**9, partly, 10_000):
        with mercer.config(memory=memory):
            options = IterativeOptions(n_centres, tolerance)
            fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, options)
        assert fit.kept_bytes <= memory
        assert f"{fit.kept_share:.0%} of the kernel" in fit.described()
        shares.append(fit.kept_share)
        found.append(predicted(KERNEL, new, X, fit))
    assert shares[0] == 1.0 > shares[1] > 0.0 == shares[2]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-5)


@pytest.mark.parametrize("n_centres", [None, 50])
def test_same_seed_gives_the_same_solution_on_any_number_of_threads(n_centres):
    X, Y, _ = data(700)
    fits = []
    for n_jobs, seed in ((1, 5), (2, 5), (3, 5), (1, 6)):
        with mercer.config(n_jobs=n_jobs):
            options = IterativeOptions(n_centres, seed=seed)
            fits.append(solve_kernel_rows(KERNEL, X, Y, Problem(0.1), None, options))
    for other in fits[1:3]:
        assert np.array_equal(other.solution.coef, fits[0].solution.coef)
        assert np.array_equal(other.held_out, fits[0].held_out)
    assert not np.array_equal(fits[3].places, fits[0].places)


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_centres", "tolerance"), [(None, 1e-6), (None, 1e-10), (40, 1e-8)])
def test_array_libraries_give_the_predictions_of_numpy(library, weighted, n_centres, tolerance):
    pytest.importorskip(library)
    make = array_libraries()[library]
    X, Y, new = data(150, 2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 150) if weighted else None
    options = IterativeOptions(n_centres, tolerance)
    ours = solve_kernel_rows(KERNEL, X, Y, Problem(0.1), weights, options)
    theirs = solve_kernel_rows(KERNEL, make(X), make(Y), Problem(0.1), weights, options)
    # Tiles of other libraries are not fused: their float32 entries round otherwise.
    allowed = 1e-8 if n_centres is None and tolerance < 1e-7 else 2e-5
    np.testing.assert_allclose(
        predicted(KERNEL, new, X, theirs), predicted(KERNEL, new, X, ours), atol=allowed
    )
    np.testing.assert_allclose(theirs.solution.noise, ours.solution.noise, rtol=1e-2)
    assert np.array_equal(theirs.places, ours.places)


@pytest.mark.parametrize(
    ("columns", "lengthscale"), [(1, 1.2), (3, 2.0)], ids=["one column", "three columns"]
)
def test_smooth_kernels_whose_tiles_round_too_much_are_solved_in_float64(columns, lengthscale):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (900, columns))
    Y = np.sin(3 * X.sum(axis=1, keepdims=True))
    kernel = Gaussian(lengthscale)
    fit = solve_kernel_rows(kernel, X[:600], Y[:600], Problem(1e-8))
    found = predicted(kernel, X[600:], X[:600], fit)
    assert "float64" in fit.described()
    assert np.mean((found - Y[600:]) ** 2) < 0.05 * Y.var()
    # What is expected is true.
    assert np.mean((found - Y[600:]) ** 2) < 10 * fit.solution.expected[0] + 1e-6


def test_an_interruption_of_the_last_solve_keeps_the_solution_of_most_rows(monkeypatch):
    X, Y, new = data(300)

    def interrupted(self, chosen):
        raise KeyboardInterrupt

    monkeypatch.setattr(AllRows, "whole", interrupted)
    fit = solve_kernel_rows(KERNEL, X, Y, Problem(0.1))
    assert fit.stopped == "interrupted"
    assert "90.0% of the rows" in fit.described()
    assert np.isfinite(predicted(KERNEL, new, X, fit)).all()
