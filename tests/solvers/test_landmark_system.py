"""Kernel ridge regression with some rows as centres, against its normal equations."""

import numpy as np
import pytest

from mercer.engine.panels import RowPanels
from mercer.kernels import Laplace, Matern
from mercer.solvers import conjugate_gradients
from mercer.solvers.conjugate_gradients import Iteration
from mercer.solvers.landmark_system import JITTER, LandmarkSystem
from mercer.testing import array_libraries

EXACTLY = Iteration(tolerance=1e-13, most=500)


class Interrupted:
    """Panels of which one product is interrupted from the keyboard."""

    def __init__(self, panels, at):
        self.panels, self.left = panels, at

    def both_sides(self, A, function):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.panels.both_sides(A, function)


def panels_of(K, room=10**9, make=np.asarray):
    """Return panels of a matrix of float32 entries."""
    entries = make(K.astype(np.float32))

    def fill(rows, columns, out):
        out[:, :] = entries[rows, columns]

    return RowPanels(fill, K.shape, room, make(K))


def dense_solution(K, C, Y, weights, alpha, intercept=True):
    """Return coefficients and constants that minimise Σ w (y - Kβ - b)² + α βᵀ C β."""
    m = len(C)
    B = np.column_stack([K, np.ones(len(K))])[:, : m + intercept]
    A = B.T @ (weights[:, None] * B)
    A[:m, :m] += alpha * (C + JITTER * np.trace(C) / m * np.eye(m))
    found = np.linalg.solve(A, B.T @ (weights[:, None] * Y))
    return found[:m], found[m] if intercept else np.zeros(Y.shape[1])


def assert_same_function(K, found, coef, constant, atol=1e-9):
    np.testing.assert_allclose(K @ found.coef + found.intercept, K @ coef + constant, atol=atol)


@pytest.fixture
def problem():
    """Return the kernel of 300 rows with 40 of them, that of the 40, and three targets."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 3))
    centres = X[rng.choice(300, 40, replace=False)]
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2], 100 * X[:, 0]]) + 5.0
    kernel = Laplace(2.0)
    # Panels hold float32: the same entries for both.
    K = np.asarray(kernel(X, centres)).astype(np.float32).astype(float)
    return K, np.asarray(kernel(centres)), Y, rng.uniform(0.2, 3.0, 300)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_solution_is_that_of_the_normal_equations(problem, alpha, weighted, intercept, n_targets):
    K, C, Y, weights = problem
    Y = Y[:, :n_targets]
    system = LandmarkSystem(panels_of(K), C, Y, weights if weighted else None, 0, intercept)
    found = system.solve([alpha], EXACTLY)[0]
    used = weights if weighted else np.ones(300)
    coef, constant = dense_solution(K, C, Y, used, alpha, intercept)
    np.testing.assert_allclose(found.intercept, constant, atol=1e-9)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-7, atol=1e-7)
    assert_same_function(K, found, coef, constant)


@pytest.mark.parametrize("n_held", [1, 37, 299])
def test_held_out_rows_are_predicted_but_not_learnt_from(problem, n_held, monkeypatch):
    K, C, Y, weights = problem
    # Without a judge residuals are replaced, after which directions begin anew.
    monkeypatch.setattr(conjugate_gradients, "DRIFT", 0.0)
    found = LandmarkSystem(panels_of(K), C, Y, weights, n_held).solve([0.5])[0]
    assert found.n_iterations > 0
    without = LandmarkSystem(panels_of(K[n_held:]), C, Y[n_held:], weights[n_held:])
    same = without.solve([0.5], Iteration(1e-13, found.n_iterations))[0]
    np.testing.assert_allclose(found.coef, same.coef, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.intercept, same.intercept, atol=1e-6)
    np.testing.assert_allclose(found.held_out, K[:n_held] @ found.coef + found.intercept, atol=1e-9)


def test_errors_are_the_weighted_ones_of_held_out_rows(problem):
    K, C, Y, weights = problem
    found = LandmarkSystem(panels_of(K), C, Y, weights, 30).solve([0.5])[0]
    squares = ((found.held_out - Y[:30]) ** 2).mean(axis=1)
    assert np.average(squares, weights=weights[:30]) == pytest.approx(
        found.errors[found.n_iterations - 1]
    )
    assert found.errors[found.n_iterations - 1] <= 1.001 * min(found.errors)


def test_several_alphas_give_the_solutions_of_each(problem):
    K, C, Y, weights = problem
    alphas = [1e-2, 1.0, 30.0]
    found = LandmarkSystem(panels_of(K), C, Y, weights).solve(alphas, EXACTLY)
    assert [one.alpha for one in found] == alphas
    for one in found:
        assert_same_function(K, one, *dense_solution(K, C, Y, weights, one.alpha))


def test_kept_and_recomputed_panels_give_the_same_solution(problem):
    K, C, Y, weights = problem
    one, other = (
        LandmarkSystem(panels_of(K, room), C, Y, weights).solve([0.5], EXACTLY)[0]
        for room in (0, 10**9)
    )
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-9, atol=1e-9)


def test_a_row_of_weight_two_counts_as_two_rows(problem):
    K, C, Y, _ = problem
    twice = np.r_[np.arange(300), np.arange(100)]
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    one = LandmarkSystem(panels_of(K), C, Y, weights).solve([0.5], EXACTLY)[0]
    other = LandmarkSystem(panels_of(K[twice]), C, Y[twice]).solve([0.5], EXACTLY)[0]
    assert_same_function(K, one, other.coef, other.intercept)


def test_centres_that_occur_twice_change_nothing(problem):
    K, C, Y, weights = problem
    twice = np.r_[np.arange(40), np.arange(10)]
    system = LandmarkSystem(panels_of(K[:, twice]), C[np.ix_(twice, twice)], Y, weights)
    found = system.solve([0.5], EXACTLY)[0]
    expected = K @ dense_solution(K, C, Y, weights, 0.5)[0]
    predicted = K[:, twice] @ found.coef
    # They share the jitter, and with it a little of the penalty.
    gap = (predicted - predicted.mean(axis=0)) - (expected - expected.mean(axis=0))
    assert np.abs(gap).max() < 1e-5 * Y.std()


def test_a_constant_target_beside_others_is_its_constant(problem):
    K, C, Y, weights = problem
    Y = np.column_stack([Y[:, 0], np.full(300, 7.0)])
    found = LandmarkSystem(panels_of(K), C, Y, weights).solve([0.5], EXACTLY)[0]
    assert_same_function(K, found, *dense_solution(K, C, Y, weights, 0.5))
    np.testing.assert_allclose(K @ found.coef[:, 1] + found.intercept[1], 7.0, atol=1e-12)


def test_start_at_the_solution_needs_no_iteration(problem):
    K, C, Y, weights = problem
    system = LandmarkSystem(panels_of(K), C, Y, weights)
    found = system.solve([0.5], EXACTLY)[0]
    again = system.solve([0.5], Iteration(1e-6, 100), start=found)[0]
    assert (again.n_iterations, again.stopped) == (0, "residual")
    np.testing.assert_allclose(again.coef, found.coef, rtol=1e-9, atol=1e-9)


def test_degrees_of_freedom_are_the_trace_where_all_rows_are_centres():
    X = np.random.default_rng(0).standard_normal((60, 3))
    C = np.asarray(Matern(nu=1.5, lengthscale=1.0)(X))
    system = LandmarkSystem(panels_of(C), C, X[:, :1], np.full(60, 2.0))
    for alpha, one in zip([0.01, 1.0], system.solve([0.01, 1.0]), strict=True):
        expected = np.trace(C @ np.linalg.inv(C + alpha / 2 * np.eye(60)))
        assert one.degrees_of_freedom == pytest.approx(expected, rel=1e-4)


def test_a_deadline_in_the_past_leaves_the_weighted_mean(problem):
    K, C, Y, weights = problem
    found = LandmarkSystem(panels_of(K), C, Y, weights).solve([0.5], Iteration(deadline=0.0))[0]
    assert (found.stopped, found.n_iterations, found.residual) == ("time", 0, 1.0)
    assert not found.coef.any()
    np.testing.assert_allclose(found.intercept, np.average(Y, axis=0, weights=weights))


def test_interruption_keeps_the_iterate(problem):
    K, C, Y, weights = problem
    # The first product is that of the right-hand side.
    interrupted = Interrupted(panels_of(K), at=5)
    found = LandmarkSystem(interrupted, C, Y, weights, n_held=30).solve([0.5])[0]
    assert found.stopped == "interrupted"
    assert len(found.errors) == 4
    assert np.isfinite(found.coef).all()
    whole = LandmarkSystem(panels_of(K), C, Y, weights, n_held=30)
    same = whole.solve([0.5], Iteration(most=3))[0]
    assert np.array_equal(found.coef, same.coef)


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("n_held", [0, 30])
def test_array_libraries_give_the_solution_of_numpy(problem, library, n_held):
    pytest.importorskip(library)
    make = array_libraries()[library]
    K, C, Y, weights = problem
    steps = Iteration(tolerance=1e-12, most=8)
    expected = LandmarkSystem(panels_of(K), C, Y, weights, n_held).solve([0.5, 5.0], steps)
    system = LandmarkSystem(panels_of(K, make=make), C, make(Y), weights, n_held)
    for one, other in zip(system.solve([0.5, 5.0], steps), expected, strict=True):
        assert type(one.coef) is type(make(Y))
        np.testing.assert_allclose(np.asarray(one.coef), other.coef, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(one.held_out, other.held_out, atol=1e-8)
        np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-8)
